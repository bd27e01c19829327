"""Scores, distances and the confidence sequence: against scikit-learn, scipy and exact crossing probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest

from c2s import stats
from c2s.errors import InputError


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_metrics_equal_scikit_learn(weighted, ties):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    for n, positives in ((40, 5), (500, 250), (2347, 13)):
        y = np.zeros(n, int)
        y[rng.choice(n, positives, replace=False)] = 1
        s = np.clip(rng.random(n) + 0.2 * y, 0, 1)
        if ties:
            s = np.round(s, 1)
        w = rng.random(n) if weighted else None
        assert stats.auroc(s, y, w) == pytest.approx(metrics.roc_auc_score(y, s, sample_weight=w), rel=1e-12)
        assert stats.average_precision(s, y, w) == pytest.approx(metrics.average_precision_score(y, s, sample_weight=w), rel=1e-12)
        assert stats.brier(s, y, w) == pytest.approx(metrics.brier_score_loss(y, s, sample_weight=w), rel=1e-12)


def test_reliability_bins_are_ten_fixed_ones_with_a_closed_end():
    edges = np.arange(11) / 10
    bins = stats.reliability_bins(edges, [0] * 10 + [1])
    assert [b.count for b in bins] == [1] * 9 + [2]
    assert bins[3].mean_score == 0.3 and bins[9].mean_score == pytest.approx(0.95) and bins[9].observed == 0.5
    empty = stats.reliability_bins([0.05, 0.95], [0, 1])
    assert [b.count for b in empty] == [1] + [0] * 8 + [1] and empty[4].mean_score is None and empty[4].observed is None
    rng = np.random.default_rng(2)
    s, y, w = rng.random(300), rng.random(300) < 0.3, rng.random(300)
    by_hand = sum(b.weight * abs(b.mean_score - b.observed) for b in stats.reliability_bins(s, y, w)) / w.sum()
    assert stats.expected_calibration_error(s, y, w) == pytest.approx(by_hand, rel=1e-12)


def test_precision_at_coverage_counts_a_tied_block_by_its_share():
    s, y = [0.9, 0.5, 0.5, 0.5, 0.1], [1, 1, 0, 0, 0]
    assert stats.precision_at_coverage(s, y, 0.2) == 1.0
    assert stats.precision_at_coverage(s, y, 0.4) == pytest.approx((1 + 1 / 3) / 2)
    assert stats.precision_at_coverage(s, y, 1.0) == pytest.approx(0.4)
    assert stats.precision_at_coverage(s, y, 0.1) == 1.0


def test_bootstrap_scores_against_a_loop_over_scikit_learn():
    """Standard errors within 15 % at 400 draws of the loop, fixed seeds.

    That is four errors of the loop itself: a false alarm about once in 5,000 seeds.
    """
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    strata = np.repeat([0, 1], [120, 180])
    y = rng.random(300) < np.where(strata == 0, 0.5, 0.2)
    s = np.clip(0.5 * y + rng.random(300) * 0.6, 0, 1)
    found = stats.bootstrap_scores(s, y, strata, draws=2000, seed=4)["score"]
    loops = {"auroc": [], "ap": [], "brier": []}
    for _ in range(400):
        i = np.concatenate([rng.choice(np.flatnonzero(strata == k), size=(strata == k).sum()) for k in (0, 1)])
        loops["auroc"].append(metrics.roc_auc_score(y[i], s[i]))
        loops["ap"].append(metrics.average_precision_score(y[i], s[i]))
        loops["brier"].append(metrics.brier_score_loss(y[i], s[i]))
    for name, values in loops.items():
        assert found[name].standard_error == pytest.approx(np.std(values), rel=0.15)
        assert found[name].low == pytest.approx(np.quantile(values, 0.025), abs=0.5 * np.std(values))
        assert found[name].high == pytest.approx(np.quantile(values, 0.975), abs=0.5 * np.std(values))


def test_scores_share_their_draws_and_differences_are_paired():
    rng = np.random.default_rng(5)
    y = rng.random(200) < 0.3
    a = np.clip(0.3 * y + 0.7 * rng.random(200), 0, 1)
    result = stats.bootstrap_scores({"a": a, "same": a, "length": -rng.integers(3, 9, 200)}, y, draws=1000, seed=6)
    assert result.n == 200 and result.positives == y.sum()
    assert set(result.differences) == {("a", "same"), ("a", "length"), ("same", "length")}
    same = result.differences["a", "same"]["auroc"]
    assert same.degenerate and same.estimate == 0.0
    contrast = result.differences["a", "length"]
    assert contrast["auroc"].estimate == pytest.approx(result["a"]["auroc"].estimate - result["length"]["auroc"].estimate)
    assert contrast["brier"].estimate is None and "outside [0, 1]" in contrast["brier"].note
    assert result["length"]["ece"].estimate is None and result["length"]["auroc"].low is not None
    assert list(result["a"]) == ["auroc", "ap", "brier", "ece", "precision@0.1", "precision@0.25", "precision@0.5"]
    chosen = stats.bootstrap_scores({"a": a, "same": a}, y, draws=10, differences=[], metrics=("prevalence", "brier_gain"), coverage=())
    assert not chosen.differences and chosen["a"]["prevalence"].estimate == pytest.approx(y.mean())
    gain = chosen["a"]["brier_gain"].estimate
    assert gain == pytest.approx(stats.brier(a, y) - y.mean() * (1 - y.mean()))


def test_equal_length_weights_reweigh_prevalence_without_rebalancing_classes():
    length = np.repeat([3, 4], [10, 90])
    y = np.r_[np.ones(5), np.zeros(5), np.ones(9), np.zeros(81)]
    weights = 1 / (2 * np.where(length == 3, 10, 90))
    found = stats.bootstrap_scores(np.full(100, 0.5), y, length, weights, metrics=("prevalence",), coverage=(), draws=500)
    assert found["score"]["prevalence"].estimate == pytest.approx(0.5 * 0.5 + 0.5 * 0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(scores=[0.1], outcomes=[0, 1]), "outcomes has 2 items"),
        (dict(scores={}, outcomes=[0]), "scores is empty"),
        (dict(scores=[0.1], outcomes=[0], metrics=("auc",)), "metric 'auc' is none of"),
        (dict(scores=[0.1], outcomes=[0], coverage=(0.5, 0.1)), "ascending"),
        (dict(scores=[0.1], outcomes=[0], coverage=(0.0,)), "above 0"),
        (dict(scores={"a": [0.1]}, outcomes=[0], differences=[("a", "b")]), "difference of 'b'"),
        (dict(scores=[0.1], outcomes=[2]), "neither 0 nor 1"),
        (dict(scores=[0.1], outcomes=[0], method="exact"), "method = 'exact'"),
    ],
)
def test_bootstrap_scores_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        stats.bootstrap_scores(**arguments, draws=10) if "method" not in arguments else stats.bootstrap_scores(**arguments)


def test_calibration_metrics_refuse_what_is_no_probability():
    for metric in (stats.brier, stats.expected_calibration_error, stats.reliability_bins):
        with pytest.raises(InputError, match=r"scores\[1\] = 1.5 lies outside"):
            metric([0.5, 1.5], [0, 1])
    assert stats.auroc([5, -3], [1, 0]) == 1.0 and stats.brier([], []) is None


def test_distances_equal_scipy():
    from scipy.spatial.distance import jensenshannon

    rng = np.random.default_rng(7)
    p, q = rng.random((50, 8)), rng.random((50, 8))
    p[:, 2] = 0
    q[:10, 2] = 0
    np.testing.assert_allclose(stats.js_divergence(p, q), jensenshannon(p, q, axis=1, base=2) ** 2, rtol=1e-10)
    np.testing.assert_allclose(stats.js_divergence(p, q, base=math.e), jensenshannon(p, q, axis=1) ** 2, rtol=1e-10)
    normal = [a / a.sum(axis=1, keepdims=True) for a in (p, q)]
    np.testing.assert_allclose(stats.total_variation(p, q), 0.5 * np.abs(normal[0] - normal[1]).sum(axis=1), rtol=1e-13)
    assert stats.total_variation([0.6, 0.2], [0.5, 0.5], normalize=False) == pytest.approx(0.2)
    assert stats.js_divergence([1, 0], [0, 1]) == 1.0 and stats.total_variation([2, 0], [0, 1]) == 1.0
    assert stats.js_divergence(p[0], p[0]) == pytest.approx(0.0, abs=1e-15)
    for arguments, message in (
        (([0, 0], [1, 0]), "no mass"),
        (([-1, 2], [1, 0]), "below 0"),
        (([1, 0], [1, 0, 0]), "same options"),
        (([1, float("nan")], [1, 0]), "not finite"),
    ):
        with pytest.raises(InputError, match=message):
            stats.total_variation(*arguments)
    with pytest.raises(InputError, match="base"):
        stats.js_divergence([1, 0], [0, 1], base=1)


def ever_missed(p: float, n: int, confidence: float) -> float:
    """Probability that the sequence misses p at some look up to n, by dynamic programming over the number of successes."""
    alive = {0: 1.0}
    for t in range(1, n + 1):
        grown: dict[int, float] = {}
        for k, mass in alive.items():
            grown[k] = grown.get(k, 0.0) + mass * (1 - p)
            grown[k + 1] = grown.get(k + 1, 0.0) + mass * p
        alive = {}
        for k, mass in grown.items():
            found = stats.anytime_interval(k, t, confidence)
            if found.low <= p <= found.high:
                alive[k] = mass
    return 1 - sum(alive.values())


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5])
def test_anytime_interval_misses_at_any_look_with_bounded_probability(p):
    """Exact crossing probability over 80 looks; nominal at most 20 %, and not idle."""
    missed = ever_missed(p, 80, 0.8)
    assert 0.02 < missed <= 0.2


def test_anytime_interval_on_a_finite_bank_misses_with_bounded_probability():
    """Every order of 4 successes among 12 items: the sequence for the bank's own proportion."""
    size, good = 12, 4
    alive = {0: 1.0}
    for t in range(1, size + 1):
        grown: dict[int, float] = {}
        for k, mass in alive.items():
            left = size - t + 1
            for hit, share in ((1, (good - k) / left), (0, 1 - (good - k) / left)):
                if share > 0:
                    grown[k + hit] = grown.get(k + hit, 0.0) + mass * share
        alive = {}
        for k, mass in grown.items():
            found = stats.anytime_interval(k, t, 0.7, population=size)
            if found.low <= good / size <= found.high:
                alive[k] = mass
    assert 0.0 < 1 - sum(alive.values()) <= 0.3
    end = stats.anytime_interval(4, 12, population=12)
    assert end.low == end.high == 4 / 12


def test_anytime_interval_is_wider_than_fixed_and_shrinks():
    previous = 1.0
    for n in (10, 100, 1000, 10_000):
        found, fixed = stats.anytime_interval(n // 5, n), stats.clopper_pearson(n // 5, n)
        assert found.low <= fixed.low and fixed.high <= found.high
        assert found.high - found.low < previous
        previous = found.high - found.low
    for n in (1, 2, 7, 30):  # the likeliest count is inside at any confidence
        for k in range(n + 1):
            for size in (n, n + 1, 3 * n, 1000):
                tight = stats.anytime_interval(k, n, 1e-6, population=size)
                assert tight.low <= (k * (size + 1) // n) / size <= tight.high or k == n
    assert stats.anytime_interval(0, 50).low == 0.0 and stats.anytime_interval(50, 50).high == 1.0
    assert (stats.anytime_interval(0, 0).low, stats.anytime_interval(0, 0).high) == (0.0, 1.0)
    finite = stats.anytime_interval(20, 100, population=400)
    infinite = stats.anytime_interval(20, 100)
    assert infinite.low < finite.low < finite.high < infinite.high
    for arguments, message in (((3, 2), "successes = 3"), ((1, 2, 1.5), "confidence"), ((1, -2), "trials")):
        with pytest.raises(InputError, match=message):
            stats.anytime_interval(*arguments)
    with pytest.raises(InputError, match="population = 5"):
        stats.anytime_interval(1, 10, population=5)
