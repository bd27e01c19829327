"""Models with known habits, through the ledger: each is told apart by the endpoints that should tell it, and every run verifies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import dialogues
from support.scripted_runs import run_script

from c2s.reports.build import build
from c2s.verification import verify

ACCESS = ("history_recompute", "oracle", "rollout")


def report(tmp_path: Path, model: Callable[..., Any], panel: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Rows of every section by their first column (or by their place)."""
    run = run_script(tmp_path / "run", [panel], model)
    assert verify(run.path).differences == []
    sections = build([run.path]).as_dict()["sections"]
    return {
        name: {row.get("endpoint") or row.get("arm") or str(i): row for i, row in enumerate(section["rows"])}
        for name, section in sections.items()
    }


def test_a_model_that_forgets_one_slot_loses_that_field_in_every_arm_alike(tmp_path: Path):
    found = report(tmp_path, dialogues.forgets_a_slot, "dialogue-access")
    rows = found["accuracy"]
    for name in ("trajectory", "mean_turn", "final", "mean_field"):
        assert rows["oracle"][name] == rows["rollout"][name] == rows["history_recompute"][name]
    wrong = 1 - rows["oracle"]["mean_turn"]
    assert 0 < wrong < 1 and wrong / 4 <= 1 - rows["oracle"]["mean_field"] <= wrong / 2  # one field of two to four
    assert all(row["difference"] == 0 == row["component"] for row in found["gold_minus_predicted"].values())
    assert rows["oracle"]["valid"] == 1


def test_a_model_that_never_changes_a_value_is_rescued_by_the_gold_state_a_turn_later(tmp_path: Path):
    found = report(tmp_path, dialogues.never_changes_a_value, "dialogue-access")
    rows, recovery = found["accuracy"], found["recovery"]
    assert rows["rollout"]["trajectory"] == rows["oracle"]["trajectory"] < 1
    assert rows["rollout"]["mean_turn"] < rows["oracle"]["mean_turn"]
    assert recovery["oracle"]["any_recovery"] > recovery["rollout"]["any_recovery"]
    assert found["gold_minus_predicted"]["mean turn"]["difference"] > 0 == found["gold_minus_predicted"]["trajectory"]["difference"]


def test_a_model_that_recovers_fails_trajectories_and_nothing_else(tmp_path: Path):
    found = report(tmp_path, dialogues.recovers, "dialogue-access")
    for arm in ACCESS:
        row, after = found["accuracy"][arm], found["recovery"][arm]
        assert row["trajectory"] < 0.8 and row["mean_turn"] > 0.85
        assert after["failed"] == round((1 - row["trajectory"]) * after["dialogues"]) > 0
        late = after["failed"] - after["any_recovery"]  # dialogues whose only error is their last turn
        assert row["final"] == pytest.approx(1 - late / after["dialogues"]) and after["final_recovery"] == after["any_recovery"]
        assert late == 0
    assert all(row["difference"] == 0 for row in found["gold_minus_predicted"].values())


def test_copied_errors_leave_trajectories_equal_and_later_states_apart(tmp_path: Path):
    """Table C2's pattern: the same trajectory accuracy, worse later states without the gold previous state."""
    found = report(tmp_path, dialogues.copies_its_errors, "dialogue-access")
    rows, gained = found["accuracy"], found["gold_minus_predicted"]
    assert rows["oracle"]["trajectory"] == rows["rollout"]["trajectory"] == rows["history_recompute"]["trajectory"] < 1
    assert (
        gained["trajectory"]["difference"] == 0
        and gained["trajectory"]["difference_interval"] is None
        and gained["trajectory"]["difference_degenerate"]
    )
    for name in ("mean turn", "final state", "mean field"):
        assert gained[name]["difference"] > 0.01 and gained[name]["difference_interval"][0] >= 0
    assert found["recovery"]["oracle"]["final_recovery"] == found["recovery"]["oracle"]["failed"] == found["recovery"]["rollout"]["failed"]
    assert found["recovery"]["rollout"]["final_recovery"] < found["recovery"]["oracle"]["final_recovery"]
    assert found["until_error"]["oracle"]["steps"] == found["until_error"]["rollout"]["steps"]
    perturbed = found["perturbations"]["rollout"]
    assert perturbed["same_state"] == 1 and perturbed["difference"] == 0


def test_local_construction_that_drops_a_field_loses_what_joint_had_right(tmp_path: Path):
    """Serial forgets the first slot, Independent is as good as Joint: retention and the sign test see Serial alone."""

    def model(call):
        return dialogues.forgets_a_slot(call) if call.slot.arm == "serial" else dialogues.recovers(call)

    found = report(tmp_path, model, "dialogue-construction")
    kept = found["retention"]
    assert kept["independent"]["retention"] == 1 and kept["independent"]["retained"][0] == kept["independent"]["retained"][1]
    assert kept["serial"]["retention"] < 0.8 and kept["serial"]["retention_interval"][1] < 1
    assert kept["serial"]["retained"][1] == kept["independent"]["retained"][1] < 108
    assert found["cost"]["joint"]["calls"] == 108 and found["cost"]["serial"]["calls"] == found["cost"]["independent"]["calls"] == 324
    assert found["cost"]["serial"]["calls_per_turn"] == 3
    run = build([tmp_path / "run"]).as_dict()["sections"]["contrasts"]["rows"]
    tested = [row for row in run if "family" in row]
    (test,) = tested
    assert (test["contrast"], test["endpoint"], test["m"]) == ("serial - joint", "mean turn", 1)
    assert test["p"] < 0.01 and test["p_holm"] == test["p"] and test["p"] == pytest.approx(test["p_exact"], abs=0.002)
    assert all(row["difference"] == 0 for row in run if row["contrast"] == "independent - joint")


def test_an_illegal_value_costs_validity_as_well(tmp_path: Path):
    def model(call):
        chosen = dialogues.recovers(call)
        return chosen | (
            {dialogues.first_slot(call): "v77"} if dialogues.first_slot(call) in chosen and call.slot.arm == "independent" else {}
        )

    found = report(tmp_path, model, "dialogue-construction")
    assert found["accuracy"]["independent"]["mean_turn"] == 0 and found["accuracy"]["joint"]["mean_turn"] > 0
    assert found["retention"]["independent"]["valid"] == pytest.approx(1 - 108 / 324) and found["retention"]["joint"]["valid"] == 1
    assert found["retention"]["independent"]["retention"] == 0
