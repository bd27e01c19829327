"""Simulated judges with known truths: each is reported as what it is, and every run verifies."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from c2s.cli import main
from c2s.verification import verify


def report(path: Path, model: str, *arguments: str, panel: str = "judge-confirmation", code: int = 0) -> dict:
    assert main(["run", "--panel", panel, "--model", model, "--out", str(path), *arguments]) == code
    assert verify(path).differences == []
    return json.loads((path / "report.json").read_bytes())


def rows(document: dict, section: str, **where: str) -> list[dict]:
    return [row for row in document["sections"][section]["rows"] if all(row[k] == v for k, v in where.items())]


def one(document: dict, section: str, **where: str) -> dict:
    (row,) = rows(document, section, configuration="FINAL3", **where)
    return row


def test_a_judge_that_reads_the_final_value_alone_is_not_moved(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge")
    interaction = one(found, "interaction")
    assert (interaction["theta"], interaction["p"], interaction["bounds"], interaction["theta_method"]) == (0, 1, [0, 0], "hoeffding")
    assert all(row["random_count"][0] == row["random_colon_count"][0] == 0 for row in rows(found, "cells"))
    assert all(row["passed"] == "yes" for row in rows(found, "gates")) and len(rows(found, "gates")) == 4
    assert sum("order-invariant here" in note for note in found["sections"]["order"]["notes"]) == 2


def test_a_colon_under_sorted_keys_alone_is_an_interaction_in_the_state(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge?kind=colon-sorted&rate=0.3")
    interaction = one(found, "interaction")
    accepted = one(found, "cells", presentation="sorted")["random_colon_count"][0]
    assert interaction["theta"] == pytest.approx(accepted / 200) and 0.2 < interaction["theta"] < 0.4
    assert interaction["p_holm"] == pytest.approx(2 / 50_000) and interaction["theta_interval"][0] > 0.15
    assert one(found, "within_presentation", presentation="sorted")["discordant"] == [accepted, 0]
    assert one(found, "within_presentation", presentation="insertion")["p_holm"] == 1
    assert one(found, "order", condition="R:")["p_holm"] < 1e-6 and one(found, "order", condition="R")["p_holm"] == 1
    assert all(row["changes"] == 0 for row in rows(found, "duplicates"))
    scores = one(found, "scores")
    assert (scores["positive"], scores["tie"], scores["negative"]) == (accepted, 200 - accepted, 0)
    parts = report(tmp_path / "parts", "sim:judge?kind=colon-sorted&rate=0.3", panel="judge-components")
    d = {row["presentation"]: row["d"] for row in rows(parts, "components", configuration="FINAL4")}
    assert d == {
        "insertion": None, "sorted:outer": 0, "sorted:question": 0, "sorted:criteria": 0,
        "sorted:state": interaction["theta"], "sorted": interaction["theta"],
    }  # fmt: skip


def test_sorting_alone_is_seen_without_an_interaction(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge?kind=sorted&rate=0.3")
    assert (one(found, "interaction")["theta"], one(found, "interaction")["p"]) == (0, 1)
    cells = one(found, "cells", presentation="sorted")
    assert cells["random_count"] == cells["random_colon_count"] and cells["random_count"][0] > 40
    assert one(found, "cells", presentation="insertion")["random_count"] == [0, 200]
    assert all(one(found, "order", condition=name)["p_holm"] < 1e-6 for name in ("R", "R:"))
    assert all(row["p_holm"] == 1 for row in rows(found, "within_presentation"))


def test_colon_and_sorting_independently_make_no_interaction(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge?kind=both")
    assert (one(found, "interaction")["theta"], one(found, "interaction")["p"]) == (0, 1)
    for presentation in ("insertion", "sorted"):
        row = one(found, "within_presentation", presentation=presentation)
        assert row["p_holm"] < 1e-9 and row["discordant"][1] == 0
    assert one(found, "order", condition="R")["p_holm"] < 1e-6


def test_noise_changes_duplicates_and_nothing_else(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge?kind=noisy&rate=0.15")
    assert all(row["changes"] > 20 for row in rows(found, "duplicates"))
    # 2 interactions, 4 McNemar and 4 order tests at 0.05 after Holm within each family: a fixed seed, no false alarm
    assert all(row["p_holm"] > 0.05 for row in rows(found, "interaction") + rows(found, "within_presentation"))
    assert all(row["p_holm"] > 0.05 for row in rows(found, "order") if "family" in row)
    scores = one(found, "scores")
    assert scores["negative"] > 10 and scores["positive"] > 10 and scores["tie"] > 10
    assert scores["negative"] + scores["positive"] + scores["tie"] == scores["n"] == 200


def test_a_configuration_that_fails_preflight_is_skipped_whole_and_keeps_its_slots(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge?kind=blind")
    assert found["requests"]["not_needed"] == found["requests"]["planned"] == 6400
    assert found["used"]["judge-preflight"]["requests"]["ok"] == 480
    for row in rows(found, "interaction") + rows(found, "within_presentation"):
        assert row["p"] is None and row["p_holm"] == 1
    assert {row["m"] for row in rows(found, "interaction")} == {2} and {row["m"] for row in rows(found, "within_presentation")} == {4}
    reason = one(found, "interaction")["undefined"]["theta"]
    assert reason.startswith("preflight failed: insertion bare_wrong ") and "19 required" in reason
    assert rows(found, "cells") == rows(found, "gates") == []
    failed = found["used"]["judge-preflight"]
    assert all(row["passed"] == "NO" for row in rows(failed, "preflight"))
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        (sent,) = db.execute("SELECT count(*) FROM exchanges").fetchone()
        assert sent == 480


ONE_FAILS = """
uses_truth = True

def answer(call):
    contract, presentation, condition = call.slot.arm.split(".")
    if call.slot.panel == "judge-preflight" and contract == "final4":
        if presentation == "sorted" and condition == "valid_revision" and call.parent.id.endswith(tuple("0123")):
            return "incorrect"
        if condition == "no_answer_fixture" and call.parent.domain == "sums":
            return "none of these"
    return call.ask.truth["verdict"]
"""


def test_one_failed_configuration_leaves_the_other_and_the_family_whole(tmp_path: Path):
    (tmp_path / "judge.py").write_text(ONE_FAILS)
    found = report(tmp_path / "run", f"script:{tmp_path / 'judge.py'}")
    assert found["requests"]["ok"] == found["requests"]["not_needed"] == 3200
    three, four = rows(found, "interaction")
    assert three["p"] == 1 and four["p"] is None and four["p_holm"] == 1 and three["m"] == four["m"] == 2
    assert (
        "sorted valid_revision" in four["undefined"]["theta"]
        and "20 responses are missing or name no offered label" in four["undefined"]["theta"]
    )


def test_a_preflight_that_failed_for_lack_of_answers_is_judged_again_after_a_retry(tmp_path: Path):
    (tmp_path / "judge.py").write_text(
        "from pathlib import Path\nfrom c2s.backends.base import Exchange\n"
        "uses_truth = True\ndef answer(call):\n"
        "    down = call.slot.panel == 'judge-preflight' and call.slot.arm == 'final4.insertion.bare_correct'\n"
        f"    if down and not Path({str(tmp_path / 'up')!r}).exists():\n        return Exchange('error', message='down')\n"
        "    return call.ask.truth['verdict']\n"
    )
    first = report(tmp_path / "run", f"script:{tmp_path / 'judge.py'}", "--limit", "3", code=1)
    assert first["requests"]["ok"] == first["requests"]["not_needed"] == 96
    assert "6 responses are missing" in rows(first, "interaction")[1]["undefined"]["theta"]
    (tmp_path / "up").touch()
    assert main(["resume", str(tmp_path / "run"), "--retry-errors"]) == 0
    assert verify(tmp_path / "run").differences == []
    again = json.loads((tmp_path / "run" / "report.json").read_bytes())
    assert again["requests"]["ok"] == 192 and again["requests"]["not_needed"] == 0
    assert all(row["p"] == 1 for row in rows(again, "interaction")) and len(rows(again, "gates")) == 4


def test_missing_outputs_are_bounded_and_count_against_the_gates(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge?kind=missing&rate=0.08", code=1)
    interaction = one(found, "interaction")
    lost = found["requests"]["error"]
    assert 400 < lost < 640 and sum(interaction["complete"].values()) < 160
    low, high = interaction["bounds"]
    assert low < -0.05 and high > 0.05 and interaction["theta"] == 0 and interaction["theta_method"] == "hoeffding"
    gates = rows(found, "gates", configuration="FINAL3", presentation="insertion")[0]
    assert gates["passed"] == "NO" and gates["bare_correct"] == 200 - gates["missing"]["bare_correct"] < 190


def test_a_gate_of_189_fails_and_190_passes():
    from c2s.panels.judge.qualification import gates, needed
    from c2s.panels.judge.study import CONFIRMATION
    from c2s.records import Outcome

    assert [needed(name, n) for n in (200, 20) for name in ("wrong_final", "valid_revision")] == [190, 180, 19, 18]
    for right in (189, 190):
        outcomes = {
            f"p{i}": [
                Outcome(f"final3.insertion.{name}", correct=name != "wrong_final" or i < right)
                for name in ("bare_correct", "bare_wrong", "wrong_final", "valid_revision")
            ]
            for i in range(200)
        }
        gate = gates(CONFIRMATION, "FINAL3", outcomes)[0]
        assert gate.passed == (right == 190) and gate.correct["wrong_final"] == right


def test_the_reference_switch_finds_the_direction(tmp_path: Path):
    found = report(tmp_path / "run", "sim:judge?kind=colon-sorted&rate=1", panel="reference-switch")
    x, y = found["sections"]["reference_switch"]["rows"]
    assert x["random_colon"] == [48, 48] and x["random"] == [0, 48] and x["controls"] == [48, 48] == y["controls"]
    assert x["p"] == pytest.approx(2.0**-24) and x["p_holm"] == pytest.approx(2.0**-23) and y["p"] == 1 and x["changes"] == 0
    assert found["requests"]["planned"] == 480


def test_formats_and_readable_cues_are_contrasted(tmp_path: Path):
    formats = report(tmp_path / "a", "sim:judge?kind=colon-sorted&rate=1", panel="judge-formatting")
    for row in formats["sections"]["formatting"]["rows"]:
        assert row["match"] == pytest.approx(0.75) and row["other"] == row["none"] == 0 and row["p"] == pytest.approx(2.0**-15)
    (tmp_path / "judge.py").write_text(
        "uses_truth = True\ndef answer(call):\n    reply = call.ask.request.state['model_reply']\n"
        "    fooled = 'Actual' in reply and reply.split()[0] in call.ask.request.state['trusted_reference']\n"
        "    return 'correct' if fooled else call.ask.truth['verdict']\n"
    )
    cues = report(tmp_path / "b", f"script:{tmp_path / 'judge.py'}", panel="judge-cues")
    for row in cues["sections"]["readable_cues"]["rows"]:
        hit = row["cue"] == "Actual"
        assert row["match"] == ([200, 0] if hit else [0, 0]) and row["other"] == [0, 0] and row["d"] == float(hit)
        assert row["p_holm"] == (pytest.approx(4 * 2.0**-199) if row["configuration"] and hit else 1)


def test_a_bank_from_the_official_files_runs_and_verifies(tmp_path: Path):
    from support.shared import shared_file

    drop, gsm = shared_file("data/drop/drop_dataset_train_head217.json"), shared_file("data/gsm8k/gsm8k_test.jsonl")
    assert main(["data", "judge", "--drop", str(drop), "--gsm8k", str(gsm), "--out", str(tmp_path / "bank.jsonl")]) == 0
    found = report(tmp_path / "run", "sim:judge?kind=colon-sorted", "--data", str(tmp_path / "bank.jsonl"))
    assert set(one(found, "interaction")["complete"]) == {"drop", "gsm8k"} and found["requests"]["ok"] == 6400
    assert set(found["settings"]["data"]) == {"judge"}
    (tmp_path / "bank.jsonl").unlink()
    assert verify(tmp_path / "run").differences == []
    assert (
        main(
            [
                "data",
                "judge",
                "--drop",
                str(drop),
                "--exclude",
                str(tmp_path / "run"),
                "--confirmation",
                "20",
                "--preflight",
                "2",
                "--out",
                str(tmp_path / "b2"),
            ]
        )
        == 0
    )


TAMPERING = {
    "a wrong value that is right": (
        'UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), \'"y":"\', \'"y":"1\') AS BLOB) WHERE id = 30',
        "items",
    ),
    "a gate that was not failed": (
        'UPDATE prepared SET addition = \'{"skip":{"FINAL3":"because"}}\' WHERE parent = 30',
        "does not follow from the earlier panels",
    ),
    "two presentations swapped": (
        "UPDATE exchanges SET request = (SELECT request FROM exchanges e JOIN slots s ON s.id = e.slot WHERE s.arm = "
        "'final3.sorted.random' AND s.parent = 30 AND s.replicate = 0)"
        " WHERE slot = (SELECT id FROM slots WHERE arm = 'final3.insertion.random' AND parent = 30 AND replicate = 0)",
        "is not the one that follows",
    ),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_verify_finds_what_was_changed(tmp_path: Path, what: str):
    report(tmp_path / "run", "sim:judge", "--limit", "10")
    sql, said = TAMPERING[what]
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        assert db.execute(sql).rowcount == 1
    assert any(said in line for line in verify(tmp_path / "run").differences)
