"""Joint tables, exact tests, Holm, binomial intervals: values, edges and messages."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c2s import stats
from c2s.errors import InputError
from c2s.kernels._load import core


def test_joint_counts_of_a_small_table():
    counts = stats.joint_counts([1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0])
    assert (counts.both, counts.lost, counts.gained, counts.neither, counts.n) == (1, 2, 1, 3, 7)
    assert counts.native_em == 3 / 7 and counts.serial_em == 2 / 7 and counts.scr == 1 / 3
    assert counts.loss_mass == 2 / 7 and counts.gain_mass == 1 / 7 and counts.gain_rate == 1 / 4
    assert counts.delta == 1 / 3 - 2 / 7
    assert counts.scr_bounds == (0.0, 2 / 3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_scr_lies_within_its_bounds_and_near_serial_em(pairs):
    counts = stats.joint_counts([a for a, _ in pairs], [b for _, b in pairs])
    if counts.scr is None:
        assert counts.scr_bounds is None and not any(a for a, _ in pairs)
        return
    low, high = counts.scr_bounds
    assert low <= counts.scr <= high
    assert abs(counts.scr - counts.serial_em) <= 1 - counts.native_em + 1e-15


def test_empty_and_one_sided_tables_are_undefined_not_zero():
    empty = stats.joint_counts([], [])
    assert empty.n == 0 and empty.native_em is None and empty.scr is None and empty.gain_rate is None
    assert empty.scr_bounds is None and empty.delta is None
    assert stats.joint_counts([0, 0], [1, 0]).scr is None
    assert stats.joint_counts([1, 1], [1, 0]).gain_rate is None


@pytest.mark.parametrize(
    ("native", "serial", "message"),
    [
        ([1, 2], [0, 1], r"native\[1\] = 2 is neither 0 nor 1"),
        ([1.0, float("nan")], [0, 1], r"native\[1\] = nan is neither"),
        ([1, 0], [0, 1, 1], "native has 2 items and serial has 3"),
        ([[1, 0]], [0, 1], r"shape \(1, 2\)"),
        (["yes", "no"], [0, 1], "dtype"),
    ],
)
def test_joint_counts_refuses(native, serial, message):
    with pytest.raises(InputError, match=message):
        stats.joint_counts(native, serial)


def test_mcnemar_equals_statsmodels_and_scipy():
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    from scipy.stats import binomtest

    rng = np.random.default_rng(1)
    b, c = rng.integers(0, 400, 300), rng.integers(0, 400, 300)
    p = stats.mcnemar_exact(b, c)
    for i in range(len(b)):
        peer = contingency.mcnemar([[0, b[i]], [c[i], 0]], exact=True).pvalue
        assert p[i] == pytest.approx(peer, rel=1e-12)
        assert p[i] == pytest.approx(binomtest(int(b[i]), int(b[i] + c[i])).pvalue, rel=1e-12)
        assert p[i] == stats.mcnemar_exact(int(b[i]), int(c[i]))


@pytest.mark.parametrize(("b", "c"), [(480, 520), (481, 520), (5000, 5200), (500_000, 502_000), (0, 1100)])
def test_mcnemar_of_many_pairs(b, c):
    """The tabulated and the summed path meet at b + c = 1000."""
    from scipy.stats import binomtest

    assert stats.mcnemar_exact(b, c) == pytest.approx(binomtest(b, b + c).pvalue, rel=1e-10)
    assert stats.mcnemar_exact(c, b) == stats.mcnemar_exact(b, c)


def test_mcnemar_refuses_what_is_no_count():
    with pytest.raises(InputError, match="not an integer type"):
        stats.mcnemar_exact(1.5, 2)
    with pytest.raises(InputError, match="at least 0"):
        stats.mcnemar_exact([1, -1], 2)


def test_holm_equals_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    rng = np.random.default_rng(2)
    for size in (1, 2, 7, 300):
        p = rng.random(size) ** 3
        p[: size // 3] = p[0]
        ours = stats.holm({f"t{i}": x for i, x in enumerate(p)})
        np.testing.assert_allclose(list(ours.values()), multitest.multipletests(p, method="holm")[1], rtol=1e-14)


def test_holm_family_may_be_larger_than_the_tests_given():
    named = stats.holm({"b": 0.01, "a": 0.02}, planned=["a", "b", "c"])
    assert named.m == 3 and list(named) == ["a", "b", "c"] and named.not_run == {"c"}
    assert named["b"] == 0.03 and named["a"] == 0.04 and named["c"] == 1.0
    sized = stats.holm({"b": 0.01, "a": 0.02}, planned=3)
    assert dict(sized) == {"b": 0.03, "a": 0.04} and sized.rejected(0.03) == ("b",)
    assert stats.holm({}).m == 0


@pytest.mark.parametrize(
    ("p", "planned", "message"),
    [
        ({"a": 1.2}, None, "p of 'a' is 1.2"),
        ({"a": float("nan")}, None, "p of 'a' is nan"),
        ({"a": 0.1, "b": 0.1}, 1, "family cannot be smaller"),
        ({"a": 0.1}, ["b"], "'a' has a p but is not in the planned family"),
        ({"a": 0.1}, ["a", "a"], "more than once"),
        ({"a": 0.1}, 1.5, "planned = 1.5"),
    ],
)
def test_holm_refuses(p, planned, message):
    with pytest.raises(InputError, match=message):
        stats.holm(p, planned)


def test_clopper_pearson_equals_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    rng = np.random.default_rng(3)
    n = rng.integers(1, 4000, 400)
    k = (n * rng.random(400) ** 2).astype(int)
    k[:20], k[20:40] = 0, n[20:40]
    for confidence in (0.5, 0.95, 0.999):
        ours = stats.clopper_pearson(k, n, confidence)
        low, high = proportion.proportion_confint(k, n, alpha=1 - confidence, method="beta")
        np.testing.assert_allclose(ours.low, np.nan_to_num(low), rtol=1e-11)
        np.testing.assert_allclose(ours.high, np.where(k == n, 1, high), rtol=1e-11)


@settings(deadline=None)
@given(n=st.integers(1, 10**12), share=st.floats(0, 1), confidence=st.floats(0.01, 0.9999))
def test_clopper_pearson_tails_hold_what_they_should(n, share, confidence):
    """At the bounds the binomial tails are (1 - confidence) / 2, also where peers lose their digits."""
    k = min(n, round(share * n))
    if min(k, n - k) > 10**7:  # the tail sum grows with the square root of this
        k = 10**7 if k < n - k else n - 10**7
    found = stats.clopper_pearson(k, n, confidence)
    tail = (1 - confidence) / 2
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    if 0 < k < n:  # a bound is a double: one step of it moves the tail by about step * sqrt(n / p q)
        slack = 1e-9 + 2e-15 * n / min(k, n - k) ** 0.5
        assert core.binomial_tails(k=k, n=n, p=found.low)[2] == pytest.approx(tail, rel=slack)
        assert core.binomial_tails(k=k, n=n, p=found.high)[1] == pytest.approx(tail, rel=slack)


def test_clopper_pearson_without_trials_and_refusals():
    nothing = stats.clopper_pearson(0, 0)
    assert nothing.estimate is None and (nothing.low, nothing.high) == (0.0, 1.0) and nothing.note
    with pytest.raises(InputError, match="more successes than trials"):
        stats.clopper_pearson(3, 2)
    with pytest.raises(InputError, match="n = 0"):
        stats.clopper_pearson([0, 1], [0, 1])
    with pytest.raises(InputError, match="confidence"):
        stats.clopper_pearson(1, 2, confidence=1.0)


def test_binomial_tails_equal_scipy():
    from scipy.stats import binom

    for n in (1, 5, 40, 999, 20_000):
        for p in (1e-6, 0.03, 0.5, 0.9):
            for k in {0, 1, n // 3, n // 2, n - 1, n}:
                mass, lower, upper = core.binomial_tails(k=k, n=n, p=p)
                assert mass == pytest.approx(binom.pmf(k, n, p), rel=1e-9, abs=1e-300)
                assert lower == pytest.approx(binom.cdf(k, n, p), rel=1e-9, abs=1e-300)
                assert upper == pytest.approx(binom.sf(k - 1, n, p), rel=1e-9, abs=1e-300)


def test_importing_and_using_the_statistics_loads_no_scipy():
    code = (
        "import sys, c2s.stats as s; s.bootstrap_scr([1, 1, 0], [1, 0, 0]); s.mcnemar_exact(1, 4); s.clopper_pearson(1, 3);"
        "s.holm({'a': 0.1}); print([m for m in sys.modules if m.split('.')[0] in ('scipy', 'pandas', 'sklearn')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_holm_takes_names_not_a_plain_list():
    with pytest.raises(InputError, match="dict\\(enumerate"):
        stats.holm([0.01, 0.04])
