"""Figures of the judge paper that follow from its printed counts (`../shared/spec/published.json`)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from support.shared import shared_file

from c2s import stats


@pytest.fixture(scope="module")
def published() -> dict:
    return json.loads(shared_file("spec/published.json").read_text())


def percent(value: float) -> float:
    return round(100 * value, 1)


def ends(found) -> list[float]:
    return [percent(found.low), percent(found.high)]


def judge_sources(d_drop: int, d_gsm: int) -> tuple[np.ndarray, list[str]]:
    """Insertion rejects all; sorted accepts R: in these sources alone (the printed counts fix D, not which sources overlap)."""
    cells = np.zeros((200, 4))
    cells[:d_drop, 3] = 1
    cells[100 : 100 + d_gsm, 3] = 1
    return cells, ["DROP"] * 100 + ["GSM8K"] * 100


def judge_rows(published) -> Iterator[tuple[dict, stats.Interaction, dict]]:
    exact = published["judge"]["more"]["interaction_exact"]
    for row in published["judge"]["interaction"]:
        cells, workloads = judge_sources(*row["interaction_by_workload_pp"])
        yield row, stats.interaction(cells, workloads), exact[row["config"]]


def test_judge_interactions_exact(published):
    for row, found, exact in judge_rows(published):
        assert found.method == "exact" and percent(found.theta) == row["theta_pp"]
        assert ends(found) == row["ci_pp"] == exact["ci_pp"]
        assert found.p == pytest.approx(exact["p_exact"], rel=2e-4)
        assert [round(100 * v) for v in found.by_workload.values()] == row["interaction_by_workload_pp"]


def test_judge_interactions_as_printed(published):
    """p = .00006 comes from the plus-one form alone: three times the floor 1/50,000, the third configuration keeping p = 1."""
    p = {}
    for offset, (row, _, _) in enumerate(judge_rows(published)):
        cells, workloads = judge_sources(*row["interaction_by_workload_pp"])
        found = stats.interaction(cells, workloads, method="multinomial", draws=49_999, seed=20261007154 + offset)
        assert found.draws == row.get("p_mc_floor_draws", 49_999) and found.p == 1 / 50_000
        assert found.low * 100 == pytest.approx(row["ci_pp"][0], abs=0.501)  # P(<= 17.5) = .02477: a run may print 17.5
        assert found.high * 100 == pytest.approx(row["ci_pp"][1], abs=0.501)
        p[row["config"]] = found.p
    adjusted = stats.holm({**p, "sol-final3": 1.0})
    for row in published["judge"]["interaction"]:
        assert adjusted[row["config"]] == pytest.approx(row["p_holm_of_three"], rel=1e-12)


def test_judge_secondary_tests(published):
    secondary = published["judge"]["secondary_mcnemar"]
    p = {i: stats.mcnemar_exact(b, c) for i, (b, c) in enumerate(secondary["discordances"])}
    p |= {i: stats.mcnemar_exact(0, 0) for i in range(2, secondary["family_size"])}
    adjusted = stats.holm(p)
    assert adjusted.m == 6
    for i, printed in enumerate(secondary["p_adjusted"]):
        assert float(f"{adjusted[i]:.3g}") == printed
    assert all(adjusted[i] == secondary["others"] for i in range(2, 6))


def test_judge_missing_bounds(published):
    """Six unknown calls, four in primary cells: one insertion R, one sorted R, two sorted R: - all observed labels reject."""
    cells = np.zeros((200, 4), object)
    cells[0, 0] = cells[100, 2] = cells[101, 3] = cells[102, 3] = None
    found = stats.interaction(cells, ["DROP"] * 100 + ["GSM8K"] * 100)
    missing = published["judge"]["missing_bounds_pp"]
    assert [100 * b for b in found.bounds] == pytest.approx(missing["bounds"])
    assert list(found.planned.values()) == missing["planned"]
    assert list(found.complete.values()) == published["judge"]["more"]["missing_cells"]["complete"] == [99, 97]
    assert found.method == "hoeffding" and found.theta == 0 and found.p == 1


def test_judge_cells_and_gates(published):
    """Acceptance shares, contrasts by distance and workload, gates, calls. Which sources changed between duplicates is not printed."""
    more = published["judge"]["more"]
    for name in ("jev-final3", "jev-final4"):
        cell = more["cells"][name]
        plain, colon = cell["sorted"]
        b, c = cell["discordance_sorted"]
        assert colon - plain == b - c == sum(cell["near_far_interaction_pp"]) == sum(cell["workload_pp"])
        assert [percent(k / more["cells"]["n"]) for k in (plain, colon)] == cell["acceptance_pct"]
    gates = more["gates_table4"]
    for _, _, *observed in gates["rows"]:
        assert all(k >= r for k, r in zip(observed, gates["required"], strict=True))
    assert gates["comparator_fail"]["wrong_final"] < gates["comparator_fail"]["required"]
    calls = published["judge"]["calls"]
    assert 3 * (calls["sources"] * calls["per_source"] + calls["preflight"] * calls["preflight_per_source"]) == calls["planned"]
