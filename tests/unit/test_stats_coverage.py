"""What the intervals and tests hold: coverage of the truth, and false alarms under the null.

Where the Native denominator is fixed the coverage is computed exactly, by summing over all samples; elsewhere it is simulated
with a fixed seed, and the band allows for the simulation's own error. The table in docs/statistics.md is recomputed here.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from c2s import stats

DOCS = Path(__file__).parents[2] / "docs" / "statistics.md"


@lru_cache
def ends(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Bootstrap and Clopper-Pearson ends for every number of successes among n."""
    base = np.ones(n, bool)
    found = [stats.bootstrap_scr(base, np.arange(n) < k, method="exact") for k in range(n + 1)]
    exact = stats.clopper_pearson(np.arange(n + 1), np.full(n + 1, n))
    return np.array([f.low for f in found]), np.array([f.high for f in found]), exact.low, exact.high


def coverage(p: float, n: int) -> tuple[float, float]:
    """Exact probability that the bootstrap, and the Clopper-Pearson, interval holds p."""
    mass = binom.pmf(np.arange(n + 1), n, p)
    low, high, cp_low, cp_high = ends(n)
    slack = 1e-12
    return (
        float(mass[(low <= p + slack) & (p <= high + slack)].sum()),
        float(mass[(cp_low <= p + slack) & (p <= cp_high + slack)].sum()),
    )


@pytest.mark.parametrize("n", [100, 384])
def test_bootstrap_coverage_at_moderate_rates(n):
    """Averaged over rates from 0.2 to 0.8, where a single rate jumps with the lattice."""
    rates = np.linspace(0.2, 0.8, 61)
    mean = np.mean([coverage(p, n)[0] for p in rates])
    assert 0.93 < mean < 0.97
    assert min(coverage(p, n)[0] for p in rates) > 0.92


@pytest.mark.parametrize("n", [20, 100, 384])
def test_clopper_pearson_never_undercovers(n):
    assert min(coverage(p, n)[1] for p in np.linspace(0.001, 0.999, 400)) >= 0.95 - 1e-9


def test_the_coverage_table_of_the_docs():
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$", DOCS.read_text(), re.MULTILINE)
    assert len(rows) >= 8
    for n, rate, bootstrap, exact in rows:
        found = coverage(float(rate) / 100, int(n))
        assert [f"{100 * v:.1f}" for v in found] == [bootstrap, exact]


def simulate(native: float, scr: float, gain: float, strata: int, size: int, times: int, seed: int) -> tuple[float, int]:
    """Share of simulated samples whose exact stratified interval holds the true SCR, and samples without an interval."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(strata), size)
    hits = missing = 0
    for _ in range(times):
        a = rng.random(len(labels)) < native
        b = rng.random(len(labels)) < np.where(a, scr, gain)
        found = stats.bootstrap_scr(a, b, labels, method="exact")
        if found.low is None:
            missing += 1
        else:
            hits += found.low <= scr <= found.high
    return hits / (times - missing), missing


@pytest.mark.parametrize(("native", "scr"), [(0.97, 0.33), (0.5, 0.5)])
def test_stratified_scr_coverage_at_moderate_rates(native, scr):
    """384 items in six strata, 1,200 samples: standard error 0.6 points."""
    held, missing = simulate(native, scr, 0.2, 6, 64, 1200, 1)
    assert missing == 0 and 0.93 <= held <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(("native", "scr"), [(0.97, 0.33), (0.5, 0.5), (0.15, 0.5), (0.6, 0.2), (0.95, 0.8)])
def test_stratified_scr_coverage_at_moderate_rates_closely(native, scr):
    """10,000 samples: standard error 0.2 points."""
    held, missing = simulate(native, scr, 0.2, 6, 64, 10_000, 2)
    assert missing == 0 and 0.93 <= held <= 0.97


def test_scr_coverage_with_few_successes_is_what_it_is():
    """About four successes expected (1 % of 373): the bootstrap holds the truth clearly less often than it says."""
    held, _ = simulate(0.97, 0.01, 0.0, 6, 64, 800, 3)
    assert 0.80 < held < 0.93


@pytest.mark.slow
@pytest.mark.parametrize("method", ["multinomial", "items"])
def test_drawn_intervals_cover_as_the_exact_ones(method):
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(4), 30)
    hits = 0
    for i in range(1500):
        a, b = rng.random(120) < 0.7, rng.random(120) < 0.4
        found = stats.bootstrap_scr(a, b, labels, method=method, draws=1999, seed=i)
        hits += found.low <= 0.4 <= found.high
    assert 0.93 <= hits / 1500 <= 0.97


@pytest.mark.slow
def test_auroc_coverage():
    """Binormal scores, AUROC 0.760; 200 items, 40 positives on average, 1,200 samples."""
    rng = np.random.default_rng(5)
    hits = 0
    for i in range(1200):
        y = rng.random(200) < 0.2
        s = rng.normal(size=200) + y
        found = stats.bootstrap_scores(s, y, metrics=("auroc",), coverage=(), draws=999, seed=i)["score"]["auroc"]
        hits += found.low <= 0.7602 <= found.high
    assert 0.92 <= hits / 1200 <= 0.97


def test_mcnemar_rejects_a_true_null_at_most_at_its_level():
    """Conditional on the discordances, exactly."""
    for n in range(0, 120, 7):
        k = np.arange(n + 1)
        p = stats.mcnemar_exact(k, n - k)
        for level in (0.01, 0.05, 0.2):
            assert binom.pmf(k, n, 0.5)[p <= level].sum() <= level + 1e-12


def test_sign_flip_rejects_a_true_null_at_most_at_its_level():
    """Over every sign pattern of given magnitudes: the exact p is a valid p by construction."""
    magnitudes = np.array([1, 1, 2, 3, 3, 5, 8, 0.5, 0.5])
    p = np.array([stats.sign_flip(magnitudes * np.array(s)).p for s in itertools.product((1, -1), repeat=9)])
    for level in (0.01, 0.05, 0.1, 0.5):
        assert np.mean(p <= level) <= level


def test_drawn_sign_flip_rejects_a_true_null_at_most_at_its_level():
    """199 draws with the plus-one, 3,000 null samples: at 5 %, allowed up to three standard errors above."""
    rng = np.random.default_rng(6)
    p = np.array([stats.sign_flip(rng.normal(size=15), draws=199, seed=i).p for i in range(3000)])
    assert 0.035 < np.mean(p <= 0.05) <= 0.05 + 3 * (0.05 * 0.95 / 3000) ** 0.5


def test_interaction_false_alarms():
    """Null sources with D of -1, 0, 1 (10, 80, 10 %), 100 in each of two workloads: 1,000 samples, standard error 0.7 points. The
    bootstrap test is approximate; here it rejects about as often as it says."""
    rng = np.random.default_rng(7)
    table = {1: (0, 0, 0, 1), 0: (0, 0, 0, 0), -1: (0, 1, 0, 0)}
    rejected = 0
    for _ in range(1000):
        d = rng.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=200)
        rejected += stats.interaction(np.array([table[v] for v in d]), [0] * 100 + [1] * 100).p <= 0.05
    assert 0.03 <= rejected / 1000 <= 0.075


def test_holm_keeps_the_family_wise_level():
    """Six independent true nulls, 4,000 families, standard error 0.35 points."""
    rng = np.random.default_rng(8)
    alarms = np.mean([bool(stats.holm(dict(enumerate(rng.random(6).tolist()))).rejected(0.05)) for _ in range(4000)])
    assert 0.038 < alarms < 0.06
