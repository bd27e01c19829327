"""Executing the judge study against a server: interleaving, one send each, a kill in the middle, and the gate between the phases."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.judges import grades, sol_grades
from support.server import Server

from c2s.cli import main
from c2s.records import Slot
from c2s.runner.schedule import interleaving, request_id
from c2s.verification import verify

ARGUMENTS = ["--panel", "judge-confirmation", "--model", "systemone:jev-1.13.0", "--limit", "6", "--contracts", "FINAL3"]
PREFLIGHT, PLANNED = 12 * 12, 12 * 12 + 12 * 16


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "test-key")


def query(path: Path, sql: str) -> list[tuple]:
    with sqlite3.connect(path / "ledger.sqlite") as db:
        return db.execute(sql).fetchall()


def sends(path: Path) -> list[Slot]:
    sql = (
        "SELECT p.panel, p.parent, s.arm, s.replicate, s.step, s.turn FROM exchanges e JOIN slots s ON s.id = e.slot JOIN parents p ON "
        "p.id = s.parent"
        " ORDER BY e.id"
    )
    return [Slot(*row) for row in query(path, sql)]


def test_each_phase_leaves_in_the_order_of_its_hashes(memory_path: Path, capsys: pytest.CaptureFixture[str]):
    with Server(grades()) as server:
        assert main(["run", *ARGUMENTS, "--base-url", server.url, "--concurrency", "4", "--out", str(memory_path / "run")]) == 0
        slots = sends(memory_path / "run")
        assert len(slots) == len(set(slots)) == server.total == PLANNED
    first, second = slots[:PREFLIGHT], slots[PREFLIGHT:]
    assert {s.panel for s in first} == {"judge-preflight"} and {s.panel for s in second} == {"judge-confirmation"}
    for phase in (first, second):
        hashes = [interleaving(20261007154, request_id(slot)) for slot in phase]
        assert hashes == sorted(hashes)
    assert main(["judge", "execution", str(memory_path / "run"), "--json"]) == 0
    out = capsys.readouterr().out
    sections = json.loads(out[out.index('{\n  "sections"') :])["sections"]
    before, after = sections["windows"]["rows"]
    sent = PLANNED - PREFLIGHT
    assert (before["sent_of"], after["sent_of"]) == ([PREFLIGHT, PREFLIGHT], [sent, sent]) and before["last"] <= after["first"]
    assert before["mixed"] is None and after["mixed"] and after["moved"] == 0
    cells = sections["quartiles"]["rows"]
    assert {(row["cell"], row["contract"], row["presentation"], row["condition"]) for row in cells} == {
        (f"final3.{p}.{c}", "FINAL3", p, c) for p in ("insertion", "sorted") for c in ("random", "random_colon")
    }
    assert sum(sum(row["quartiles"]) for row in cells) == 48
    repeats = [slot for slot in second if slot.replicate]
    early = sum(second.index(slot) < second.index(slot._replace(replicate=0)) for slot in repeats)
    assert after["repeats_first"] == early > 0


def test_a_kill_in_the_middle_of_confirmation_and_a_resume_send_only_what_was_never_sent(memory_path: Path):
    path = memory_path / "run"
    with Server(grades(), delay=0.004) as server:
        command = [sys.executable, "-m", "c2s", "run", *ARGUMENTS, "--base-url", server.url, "--concurrency", "4", "--out", str(path)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        )
        deadline = time.monotonic() + 60
        while server.total < PREFLIGHT + 60 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        sent = set(sends(path))
        assert PREFLIGHT + 60 <= len(sent) < PLANNED
        time.sleep(0.1)  # what the dead process had written is answered into the void
        before = server.total
        code = main(["resume", str(path), "--base-url", server.url])
        after = server.total
    states = dict(query(path, "SELECT state, count(*) FROM slots GROUP BY state"))
    unknown = states.get("unknown", 0)
    assert states.get("ok", 0) + unknown == PLANNED and unknown <= 4 and code == (1 if unknown else 0)
    slots = sends(path)
    assert len(slots) == len(set(slots)) == PLANNED and after - before == PLANNED - len(sent)
    assert before <= len(sent)
    assert verify(path).differences == []
    report = json.loads((path / "report.json").read_bytes())
    (row,) = report["sections"]["interaction"]["rows"]
    low, high = row["bounds"]
    # every unknown weighs at most 0.5 / 6 of a workload's six sources, and only the four primary cells count
    assert -unknown / 12 - 1e-12 <= low <= 0 <= high <= unknown / 12 + 1e-12
    assert row["complete_of"][0] >= 12 - unknown


def test_a_failed_preflight_sends_no_confirmation(memory_path: Path):
    with Server(grades(lambda body: True)) as server:
        assert main(["run", *ARGUMENTS, "--base-url", server.url, "--out", str(memory_path / "run")]) == 0
        assert server.total == PREFLIGHT
    assert {slot.panel for slot in sends(memory_path / "run")} == {"judge-preflight"}
    assert verify(memory_path / "run").differences == []


def test_the_cap_stops_cleanly_and_a_higher_one_goes_on(memory_path: Path, capsys: pytest.CaptureFixture[str]):
    path = memory_path / "run"
    with Server(grades()) as server:
        assert main(["run", *ARGUMENTS, "--base-url", server.url, "--cap", "0.0008", "--out", str(path)]) == 130
        assert "leaves no room" in capsys.readouterr().err and 0 < server.total < PLANNED
        assert main(["resume", str(path), "--base-url", server.url, "--cap", "5"]) == 0
        assert server.total == PLANNED == len(sends(path))


def test_a_text_model_is_asked_under_three_labels_with_its_state_in_both_orders(memory_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    path = memory_path / "run"
    with Server(sol_grades, model="gpt-6-sol") as server:
        assert (
            main(
                [
                    "run",
                    "--panel",
                    "judge-confirmation",
                    "--model",
                    "openai:gpt-6-sol",
                    "--base-url",
                    server.url,
                    "--limit",
                    "2",
                    "--out",
                    str(path),
                ]
            )
            == 0
        )
        assert server.total == 4 * 12 + 4 * 16
    assert verify(path).differences == []
    report = json.loads((path / "report.json").read_bytes())
    (row,) = report["sections"]["interaction"]["rows"]
    assert (row["configuration"], row["theta"], row["p"]) == ("FINAL3", 0, 1)
    assert report["sections"]["scores"]["rows"][0]["n"] == 0  # no elicited probabilities
    sql = (
        "SELECT request FROM exchanges e JOIN slots s ON s.id = e.slot"
        " WHERE s.arm = 'final3.{}.random_colon' AND s.replicate = 0 ORDER BY s.parent LIMIT 1"
    )
    plain, ordered = (json.loads(query(path, sql.format(order))[0][0]) for order in ("insertion", "sorted"))
    assert list(json.loads(plain["input"])) == ["question", "trusted_reference", "model_reply"]
    assert list(json.loads(ordered["input"])) == ["model_reply", "question", "trusted_reference"]
    assert json.loads(plain["input"]) == json.loads(ordered["input"]) and plain | {"input": ""} == ordered | {"input": ""}
