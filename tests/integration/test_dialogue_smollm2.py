"""Two dialogues with a real small language model, where it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from c2s.backends.registry import open_model
from c2s.cli import main
from c2s.errors import C2SError


@pytest.mark.slow
@pytest.mark.parametrize("panel", ["dialogue-construction", "dialogue-access"])
def test_smollm2_answers_two_dialogues_and_its_run_verifies(tmp_path: Path, capsys, panel: str):
    try:
        open_model("smollm2").close()
    except C2SError as error:
        pytest.skip(str(error))
    out = tmp_path / "run"
    assert main(["run", "--panel", panel, "--model", "smollm2", "--limit", "2", "--out", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["requests"]["ok"] == report["requests"]["planned"] > 0
    assert all(0 <= row["mean_turn"] <= 1 for row in report["sections"]["accuracy"]["rows"])
    assert main(["verify", str(out)]) == 0
