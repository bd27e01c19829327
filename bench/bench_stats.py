"""Speed of the statistics beside their peers, in one process: scipy, NumPy, scikit-learn, statsmodels.

    pytest bench/bench_stats.py -o python_files='bench_*.py' --benchmark-json=build/bench-stats.json

Every answer is checked. Ours and the peer take turns, so that both meet the same machine; the printed ratio is the ratio of the
medians of their processor times (all of it is single-threaded work, so on an idle machine that is the time on the clock). A
peer that is far too slow for the whole work is timed on part of it and scaled; the line says so. The bars are the project's and
are asserted.
"""

from __future__ import annotations

from statistics import median
from time import process_time

import numpy as np
import pytest

from c2s import stats

DRAWS = 99_999
LENGTHS = np.arange(3, 9)
# 384 items like Jev's arithmetic: 123 kept, 250 lost, 11 missed by Native, spread over six lengths.
JEV = [(40, 22, 0, 2), (30, 33, 0, 1), (21, 41, 0, 2), (14, 48, 0, 2), (10, 53, 0, 1), (8, 53, 0, 3)]
MIDDLE = [(16, 16, 16, 16)] * 6
# 2,347 items in the sizes of the independent cohort: Native 50 %, SCR 50 %.
LARGE = [(n // 4, n // 4, n // 4, n - 3 * (n // 4)) for n in (61, 315, 442, 511, 548, 470)]


def items(tables):
    kinds = np.array([(True, True), (True, False), (False, True), (False, False)])
    rows = np.repeat(np.tile(kinds, (6, 1)), np.ravel(tables), axis=0)
    return rows[:, 0].copy(), rows[:, 1].copy(), np.repeat(LENGTHS, np.sum(tables, axis=1))


def seconds(call):
    start = process_time()
    call()
    return process_time() - start


def race(benchmark, capsys, text, ours, peer, *, bar, rounds, peer_rounds, scale=1.0):
    """Ratio of medians, taken in turns; `scale` is the whole work over the part that the peer is timed on."""
    benchmark.pedantic(ours, rounds=rounds, warmup_rounds=2)
    mine, theirs = [], []
    for _ in range(peer_rounds):
        mine += [seconds(ours) for _ in range(max(1, rounds // peer_rounds))]
        theirs.append(seconds(peer) * scale)
    ratio = median(theirs) / median(mine)
    benchmark.extra_info.update(ratio=ratio, bar=bar, ours_ms=median(mine) * 1e3, peer_ms=median(theirs) * 1e3, scaled=scale != 1)
    with capsys.disabled():
        scaled = " (scaled)" if scale != 1 else ""
        print(f"\n  {text}: {median(mine) * 1e3:.3g} ms, peer {median(theirs) * 1e3:.4g} ms{scaled}, x {ratio:.0f} (bar {bar})", end="")
    assert ratio >= bar


def scipy_bootstrap(native, serial):
    from scipy.stats import bootstrap

    def scr(a, b, axis):
        return (a & b).sum(axis=axis) / a.sum(axis=axis)

    return bootstrap((native, serial), scr, paired=True, vectorized=True, batch=200, n_resamples=DRAWS, method="percentile", rng=1)


def agrees(found, peer, tolerance=0.03):
    """One stratum against one stratum: same standard error, ends within a few items."""
    assert found.standard_error == pytest.approx(peer.standard_error, rel=tolerance)
    assert found.low == pytest.approx(peer.confidence_interval.low, abs=0.1 * peer.standard_error)
    assert found.high == pytest.approx(peer.confidence_interval.high, abs=0.1 * peer.standard_error)


@pytest.mark.parametrize(("name", "tables", "bar"), [("near-saturated", JEV, 150), ("mid-rate", MIDDLE, 30)])
def test_scr_exact(benchmark, capsys, name, tables, bar):
    native, serial, strata = items(tables)
    agrees(stats.bootstrap_scr(native, serial, method="exact"), scipy_bootstrap(native, serial))
    race(
        benchmark,
        capsys,
        f"SCR exact, 384 items, 6 strata, {name}, against scipy.stats.bootstrap",
        lambda: stats.bootstrap_scr(native, serial, strata, method="exact"),
        lambda: scipy_bootstrap(native, serial),
        bar=bar,
        rounds=60,
        peer_rounds=5,
    )


def test_scr_exact_large(benchmark, capsys):
    native, serial, strata = items(LARGE)

    def ours():
        return stats.bootstrap_scr(native, serial, strata, method="exact")

    found = benchmark.pedantic(ours, rounds=15, warmup_rounds=2)
    drawn = stats.bootstrap_scr(native, serial, strata, method="multinomial", draws=DRAWS)
    assert found.low == pytest.approx(drawn.low, abs=0.1 * found.standard_error)
    took = median(seconds(ours) for _ in range(15))
    benchmark.extra_info.update(ours_ms=took * 1e3)
    with capsys.disabled():
        print(f"\n  SCR exact, 2,347 items, 6 strata, mid-rate: {took * 1e3:.3g} ms (guide 100 ms)", end="")
    assert took < 0.1


def multinomial(native, serial, strata):
    ours = stats.bootstrap_scr(native, serial, strata, method="multinomial", draws=DRAWS, seed=1, threads=1)
    exact = stats.bootstrap_scr(native, serial, strata, method="exact")
    assert ours.draws == DRAWS and ours.standard_error == pytest.approx(exact.standard_error, rel=0.02)
    assert ours.low == pytest.approx(exact.low, abs=0.1 * exact.standard_error)
    return lambda: stats.bootstrap_scr(native, serial, strata, method="multinomial", draws=DRAWS, seed=1, threads=1)


def test_scr_multinomial_against_scipy(benchmark, capsys):
    native, serial, strata = items(JEV)
    race(
        benchmark,
        capsys,
        "SCR multinomial, 99,999 draws, one thread, against scipy.stats.bootstrap",
        multinomial(native, serial, strata),
        lambda: scipy_bootstrap(native, serial),
        bar=150,
        rounds=60,
        peer_rounds=5,
    )


def numpy_multinomial(tables):
    rng = np.random.default_rng(1)
    both, base = np.zeros(DRAWS, np.int64), np.zeros(DRAWS, np.int64)
    for table in tables:
        counts = rng.multinomial(sum(table), np.array(table) / sum(table), size=DRAWS)
        both += counts[:, 0]
        base += counts[:, 0] + counts[:, 1]
    return np.quantile(both / base, [0.025, 0.975], method="inverted_cdf")


def test_scr_multinomial_against_numpy(benchmark, capsys):
    native, serial, strata = items(JEV)
    ours = multinomial(native, serial, strata)
    low, high = numpy_multinomial(JEV)
    assert (ours().low, ours().high) == (pytest.approx(low, abs=0.003), pytest.approx(high, abs=0.003))
    race(
        benchmark,
        capsys,
        "SCR multinomial, one thread, against Generator.multinomial per stratum",
        ours,
        lambda: numpy_multinomial(JEV),
        bar=30,
        rounds=60,
        peer_rounds=7,
    )


def numpy_items(native, serial, strata, block=2000):
    """Indices drawn and gathered in blocks, so that nothing leaves the cache."""
    rng = np.random.default_rng(1)
    both = native & serial
    values = np.empty(DRAWS)
    groups = [np.flatnonzero(strata == s) for s in np.unique(strata)]
    for first in range(0, DRAWS, block):
        count = min(block, DRAWS - first)
        x, d = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for group in groups:
            picked = rng.integers(0, len(group), (count, len(group)), dtype=np.int32)
            x += both[group][picked].sum(axis=1)
            d += native[group][picked].sum(axis=1)
        values[first : first + count] = x / d
    return np.quantile(values, [0.025, 0.975], method="inverted_cdf")


def test_scr_items_against_numpy(benchmark, capsys):
    native, serial, strata = items(JEV)
    found = stats.bootstrap_scr(native, serial, strata, method="items", draws=DRAWS, seed=1, threads=1)
    low, high = numpy_items(native, serial, strata)
    assert (found.low, found.high) == (pytest.approx(low, abs=0.003), pytest.approx(high, abs=0.003))
    race(
        benchmark,
        capsys,
        "SCR by items, one thread, against a blocked NumPy gather",
        lambda: stats.bootstrap_scr(native, serial, strata, method="items", draws=DRAWS, seed=1, threads=1),
        lambda: numpy_items(native, serial, strata),
        bar=5,
        rounds=9,
        peer_rounds=3,
    )


def rare_successes():
    """2,347 items with 13 positives whose scores crowd at the low end, like the product scores of the independent cohort."""
    rng = np.random.default_rng(20261008)
    length = np.repeat(LENGTHS, (61, 315, 442, 511, 548, 470))
    outcome = np.zeros(2347, bool)
    for value, k in zip(LENGTHS, (7, 3, 2, 1), strict=False):
        outcome[np.flatnonzero(length == value)[:k]] = True
    score = np.exp(-rng.exponential(length / 2)) * np.where(outcome, 1, 0.6)
    return score, outcome, length


def sklearn_loop(score, outcome, length, draws):
    from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

    rng = np.random.default_rng(2)
    groups = [np.flatnonzero(length == s) for s in LENGTHS]
    rows = []
    for _ in range(draws):
        i = np.concatenate([rng.choice(group, len(group)) for group in groups])
        s, y = score[i], outcome[i]
        if y.all() or not y.any():
            continue
        bins = np.minimum((s * 10).astype(int), 9)
        ece = np.abs(np.bincount(bins, weights=s - y, minlength=10)).sum() / len(s)
        rows.append((roc_auc_score(y, s), average_precision_score(y, s), brier_score_loss(y, s), ece))
    return np.array(rows)


def test_scores_against_scikit_learn(benchmark, capsys):
    score, outcome, length = rare_successes()
    draws, part = 9_999, 200

    def ours():
        return stats.bootstrap_scores(score, outcome, length, coverage=(), draws=draws, seed=1, threads=1)["score"]

    found, peer = ours(), sklearn_loop(score, outcome, length, part)
    for metric, values in zip(("auroc", "ap", "brier", "ece"), peer.T, strict=True):
        assert found[metric].estimate == pytest.approx(values.mean(), abs=6 * values.std())
        assert found[metric].standard_error == pytest.approx(values.std(), rel=0.3)
    race(
        benchmark,
        capsys,
        "AUROC, AP, Brier, ECE of 2,347 items, 9,999 draws, one thread, against a loop over scikit-learn",
        ours,
        lambda: sklearn_loop(score, outcome, length, part),
        bar=400,
        rounds=15,
        peer_rounds=3,
        scale=draws / part,
    )


def test_mcnemar_against_statsmodels(benchmark, capsys):
    from statsmodels.stats.contingency_tables import mcnemar

    b, c = np.random.default_rng(3).integers(0, 400, (2, 100_000))
    part = 500

    def peer():
        return [mcnemar([[0, x], [y, 0]], exact=True).pvalue for x, y in zip(b[:part], c[:part], strict=True)]

    np.testing.assert_allclose(stats.mcnemar_exact(b, c)[:part], peer(), rtol=1e-12)
    race(
        benchmark,
        capsys,
        "exact McNemar of 100,000 tables against a statsmodels loop",
        lambda: stats.mcnemar_exact(b, c),
        peer,
        bar=700,
        rounds=45,
        peer_rounds=5,
        scale=len(b) / part,
    )


def test_holm_against_statsmodels(benchmark, capsys):
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(4).random(1000) ** 4
    named = {f"test {i}": value for i, value in enumerate(p.tolist())}
    np.testing.assert_allclose(list(stats.holm(named).values()), multipletests(p, method="holm")[1], rtol=1e-14)
    race(
        benchmark,
        capsys,
        "Holm over 1,000 named tests against statsmodels multipletests",
        lambda: stats.holm(named),
        lambda: multipletests(p, method="holm"),
        bar=100,
        rounds=100,
        peer_rounds=10,
    )
