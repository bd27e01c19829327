"""Every printed figure of the judge paper's confirmation comes out of `c2s report` when scripted judges answer with its cell counts.

Not recomputable, and so not here: the means of the displayed-score interactions (+.19955, +.17230), since no score of a source is printed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.shared import shared_file

from c2s.cli import main
from c2s.verification import verify

NAMES = {"jev-final3": ("jev", "FINAL3"), "jev-final4": ("jev", "FINAL4"), "sol-final3": ("sol", "FINAL3")}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("printed")
    (folder / "jev.py").write_text("from support.printed_judge import jev as answer\nuses_truth = True\n")
    (folder / "sol.py").write_text("from support.printed_judge import sol as answer\nresend = 'paid'\nuses_truth = True\n")
    for name, contracts, code in (("jev", "FINAL3,FINAL4", 0), ("sol", "FINAL3", 1)):
        arguments = ["run", "--panel", "judge-confirmation", "--contracts", contracts, "--model", f"script:{folder / name}.py"]
        assert main([*arguments, "--out", str(folder / name)]) == code
    return {name: folder / name for name in ("jev", "sol")}


@pytest.fixture
def sections(runs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict]]:
    """Section -> rows of both runs, each with the paper's name of its configuration."""
    assert main(["report", *map(str, runs.values()), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found: dict[str, list[dict]] = {}
    for run, model in zip(document["runs"], runs, strict=True):
        for panel in (run, run["used"]["judge-preflight"]):
            for name, section in panel["sections"].items():
                for row in section["rows"]:
                    named = next(k for k, v in NAMES.items() if v == (model, row["configuration"]))
                    found.setdefault(name, []).append(row | {"configuration": named})
    return found


@pytest.fixture(scope="module")
def printed() -> dict:
    return json.loads(shared_file("spec/published.json").read_text())["judge"]


def by_configuration(rows: list[dict], **where: str) -> dict[str, dict]:
    return {row["configuration"]: row for row in rows if all(row[k] == v for k, v in where.items())}


def test_calls(runs: dict[str, Path], printed: dict, capsys: pytest.CaptureFixture[str]):
    states = {}
    for name, path in runs.items():
        assert main(["status", str(path), "--json"]) == 0
        states[name] = json.loads(capsys.readouterr().out)["requests"]
    calls = printed["more"]["calls"]
    assert (states["jev"]["planned"], states["sol"]["planned"]) == (printed["calls"]["jev"], printed["calls"]["openai"])
    assert sum(s["planned"] for s in states.values()) == calls["planned"]
    assert sum(s["ok"] for s in states.values()) == calls["valid"] and states["sol"]["unknown"] == calls["unknown"]


def test_interactions_intervals_and_p(sections: dict, printed: dict):
    rows = by_configuration(sections["interaction"])
    for config in printed["interaction"]:
        row = rows[config["config"]]
        assert list(row["by_workload"].values()) == [pp / 100 for pp in config["interaction_by_workload_pp"]]
        assert list(row["complete"].values()) == config["n_per_workload"] == list(row["planned"].values())
        assert row["theta"] == pytest.approx(config["theta_pp"] / 100, abs=1e-15)
        assert [100 * x for x in row["theta_interval"]] == pytest.approx(config["ci_pp"])
        assert row["p"] == 1 / 50_000 and row["p_holm"] == pytest.approx(config["p_holm_of_three"], rel=1e-12) and row["m"] == 3
        assert row["p_exact"] == pytest.approx(printed["more"]["interaction_exact"][config["config"]]["p_exact"], rel=5e-4)
        assert row["drawn_interval"] == pytest.approx(row["theta_interval"], abs=0.006)  # Monte Carlo: one success more or less


def test_six_failures_give_hoeffding_and_the_printed_bounds(sections: dict, printed: dict):
    row = by_configuration(sections["interaction"])["sol-final3"]
    assert list(row["complete"].values()) == printed["more"]["missing_cells"]["complete"]
    assert [100 * x for x in row["bounds"]] == pytest.approx(printed["missing_bounds_pp"]["bounds"])
    assert (row["theta"], row["p"], row["p_holm"], row["p_method"], row["p_exact"]) == (0, 1, 1, "hoeffding", None)
    s = 0.25 / 99 + 0.25 / 97
    half = (8 * s * 3.6888794541139363) ** 0.5  # log 40
    assert row["theta_interval"] == pytest.approx([-half, half])
    cells = (
        by_configuration(sections["cells"], presentation="insertion")["sol-final3"],
        by_configuration(sections["cells"], presentation="sorted")["sol-final3"],
    )
    missing = {
        "insertion_random": cells[0]["random_missing"],
        "sorted_random": cells[1]["random_missing"],
        "sorted_random_colon": cells[1]["random_colon_missing"],
    }
    assert missing == printed["more"]["missing_cells"]["unknown_primary_cells"] and cells[0]["random_colon_missing"] == 0


def test_secondary_family(sections: dict, printed: dict):
    rows = sections["within_presentation"]
    assert [row["m"] for row in rows] == [printed["secondary_mcnemar"]["family_size"]] * 6
    ordered = by_configuration(rows, presentation="sorted")
    for config, table, p in zip(
        ("jev-final3", "jev-final4"), printed["secondary_mcnemar"]["discordances"], printed["secondary_mcnemar"]["p_adjusted"], strict=True
    ):
        assert ordered[config]["discordant"] == table
        assert float(f"{ordered[config]['p_holm']:.2e}") == p
    others = [row for row in rows if row["presentation"] == "insertion"] + [ordered["sol-final3"]]
    assert [row["p_holm"] for row in others] == [printed["secondary_mcnemar"]["others"]] * 4


def test_cells_and_splits(sections: dict, printed: dict):
    for config in ("jev-final3", "jev-final4"):
        expected = printed["more"]["cells"][config]
        for presentation in ("insertion", "sorted"):
            row = by_configuration(sections["cells"], presentation=presentation)[config]
            assert [row["random_count"], row["random_colon_count"]] == [[k, 200] for k in expected[presentation]]
        row = by_configuration(sections["cells"], presentation="sorted")[config]
        assert [100 * row["random"], 100 * row["random_colon"]] == pytest.approx(expected["acceptance_pct"])
        split = {row["group"]: 100 * row["d"] for row in sections["splits"] if row["configuration"] == config}
        assert [split["near"], split["far"]] == pytest.approx(expected["near_far_interaction_pp"])
        assert [split["reading"], split["sums"]] == pytest.approx(expected["workload_pp"])


def test_gates_of_table_4(sections: dict, printed: dict):
    table = printed["more"]["gates_table4"]
    for config, presentation, *counts in table["rows"]:
        row = by_configuration(sections["gates"], presentation=presentation)[config]
        assert [row[name] for name in ("bare_correct", "bare_wrong", "wrong_final", "valid_revision")] == counts
        assert list(row["required"].values()) == table["required"] and row["passed"] == "yes" and row["planned"] == table["n"]
    assert len(sections["gates"]) == 6 == len(sections["preflight"]) and all(row["passed"] == "yes" for row in sections["preflight"])


TABLE_6 = {
    ("jev-final3", "sorted", "R"): (200, 2, 2, 2),
    ("jev-final3", "sorted", "R:"): (200, 52, 48, 16),
    ("jev-final4", "sorted", "R"): (200, 6, 6, 2),
    ("jev-final4", "sorted", "R:"): (200, 53, 59, 12),
    ("sol-final3", "insertion", "R"): (199, 0, 0, 0),
    ("sol-final3", "sorted", "R"): (199, 0, 0, 0),
    ("sol-final3", "sorted", "R:"): (198, 0, 0, 0),
}
"""Rows of Table 6; the other five are 200, 0, 0, 0."""


def test_duplicates_of_table_6(sections: dict):
    found = {
        (row["configuration"], row["presentation"], row["bridge"]): tuple(row[k] for k in ("pairs", "primary", "duplicate", "changes"))
        for row in sections["duplicates"]
    }
    assert found == dict.fromkeys(found, (200, 0, 0, 0)) | TABLE_6 and len(found) == 12


def test_both_runs_verify(runs: dict[str, Path]):
    for path in runs.values():
        found = verify(path)
        assert found.differences == [] and found.checked["additions"] == 200
