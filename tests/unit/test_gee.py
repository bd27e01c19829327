"""Exploratory GEE: agrees with what theory says it is, and keeps silent where a fit cannot be used."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from c2s.stats.gee import INSTALL, gee_odds_ratio


def rows(right: dict[str, tuple[int, int]], items: int) -> tuple[list[bool], list[str], list[int]]:
    """`right[condition] = (hits, of)`, dealt over so many items."""
    outcomes, conditions, clusters = [], [], []
    for name, (hits, of) in right.items():
        outcomes += [i < hits for i in range(of)]
        conditions += [name] * of
        clusters += [(i * 7) % items for i in range(of)]
    return outcomes, conditions, clusters


def test_one_row_an_item_gives_the_odds_ratio_of_the_table():
    """Without repeated rows the marginal model is saturated: its estimate is the table's, its variance the sum of reciprocals (Woolf)."""
    pytest.importorskip("statsmodels")
    outcomes, conditions, _ = rows({"independent": (30, 100), "serial": (60, 100)}, 1)
    found = gee_odds_ratio(outcomes, conditions, range(200), reference="independent")
    expected = (60 / 40) / (30 / 70)
    assert found.estimate == pytest.approx(expected, rel=1e-6) and found.note is None
    error = np.sqrt(1 / 30 + 1 / 70 + 1 / 60 + 1 / 40)
    assert np.log(found.high / found.low) / (2 * 1.959963984540054) == pytest.approx(error, rel=1e-6)
    assert (found.condition, found.reference, found.clusters, found.rows) == ("serial", "independent", 200, 200) and found.p < 0.001


def test_rows_of_an_item_that_come_together_widen_the_interval():
    pytest.importorskip("statsmodels")
    rng = np.random.default_rng(4)
    base = rng.random(80) < 0.5
    outcomes = [bool(base[i]) for _ in range(2) for i in range(80) for _ in range(5)]
    noise = rng.random(800) < 0.1
    outcomes = [a != b for a, b in zip(outcomes, noise, strict=True)]
    conditions = ["independent"] * 400 + ["serial"] * 400
    clusters = [i for _ in range(2) for i in range(80) for _ in range(5)]
    found = gee_odds_ratio(outcomes, conditions, clusters, reference="independent")
    assert found.correlation > 0.4 and found.low < 1 < found.high


@pytest.mark.parametrize("hits", [0, 50])
def test_separated_data_have_no_estimate(hits: int):
    outcomes, conditions, clusters = rows({"independent": (20, 50), "serial": (hits, 50)}, 10)
    found = gee_odds_ratio(outcomes, conditions, clusters, reference="independent")
    assert found.estimate is found.low is found.p is None and "separated: serial" in found.note


def test_where_statsmodels_is_absent_it_says_so(monkeypatch: pytest.MonkeyPatch):
    for name in [m for m in sys.modules if m.partition(".")[0] == "statsmodels"] + ["statsmodels"]:
        monkeypatch.setitem(sys.modules, name, None)
    outcomes, conditions, clusters = rows({"independent": (20, 50), "serial": (30, 50)}, 10)
    found = gee_odds_ratio(outcomes, conditions, clusters, reference="independent")
    assert found.estimate is None and found.note == INSTALL


def test_a_fit_that_fails_or_does_not_converge_is_not_used(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("statsmodels")
    from statsmodels.genmod import generalized_estimating_equations as module

    class Fit:
        params, bse, pvalues, converged = [0.0, 1.0], [1.0, 1.0], [1.0, 0.5], False
        cov_struct = type("C", (), {"dep_params": 0.0})

    outcomes, conditions, clusters = rows({"independent": (20, 50), "serial": (30, 50)}, 10)
    monkeypatch.setattr(module.GEE, "fit", lambda self: Fit)
    assert gee_odds_ratio(outcomes, conditions, clusters, reference="independent").note == "the fit did not converge"
    monkeypatch.setattr(Fit, "converged", True)
    monkeypatch.setattr(Fit, "bse", [1.0, float("nan")])
    assert gee_odds_ratio(outcomes, conditions, clusters, reference="independent").note == "the estimates are not finite"

    def broken(self):
        raise np.linalg.LinAlgError("singular")

    monkeypatch.setattr(module.GEE, "fit", broken)
    assert gee_odds_ratio(outcomes, conditions, clusters, reference="independent").note == "the fit failed: singular"


def test_unlike_sequences_and_a_third_condition_are_refused():
    with pytest.raises(ValueError, match="one entry a row"):
        gee_odds_ratio([True], ["a", "b"], [1, 2], reference="a")
    with pytest.raises(ValueError, match="one other condition"):
        gee_odds_ratio([True, False, True], ["a", "b", "c"], [1, 2, 3], reference="a")
