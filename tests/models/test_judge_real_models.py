"""Order sensitivity of real weights: SmolLM2's probabilities move with the order of keys, and its repeats do not."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from support.server import Server
from support.smollm import smollm

from c2s.cli import main
from c2s.verification import verify


@pytest.mark.slow
def test_smollm2_depends_on_the_order_of_keys_and_repeats_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TYPESAFE_API_KEY", "test-key")
    with Server(smollm(), model="smollm2") as server:
        arguments = [
            "judge",
            "audit",
            "--model",
            "systemone:smollm2",
            "--base-url",
            server.url,
            "--limit",
            "1",
            "--concurrency",
            "1",
            "--timeout",
            "300",
        ]
        assert main([*arguments, "--yes", "--out", str(tmp_path / "run"), "--json"]) == 0
        assert server.total == 32
    assert verify(tmp_path / "run").differences == []
    rows = json.loads((tmp_path / "run" / "report.json").read_bytes())["sections"]["order"]["rows"]
    assert all(row["scores_moved"] == row["scores_compared"] == 2 for row in rows)
    assert all(row["repeats"] == [0, 4] for row in rows if row["repeats"] is not None)
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        pairs = db.execute(
            "SELECT a.body_sha256 = b.body_sha256, a.response = b.response FROM slots s JOIN slots t ON t.parent = s.parent AND t.arm = "
            "s.arm"
            " AND t.replicate = 1 JOIN exchanges a ON a.id = s.exchange JOIN exchanges b ON b.id = t.exchange WHERE s.replicate = 0"
        ).fetchall()
    assert pairs == [(1, 1)] * 8
    (page,) = json.loads(capsys.readouterr().out)["pages"]
    assert any("4 of 4 differ between the orders." in line for line in [row["text"] for row in page["sections"]["findings"]["rows"]])
