"""The bootstrap by convolution: against enumeration, its plain twin, scipy's bootstrap, and at its edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import expand

from c2s import stats
from c2s.errors import InputError
from c2s.kernels import exact, joint, reference_stats

LEVELS = np.array([0.025, 0.5, 0.975])


def cells_of(strata):
    offsets = np.cumsum([0] + [len(s) for s in strata])
    x, d, count = (np.array(column, np.int64) for column in zip(*[c for s in strata for c in s], strict=True))
    return joint.RatioCells(offsets.astype(np.int64), x, d, count)


def test_equals_enumeration_of_every_resample():
    """Three and two items in two strata: all 3^3 * 2^2 resamples, one by one."""
    native, serial, strata = np.array([1, 1, 0, 1, 0]), np.array([1, 0, 1, 0, 0]), np.array([0, 0, 0, 1, 1])
    ratios, undefined = [], 0
    draws = list(itertools.product(range(3), range(3), range(3), range(3, 5), range(3, 5)))
    for draw in draws:
        picked = list(draw)
        base = native[picked].sum()
        if base == 0:
            undefined += 1
        else:
            ratios.append((native & serial)[picked].sum() / base)
    ratios = np.sort(ratios)
    for confidence in (0.5, 0.8, 0.95):
        found = stats.bootstrap_scr(native, serial, strata, method="exact", confidence=confidence)
        tail = (1 - confidence) / 2
        low, high = (ratios[int(np.ceil(q * len(ratios) - 1e-9)) - 1] for q in (tail, 1 - tail))
        assert (found.low, found.high) == (low, high)
        assert found.undefined == pytest.approx(undefined / len(draws), rel=1e-12)
        assert found.standard_error == pytest.approx(ratios.std(), rel=1e-11)
        assert found.estimate == 1 / 3


cell = st.tuples(st.integers(-3, 4), st.integers(0, 3), st.integers(1, 5))
stratum = st.lists(cell, min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(stratum, min_size=1, max_size=3))
def test_law_equals_its_twin(strata):
    """Any integer cells, negative numerators and constant coordinates included."""
    expected = reference_stats.exact_law(strata)
    x, d, mass = exact.exact_law(cells_of(strata))
    found = {(int(a), int(b)): p for a, b, p in zip(x, d, mass, strict=True)}
    assert max(abs(p - found.get(state, 0.0)) for state, p in expected.items()) < 1e-14
    assert sum(p for state, p in found.items() if state not in expected) < 1e-13


@settings(max_examples=60, deadline=None)
@given(st.lists(stratum, min_size=1, max_size=3))
def test_quantiles_equal_the_twin(strata):
    law = {state: p for state, p in reference_stats.exact_law(strata).items() if state[1] > 0}
    if not law:
        return
    found = exact.exact_ratio(cells_of(strata), LEVELS)
    values = [x / d for x, d in law]
    expected = [reference_stats.quantile(values, law.values(), level) for level in LEVELS]
    assert found.quantiles.tolist() == expected
    total = sum(law.values())
    assert 1 - found.undefined == pytest.approx(total, abs=1e-13)
    assert found.mean == pytest.approx(sum(v * p for v, p in zip(values, law.values(), strict=True)) / total, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(-3, 4), st.integers(1, 6)), min_size=1, max_size=4), min_size=1, max_size=3))
def test_sum_keeps_relative_accuracy_in_the_tails(strata):
    cells = cells_of([[(value, 1, count) for value, count in s] for s in strata])
    low, mass = exact.exact_sum(cells)
    expected = reference_stats.exact_law([[(value, 0, count) for value, count in s] for s in strata])
    for (x, _), p in expected.items():
        assert mass[x - low] == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(
    "tables",
    [
        [(123, 250, 0, 11)],
        [(40, 22, 0, 2), (30, 33, 0, 1), (21, 41, 0, 2), (14, 48, 0, 2), (10, 53, 0, 1), (8, 53, 0, 3)],
        [(16, 16, 16, 16)] * 6,
        [(0, 2, 1, 40), (1, 3, 0, 30)],
    ],
)
def test_law_of_realistic_tables_is_a_law_with_the_right_moments(tables):
    native, serial, strata = expand(tables)
    cells = joint.joint_cells((native & serial).astype(bool), native.astype(bool), joint.strata_of(strata, len(native)))
    x, d, mass = exact.exact_law(cells)
    sizes = np.array([sum(t) for t in tables])
    both, base = np.array([t[0] for t in tables]), np.array([t[0] + t[1] for t in tables])
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    assert mass @ x == pytest.approx(both.sum(), rel=1e-11) and mass @ d == pytest.approx(base.sum(), rel=1e-11)
    assert mass @ (x * x) - (mass @ x) ** 2 == pytest.approx((both * (1 - both / sizes)).sum(), rel=1e-9)
    assert mass @ (d * d) - (mass @ d) ** 2 == pytest.approx((base * (1 - base / sizes)).sum(), rel=1e-8)
    assert mass @ (x * d) - (mass @ x) * (mass @ d) == pytest.approx((both * (1 - base / sizes)).sum(), rel=1e-8)


def test_agrees_with_the_bootstrap_of_scipy():
    """One stratum, 20,000 scipy draws, fixed seed: each bound within five binomial standard errors of its level (a false alarm
    once in a million seeds), standard errors within four of their own."""
    from scipy.stats import bootstrap

    native, serial, _ = expand([(30, 40, 5, 25)])

    def scr(a, b, axis):
        return (a & b).sum(axis=axis) / a.sum(axis=axis)

    peer = bootstrap((native, serial), scr, paired=True, vectorized=True, n_resamples=20_000, batch=2000, rng=4)
    ours = stats.bootstrap_scr(native, serial)
    draws = peer.bootstrap_distribution
    for level, bound in ((0.025, ours.low), (0.975, ours.high)):
        error = 5 * (level * (1 - level) / len(draws)) ** 0.5
        assert np.mean(draws <= bound) >= level - error and np.mean(draws < bound) <= level + error
    assert ours.standard_error == pytest.approx(peer.standard_error, rel=0.03)


def test_order_and_names_of_strata_do_not_matter():
    native, serial, strata = expand([(3, 9, 1, 4), (7, 2, 0, 4), (1, 1, 5, 9)])
    shuffle = np.random.default_rng(5).permutation(len(native))
    expected = stats.bootstrap_scr(native, serial, strata)
    names = np.array(["late", "early", "middle"])
    kinds = (
        names[strata],
        [("x", int(s)) for s in strata],
        np.stack([strata, strata // 2], axis=1),
        [None if s == 0 else str(s) for s in strata],
    )
    for labels in kinds:
        shuffled = labels[shuffle] if isinstance(labels, np.ndarray) else [labels[i] for i in shuffle]
        found = stats.bootstrap_scr(native[shuffle], serial[shuffle], shuffled)
        assert (found.low, found.high) == (expected.low, expected.high)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)


def test_a_case_that_is_too_large_says_so():
    native, serial = np.tile([1, 1, 0, 0], 20_000), np.tile([1, 0, 1, 0], 20_000)
    with pytest.raises(InputError, match="law is too large"):
        stats.bootstrap_scr(native, serial, method="exact")


def test_refusals():
    for arguments, message in (
        (dict(method="exakt"), "did you mean exact"),
        (dict(confidence=95), "confidence = 95"),
        (dict(strata=[1, 2, 3]), "strata has 3 entries for 2 items"),
        (dict(strata=[float("nan"), 1.0]), "NaN"),
        (dict(strata=[[1], [2]]), "hashable"),
    ):
        with pytest.raises(InputError, match=message):
            stats.bootstrap_scr([1, 0], [0, 0], **arguments)
