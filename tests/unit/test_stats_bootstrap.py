"""The bootstraps beyond plain SCR: means, differences, clusters, weights, settings, the independence reference, the interaction.

Whatever is random here has a fixed seed, so it passes or fails for good; bands are four or more standard errors wide.
"""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import expand

from c2s import stats
from c2s.errors import InputError
from c2s.kernels import reference_stats


def enumerate_resamples(strata):
    """Every resample of units 0..n-1 within strata, as lists of indices."""
    blocks = [np.flatnonzero(np.array(strata) == s) for s in sorted(set(strata))]
    for picked in itertools.product(*(itertools.product(b, repeat=len(b)) for b in blocks)):
        yield [i for block in picked for i in block]


def inverse_cdf(values, level):
    return reference_stats.quantile(values, [1.0] * len(values), level)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.sampled_from([0.0, 1.0, 3.0]), st.integers(0, 1)),
        min_size=2,
        max_size=5,
    ),
    st.sampled_from([0.5, 0.9]),
)
def test_exact_ratio_equals_enumeration(units, confidence):
    x, d, strata = (np.array(c) for c in zip(*units, strict=True))
    if d.sum() == 0:
        assert stats.bootstrap_ratio(x, d, strata).estimate is None
        return
    found = stats.bootstrap_ratio(x, d, strata, method="exact", confidence=confidence, withhold_above=1.0)
    draws = list(enumerate_resamples(strata.tolist()))
    sums = [(x[p].sum(), d[p].sum()) for p in draws]
    values = [a / b for a, b in sums if b > 0]
    tail = (1 - confidence) / 2
    assert found.low == pytest.approx(inverse_cdf(values, tail), rel=1e-12)
    assert found.high == pytest.approx(inverse_cdf(values, 1 - tail), rel=1e-12)
    assert found.undefined == pytest.approx(1 - len(values) / len(draws), abs=1e-12)
    fixed = max(values) - min(values) < 1e-12
    assert fixed if found.degenerate else (not fixed or bool((x[d == 0] != 0).any()))


def test_exact_weighted_clusters_equal_enumeration():
    values, weights = np.array([1, 0, 1, 1, 0]), np.array([2, 1, 1, 3, 1])
    clusters, strata = ["a", "a", "b", "c", "c"], [0, 0, 0, 0, 0]
    found = stats.bootstrap_mean(values, strata, clusters=clusters, weights=weights, method="exact", confidence=0.6)
    x = np.array([2.0, 1.0, 3.0])
    d = np.array([3.0, 1.0, 4.0])
    draws = [x[p].sum() / d[p].sum() for p in map(list, itertools.product(range(3), repeat=3))]
    assert found.estimate == 6 / 8
    assert (found.low, found.high) == (inverse_cdf(draws, 0.2), inverse_cdf(draws, 0.8))
    assert found.standard_error == pytest.approx(np.std(draws), rel=1e-11)


def test_means_and_differences_have_the_textbook_standard_error():
    rng = np.random.default_rng(1)
    a, b = rng.random(200) < 0.6, rng.random(200) < 0.4
    strata = np.repeat([0, 1], [80, 120])
    difference = a.astype(int) - b

    def textbook(values):
        return sum((np.sum(strata == s) * values[strata == s].var()) for s in (0, 1)) ** 0.5 / 200

    assert stats.bootstrap_mean(a, strata).standard_error == pytest.approx(textbook(a), rel=1e-10)
    found = stats.bootstrap_paired_difference(a, b, strata)
    assert found.method == "exact" and found.estimate == pytest.approx(difference.mean(), rel=1e-14)
    assert found.standard_error == pytest.approx(textbook(difference), rel=1e-10)


@pytest.mark.parametrize("method", ["exact", "multinomial", "items"])
def test_gain_rate_is_scr_of_the_complement(method):
    native, serial, strata = expand([(9, 4, 6, 11), (5, 5, 1, 9)])
    gain = stats.bootstrap_gain_rate(native, serial, strata, method=method, draws=5000)
    scr = stats.bootstrap_scr(1 - native, serial, strata, method=method, draws=5000)
    assert (gain.low, gain.high, gain.standard_error) == (scr.low, scr.high, scr.standard_error)
    assert gain.estimate == stats.joint_counts(native, serial).gain_rate


def test_methods_agree_on_every_kind_of_data():
    """Standard errors within 3 % (six of their own errors) and ends within a tenth of the interval at 20,000 draws; fixed seed."""
    rng = np.random.default_rng(2)
    strata = np.repeat(["x", "y", "z"], [50, 30, 40])
    n = len(strata)
    flags = rng.random(n) < 0.4
    cases = {
        "flags": dict(values=flags),
        "grid": dict(values=rng.integers(0, 11, n) / 10),
        "weighted": dict(values=flags, weights=np.select([strata == "x", strata == "y"], [0.3, 1.0], 0.55)),
        "clusters": dict(values=flags, clusters=[f"{s}{i % 9}" for i, s in enumerate(strata)]),
    }
    for name, arguments in cases.items():
        found = {
            m: stats.bootstrap_mean(strata=strata, method=m, draws=20_000, seed=5, **arguments) for m in ("exact", "multinomial", "items")
        }
        width = found["exact"].high - found["exact"].low
        for method in ("multinomial", "items"):
            assert found[method].standard_error == pytest.approx(found["exact"].standard_error, rel=0.03), name
            assert found[method].low == pytest.approx(found["exact"].low, abs=width / 10), name
            assert found[method].high == pytest.approx(found["exact"].high, abs=width / 10), name
            assert found[method].estimate == found["exact"].estimate


def test_continuous_values_are_drawn_by_items_and_agree_with_scipy():
    from scipy.stats import bootstrap

    values = np.random.default_rng(3).gamma(2.0, size=150)
    found = stats.bootstrap_mean(values, draws=20_000, seed=1)
    assert (found.method == "items" and "lattice" in found.note) or "too large" in found.note
    peer = bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=7)
    assert found.standard_error == pytest.approx(peer.standard_error, rel=0.03)
    width = found.high - found.low
    assert found.low == pytest.approx(peer.confidence_interval.low, abs=width / 20)
    assert found.high == pytest.approx(peer.confidence_interval.high, abs=width / 20)


def test_paired_difference_agrees_with_scipy():
    from scipy.stats import bootstrap

    rng = np.random.default_rng(4)
    a, b = rng.random(120) < 0.7, rng.random(120) < 0.5
    found = stats.bootstrap_paired_difference(a, b)
    peer = bootstrap(
        (a, b),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=20_000,
        rng=8,
    )
    assert found.standard_error == pytest.approx(peer.standard_error, rel=0.03)
    assert found.low == pytest.approx(peer.confidence_interval.low, abs=1.01 / 120)
    assert found.high == pytest.approx(peer.confidence_interval.high, abs=1.01 / 120)


def test_order_of_items_changes_nothing_in_any_method():
    rng = np.random.default_rng(5)
    native, serial, strata = rng.random(90) < 0.7, rng.random(90) < 0.4, rng.integers(0, 3, 90)
    shuffle = rng.permutation(90)
    for method in ("multinomial", "items"):
        a = stats.bootstrap_scr(native, serial, strata, method=method, draws=2000, seed=9)
        b = stats.bootstrap_scr(native[shuffle], serial[shuffle], strata[shuffle], method=method, draws=2000, seed=9)
        assert a == b
    assert a != stats.bootstrap_scr(native, serial, strata, method=method, draws=2000, seed=10)


def test_auto_says_why_it_draws():
    values = np.random.default_rng(6).random(40)
    weights = np.repeat([1 / 7, 1 / 11], 20)
    assert "drawn, because" in stats.bootstrap_mean(values, draws=100).note
    flags = values < 0.5
    weighted = stats.bootstrap_scr(flags, flags & (values < 0.3), np.repeat([0, 1], 20), weights=weights * np.pi, draws=100)
    assert weighted.method in ("exact", "multinomial")
    with pytest.raises(InputError, match=r"method='exact'.*draw instead"):
        stats.bootstrap_mean(np.r_[values, np.pi], method="exact")
    with pytest.raises(InputError, match=r"method='multinomial'.*use method='items'"):
        stats.bootstrap_mean(np.r_[values, np.pi], method="multinomial")


def test_scr_difference_equals_hand_made_draws():
    rng = np.random.default_rng(7)
    arms = [rng.random(30) < p for p in (0.7, 0.5, 0.8, 0.3)]
    strata = np.repeat([0, 1], 15)
    found = stats.bootstrap_scr_difference(*arms, strata, draws=400, seed=13)
    columns = [arms[0] & arms[1], arms[0], arms[2] & arms[3], arms[2]]
    order = np.lexsort((*columns[::-1], strata))
    values = []
    for t in range(400):
        x, d, y, e = reference_stats.item_sums([0, 15, 30], [c[order].astype(int).tolist() for c in columns], 13, t)
        values.append(x / d - y / e)
    assert (found.low, found.high) == (inverse_cdf(values, 0.025), inverse_cdf(values, 0.975))
    scr = [(a & b).sum() / a.sum() for a, b in (arms[:2], arms[2:])]
    assert found.estimate == scr[0] - scr[1]
    same = stats.bootstrap_scr_difference(*arms[:2], *arms[:2], draws=50)
    assert same.degenerate and same.estimate == 0.0
    none = stats.bootstrap_scr_difference(np.zeros(30), arms[1], *arms[2:], draws=50)
    assert none.estimate is None and none.undefined == 50 and "no Native success" in none.note


def test_worst_setting_is_redetermined_in_every_draw():
    rng = np.random.default_rng(8)
    native = {name: rng.random(24) < 0.6 for name in ("v1", "v2", "v3")}
    serial = {name: rng.random(24) < 0.5 for name in native}
    found = stats.bootstrap_worst_scr(native, serial, draws=300, seed=3)
    columns = [c for name in native for c in (native[name] & serial[name], native[name])]
    order = np.lexsort((*columns[::-1], np.zeros(24)))
    worst, mean = [], []
    for t in range(300):
        sums = reference_stats.item_sums([0, 24], [c[order].astype(int).tolist() for c in columns], 3, t)
        each = [x / d for x, d in zip(sums[::2], sums[1::2], strict=True)]
        worst.append(min(each))
        mean.append(float(np.mean(each)))
    assert (found.low, found.high) == (inverse_cdf(worst, 0.025), inverse_cdf(worst, 0.975))
    assert (found.mean.low, found.mean.high) == pytest.approx((inverse_cdf(mean, 0.025), inverse_cdf(mean, 0.975)), rel=1e-14)
    each = {name: (native[name] & serial[name]).sum() / native[name].sum() for name in native}
    assert found.estimate == min(each.values()) and found.worst == (min(each, key=each.get),)
    assert {name: i.estimate for name, i in found.settings.items()} == each
    assert found.low <= min(i.low for i in found.settings.values())
    rows = stats.bootstrap_worst_scr(list(native.values()), list(serial.values()), draws=300, seed=3)
    assert (rows.low, rows.high, rows.worst) == (found.low, found.high, (list(native).index(found.worst[0]),))


def test_worst_setting_without_a_native_success_is_undefined():
    found = stats.bootstrap_worst_scr([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [1, 1, 1]], draws=40)
    assert found.estimate is None and found.worst == () and found.undefined == 40
    assert found.settings[0].estimate == 0.5 and found.settings[1].estimate is None
    with pytest.raises(InputError, match="give the same, in the same order"):
        stats.bootstrap_worst_scr({"a": [1]}, {"b": [1]})
    with pytest.raises(InputError, match="at least one setting"):
        stats.bootstrap_worst_scr({}, {})


def test_independence_reference_equals_hand_made_draws():
    rng = np.random.default_rng(9)
    lengths = np.repeat([3, 4], [12, 10])
    positions = rng.random((22, 4)) < 0.75
    serial, member = rng.random(22) < 0.4, rng.random(22) < 0.8
    found = stats.bootstrap_independence_reference(positions, serial, lengths, member, draws=200, seed=17)
    blocks = []
    for length in (3, 4):
        here = member & (lengths == length)
        string = positions[:, :length].all(axis=1)
        blocks += [here & positions[:, t] for t in range(length)] + [here & string, here & serial, here]
    order = np.lexsort((*blocks[::-1], lengths))
    r3, pooled = [], []
    for t in range(200):
        s = reference_stats.item_sums([0, 12, 22], [c[order].astype(int).tolist() for c in blocks], 17, t)
        first = np.prod([v / s[5] for v in s[:3]])
        second = np.prod([v / s[12] for v in s[6:10]])
        r3.append(first)
        pooled.append((s[5] * first + s[12] * second) / (s[5] + s[12]))
    ours = found.by_length[3]
    assert (ours.reference.low, ours.reference.high) == pytest.approx((inverse_cdf(r3, 0.025), inverse_cdf(r3, 0.975)), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((inverse_cdf(pooled, 0.025), inverse_cdf(pooled, 0.975)), rel=1e-12)
    here = member & (lengths == 3)
    assert ours.n == here.sum() and ours.reference.estimate == pytest.approx(np.prod(positions[here, :3].mean(axis=0)), rel=1e-14)
    assert ours.string_em.estimate == positions[here, :3].all(axis=1).mean()
    assert ours.serial_minus_string.estimate == pytest.approx(ours.serial_em.estimate - ours.string_em.estimate, rel=1e-12)
    assert found.pooled.n == member.sum() and found.estimate == found.pooled.reference.estimate
    ragged = [row[:length] for row, length in zip(positions, lengths, strict=True)]
    assert stats.bootstrap_independence_reference(ragged, serial, lengths, member, draws=200, seed=17) == found


def test_independence_reference_edges():
    nobody = stats.bootstrap_independence_reference([[1], [0]], [1, 0], [1, 1], [0, 0], draws=20)
    assert nobody.estimate is None and nobody.by_length[1].n == 0 and nobody.undefined == 20
    with pytest.raises(InputError, match=r"position_correct\[1\] has 1 positions, its length is 2"):
        stats.bootstrap_independence_reference([[1, 1], [0]], [1, 0], [2, 2])
    with pytest.raises(InputError, match="at least 1"):
        stats.bootstrap_independence_reference([[1]], [1], [0])


def brute_interaction(groups, weights):
    """Every resample of every workload."""
    values = []
    for picked in itertools.product(*(itertools.product(g, repeat=len(g)) for g in groups)):
        values.append(sum(w * np.mean(p) for w, p in zip(weights, picked, strict=True)))
    return values


def cells_from(d):
    """Four cells whose D is as wanted."""
    table = {2: (1, 0, 0, 1), 1: (0, 0, 0, 1), 0: (0, 1, 0, 1), -1: (0, 1, 0, 0), -2: (0, 1, 1, 0)}
    return [table[v] for v in d]


@pytest.mark.parametrize(
    ("groups", "weights"),
    [([[1, 0, 2], [0, -1, 1]], None), ([[1, 0, 2, -2], [1, -1]], None), ([[2, 1, 1], [0, 1]], {"w0": 0.25, "w1": 0.75})],
)
def test_interaction_equals_enumeration(groups, weights):
    cells = cells_from([d for g in groups for d in g])
    workloads = [f"w{i}" for i, g in enumerate(groups) for _ in g]
    found = stats.interaction(cells, workloads, weights, confidence=0.8)
    share = list(weights.values()) if weights else [0.5, 0.5]
    theta = sum(w * np.mean(g) for w, g in zip(share, groups, strict=True))
    values = brute_interaction(groups, share)
    assert found.theta == pytest.approx(theta)
    assert found.low == pytest.approx(inverse_cdf(np.round(values, 12), 0.1), abs=1e-12)
    assert found.high == pytest.approx(inverse_cdf(np.round(values, 12), 0.9), abs=1e-12)
    assert found.p == pytest.approx(np.mean(np.abs(np.array(values) - theta) >= abs(theta) - 1e-12), rel=1e-12)
    drawn = stats.interaction(cells, workloads, weights, method="multinomial", draws=20_000, seed=1)
    assert drawn.p == pytest.approx(found.p, abs=0.02) and drawn.draws == 20_000
    assert dict(found.counts["w0"]) == {d: groups[0].count(d) for d in sorted(set(groups[0]))}


def test_interaction_named_cells_missing_labels_and_hoeffding():
    table = np.array(cells_from([0] * 6), object)
    table[2, 1] = None
    named = dict(zip(("insertion_random", "insertion_random_colon", "sorted_random", "sorted_random_colon"), table.T, strict=True))
    workloads = ["a"] * 3 + ["b"] * 3
    found = stats.interaction(named, workloads)
    assert found == stats.interaction(np.array([[np.nan if v is None else v for v in row] for row in table.tolist()], float), workloads)
    assert dict(found.complete) == {"a": 2, "b": 3} and found.method == "hoeffding" and found.degenerate
    assert found.p == 1.0 and (found.low, found.high) == (-2.0, 2.0) and "too few items" in found.note  # 2.48 is more than D can be
    more = stats.interaction(cells_from([1] * 5), list("aabbb"), method="hoeffding")  # the same size, off the middle
    assert (more.low, more.high) == (pytest.approx(1 - (8 * (0.25 / 2 + 0.25 / 3) * np.log(40)) ** 0.5), 2.0) and "too few" not in more.note
    assert found.bounds == (pytest.approx(0.0), pytest.approx(0.5 / 3))  # D without it is 1; a 1 there makes it 0
    one = stats.interaction(cells_from([1, 1, 1, 1]), ["a", "a", "b", "b"])
    assert one.method == "hoeffding" and one.p == pytest.approx(min(1.0, 2 * np.exp(-1 / (8 * 0.25))))
    few = stats.interaction(cells_from([1]), ["a"])
    assert (few.theta, few.low, few.high) == (1.0, -2.0, 2.0) and "too few items" in few.note and few.p == 1.0  # 2 exp(-1/8), at most 1
    gone = stats.interaction(np.full((2, 4), np.nan), ["a", "b"])
    assert gone.theta is None and gone.p is None and gone.bounds == (-2.0, 2.0) and "no complete source" in gone.note


def test_interaction_refusals():
    for arguments, message in (
        (dict(cells=[[1, 0, 2, 0]], workloads=["a"]), r"cells\[0, 2\] = 2"),
        (dict(cells=[[1, 0, 0]], workloads=["a"]), r"instead of \[n, 4\]"),
        (dict(cells=[["x", 0, 0, 0]], workloads=["a"]), "give 1, 0, or None"),
        (dict(cells={"sorted": [1]}, workloads=["a"]), "give insertion_random"),
        (dict(cells=[[1, 0, 0, 0]], workloads=["a", "b"]), "workloads has 2 entries for 1"),
        (dict(cells=[[1, 0, 0, 0]], workloads=["a"], weights={"b": 1}), "give one weight each"),
        (dict(cells=[[1, 0, 0, 0]], workloads=["a"], weights={"a": 0}), "above 0"),
        (dict(cells=[[1, 0, 0, 0]], workloads=["a"], method="items"), "method = 'items'"),
    ):
        with pytest.raises(InputError, match=message):
            stats.interaction(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(numerator=[1], denominator=[-1]), r"denominator\[0\] = -1 is below 0"),
        (dict(numerator=[1, 2], denominator=[1]), "numerator has 2 items and denominator has 1"),
        (dict(numerator=[1], denominator=[1], weights=[-1]), r"weights\[0\] = -1 is below 0"),
        (dict(numerator=[1], denominator=[1], weights=[1, 2]), "weights has 2 entries"),
        (dict(numerator=[1, 1], denominator=[1, 1], strata=[0, 1], clusters=["c", "c"]), "cluster 'c' lies in more than one stratum"),
        (dict(numerator=[1], denominator=[1], draws=0), "draws = 0"),
        (dict(numerator=[1], denominator=[1], draws=1.5), "draws = 1.5"),
        (dict(numerator=[1], denominator=[1], threads=0), "threads = 0"),
        (dict(numerator=[1], denominator=[1], seed=2**64), "seed"),
        (dict(numerator=[1], denominator=[1], withhold_above=2), "withhold_above"),
        (dict(numerator=[[1]], denominator=[1]), r"shape \(1, 1\)"),
        (dict(numerator=["a"], denominator=[1]), "not numeric"),
    ],
)
def test_ratio_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        stats.bootstrap_ratio(**arguments)


def test_a_misspelt_setting_gets_its_near_miss():
    with pytest.raises(TypeError, match=r"unknown setting 'drawz' .did you mean draws"):
        stats.bootstrap_mean([1, 0], drawz=5)


def test_results_are_frozen_and_go_through_json_and_pickle():
    native, serial, strata = expand([(5, 4, 1, 2), (2, 6, 0, 3)])
    results = [
        stats.bootstrap_scr(native, serial, strata),
        stats.bootstrap_worst_scr([native, native], [serial, 1 - serial], draws=50),
        stats.bootstrap_independence_reference(np.stack([native, serial], axis=1), serial, np.full(len(native), 2), draws=50),
        stats.interaction(cells_from([1, 0, 1, 2]), ["a", "a", "b", "b"]),
    ]
    for result in results:
        with pytest.raises(AttributeError):
            result.low = 0.0
        assert pickle.loads(pickle.dumps(result)) == result
        assert json.loads(json.dumps(result.as_dict()))["estimate"] == result.estimate
    with pytest.raises(TypeError):
        results[1].settings[0] = None
