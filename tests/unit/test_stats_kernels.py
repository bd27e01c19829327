"""The generator and the drawing kernels: published vectors, plain twins, and independence of threads, batches and order."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c2s import stats
from c2s.errors import InputError
from c2s.kernels import exact, joint, reference_stats, resample, scores, signflip
from c2s.kernels._load import core

KNOWN = [  # tests/kat_vectors of Random123: counter, key, output
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("counter", "key", "output"), KNOWN)
def test_philox_gives_the_published_vectors(counter, key, output):
    counter, key, output = ([int(word, 16) for word in text.split()] for text in (counter, key, output))
    assert resample.philox(counter, key) == output
    assert reference_stats.philox(counter, key) == output


@pytest.fixture(params=["scalar", "avx2", "avx512"])
def level(request):
    """Each instruction set in turn; the machine's own is put back afterwards."""
    own = core.philox_level(force="")
    if core.philox_level(force=request.param) != request.param:
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    core.philox_level(force=own)


def test_every_instruction_set_gives_the_same_words(level):
    """Runs over blocks and over draws, past the low half of the draw's number, of lengths that fill no group."""
    seed = 2**63 + 12345
    for count in (1, 3, 4, 31, 77):
        blocks = resample.philox_words(seed=seed, stream=1, first_draw=2**32 - 2, block=7, count=count, over_draws=False)
        draws = resample.philox_words(seed=seed, stream=2, first_draw=2**32 - 2, block=7, count=count, over_draws=True)
        key = [seed & 0xFFFFFFFF, seed >> 32]
        for i in range(count):
            draw = 2**32 - 2
            assert blocks[i].tolist() == reference_stats.philox([7 + i, 1, draw & 0xFFFFFFFF, draw >> 32], key)
            draw += i
            assert draws[i].tolist() == reference_stats.philox([7, 2, draw & 0xFFFFFFFF, draw >> 32], key)


def strata_from(sizes):
    return joint.Strata(np.repeat(np.arange(len(sizes)), sizes), np.array(sizes, np.int64), tuple(range(len(sizes))))


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=4).filter(lambda s: sum(s) > 0),
    columns=st.integers(1, 6),
    kind=st.sampled_from(["flags", "counts", "negative", "floats"]),
    seed=st.integers(0, 2**64 - 1),
)
def test_item_sums_equal_the_twin(sizes, columns, kind, seed):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    make = {
        "flags": lambda: rng.integers(0, 2, n),
        "counts": lambda: rng.integers(0, 1000, n),
        "negative": lambda: rng.integers(-5, 6, n),
        "floats": lambda: rng.normal(size=n),
    }[kind]
    values = [make() for _ in range(columns)]
    strata = strata_from(sizes)
    sampler = resample.ItemSampler(values, strata)
    found = sampler.draw(seed=seed, first=3, count=4, threads=1)
    order = np.lexsort((*values[::-1], strata.index))
    offsets = [0, *np.cumsum(sizes).tolist()]
    for t in range(4):
        expected = reference_stats.item_sums(offsets, [v[order].tolist() for v in values], seed, 3 + t)
        ours = [column[t] for column in found]
        assert ours == pytest.approx(expected, rel=1e-12, abs=1e-12) if kind == "floats" else ours == expected


def test_large_strata_cross_the_chunks_of_words():
    sizes = [5000, 3, 2100]
    values = [np.arange(sum(sizes)) % 7]
    found = resample.ItemSampler(values, strata_from(sizes)).draw(seed=9, first=0, count=2, threads=1)[0]
    order = np.lexsort((values[0], strata_from(sizes).index))
    for t in range(2):
        assert found[t] == reference_stats.item_sums([0, 5000, 5003, 7103], [values[0][order].tolist()], 9, t)[0]


def samplers():
    rng = np.random.default_rng(0)
    strata = strata_from([64, 64, 64])
    both, base = rng.random(192) < 0.3, np.ones(192, bool)
    base[:40] = False
    both &= base
    cells = joint.joint_cells(both, base, strata)
    yield "packed", resample.ItemSampler([both, base], strata)
    yield "floats", resample.ItemSampler([rng.normal(size=192)], strata)
    yield "cells", resample.CellSampler(cells)
    yield "weighted cells", resample.CellSampler(cells, np.array([0.1, 0.7, 0.2]), np.array([1.0, 3.0, 2.0]))
    s = rng.random((2, 192))
    yield (
        "scores",
        scores.ScoreSampler(s, both, rng.random(192), np.arange(192), strata, ("auroc", "ap", "brier", "ece"), np.array([0.1, 0.5])),
    )


def test_a_tally_counts_the_draws_on_each_state():
    sampler = dict(samplers())["cells"]
    assert sampler.single and not dict(samplers())["weighted cells"].single
    ratios = sampler.ratios(seed=4, first=0, count=5000, threads=1)
    states, counts = sampler.state_ratios(), sampler.tally(seed=4, first=0, count=5000, threads=3)
    np.testing.assert_array_equal(np.sort(np.repeat(states, counts)), np.sort(ratios))
    parts = [sampler.tally(seed=4, first=f, count=c, threads=1) for f, c in ((0, 1), (1, 3000), (3001, 1999))]
    np.testing.assert_array_equal(sum(parts), counts)
    with pytest.raises(ValueError, match="several tables"):
        dict(samplers())["weighted cells"].tally(seed=4, first=0, count=5, threads=1)


@pytest.mark.parametrize("name", [name for name, _ in samplers()])
def test_threads_batches_and_instruction_sets_change_nothing(name, level):
    sampler = dict(samplers())[name]

    def draw(**part):
        return np.asarray(sampler.draw(seed=77, **part))

    axis = 0 if name == "scores" else -1
    whole = draw(first=0, count=1500, threads=1)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(draw(first=0, count=1500, threads=threads), whole)
    parts = [draw(first=f, count=c, threads=2) for f, c in ((0, 1), (1, 511), (512, 700), (1212, 288))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=axis), whole)
    core.philox_level(force="scalar")
    np.testing.assert_array_equal(draw(first=0, count=1500, threads=1), whole)


def test_many_python_threads_at_once_get_the_same_numbers():
    sampler = dict(samplers())["packed"]
    expected = np.asarray(sampler.draw(seed=1, first=0, count=3000, threads=1))
    found = [None] * 8

    def work(i):
        found[i] = np.asarray(sampler.draw(seed=1, first=0, count=3000, threads=2))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for values in found:
        np.testing.assert_array_equal(values, expected)


def test_cells_are_drawn_from_the_exact_law():
    """Chi-square over the joint states of two merged strata, and over a weighted sum of two tables."""
    from scipy.stats import chi2

    native, serial, strata = np.repeat([[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1], [1, 0, 1]], [4, 6, 3, 5, 5], axis=0).T
    cells = joint.joint_cells(native & serial == 1, native == 1, joint.strata_of(strata, len(native)))
    law = {(int(x), int(d)): p for x, d, p in zip(*exact.exact_law(cells), strict=True)}
    draws = 50_000
    x, d = resample.CellSampler(cells).draw(seed=5, first=0, count=draws, threads=1)
    states, counts = np.unique(np.stack([x, d]), axis=1, return_counts=True)
    seen = {(int(a), int(b)): c for a, b, c in zip(*states, counts, strict=True)}
    assert set(seen) <= set(law)
    common = [s for s in law if law[s] * draws >= 5]
    rest = draws - sum(seen.get(s, 0) for s in common)
    expected = np.array([law[s] * draws for s in common] + [max(1e-9, draws - sum(law[s] for s in common) * draws)])
    observed = np.array([seen.get(s, 0) for s in common] + [rest])
    statistic = float(((observed - expected) ** 2 / expected).sum())
    assert chi2.sf(statistic, len(common)) > 1e-4  # false alarm: once in 10,000 seeds; this seed is fixed

    x, d = resample.CellSampler(cells, np.array([1.0, 10.0]), np.array([1.0, 0.5])).draw(seed=5, first=0, count=draws, threads=1)
    assert x.mean() == pytest.approx(4 + 50, abs=5 * x.std() / draws**0.5)
    assert d.mean() == pytest.approx(10 + 5, abs=5 * d.std() / draws**0.5)


def test_items_and_cells_and_numpy_draw_from_one_law():
    """Kolmogorov-Smirnov on 20,000 draws of SCR; each comparison raises a false alarm once in 10,000 seeds, and the seeds are fixed."""
    from scipy.stats import ks_2samp

    tables = [(5, 9, 2, 4), (3, 3, 3, 11)]
    rng = np.random.default_rng(6)
    totals = sum(rng.multinomial(sum(t), np.array(t) / sum(t), size=20_000) for t in tables)
    numpy_draws = totals[:, 0] / totals[:, :2].sum(axis=1)
    kinds = np.repeat(np.tile([[1, 1], [1, 0], [0, 1], [0, 0]], (2, 1)), np.ravel(tables), axis=0)
    native, serial = kinds.T.astype(bool)
    strata = strata_from([20, 20])
    cells = resample.CellSampler(joint.joint_cells(native & serial, native, strata))
    items = resample.ItemSampler([native & serial, native], strata)
    ours = [s.ratios(seed=3, first=0, count=20_000, threads=1) for s in (cells, items)]
    for a, b in ((ours[0], numpy_draws), (ours[1], numpy_draws), (ours[0], ours[1])):
        assert ks_2samp(a, b).pvalue > 1e-4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10), st.sampled_from(["two-sided", "greater", "less"]))
def test_sign_flip_equals_enumeration(steps, alternative):
    for scale in (1, 0.25, 1 / 3):
        differences = np.array(steps) * scale
        found = stats.sign_flip(differences, alternative=alternative)
        assert found.method == "exact" and found.draws is None
        assert found.p == pytest.approx(reference_stats.signflip_p(differences.tolist(), alternative), rel=1e-12)
        assert found.n == len(steps) and found.nonzero == np.count_nonzero(steps)


def test_drawn_signs_are_the_bits_of_the_stream():
    differences = np.random.default_rng(1).normal(size=150)
    found = signflip.sums(differences, seed=11, first=5, count=3, threads=1)
    for t in range(3):
        words = reference_stats.words(11, reference_stats.SIGNS, 5 + t, 8)
        signs = [1 if words[i // 32] >> (i % 32) & 1 else -1 for i in range(150)]
        assert found[t] == pytest.approx(float(np.dot(signs, differences)), rel=1e-12)


def test_sign_flip_by_draws_has_the_plus_one_and_agrees_with_scipy():
    from scipy.stats import permutation_test

    differences = np.random.default_rng(2).normal(0.35, 1, size=12)
    ours = stats.sign_flip(differences, seed=4, draws=99_999)
    peer = permutation_test(
        (differences, np.zeros(12)), lambda a, b, axis: (a - b).sum(axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    exact_p = reference_stats.signflip_p(differences.tolist())
    assert peer.pvalue == pytest.approx(exact_p, rel=1e-12)
    assert ours.p == pytest.approx(exact_p, abs=5 * (exact_p / 99_999) ** 0.5)
    assert ours.method == "monte-carlo" and ours.draws == 99_999
    assert stats.sign_flip(differences, seed=4).p == ours.p
    assert stats.sign_flip(np.ones(200), draws=999).p == 1 / 1000
    assert stats.sign_flip(np.ones(200)).p == pytest.approx(2.0**-199, rel=1e-12)


def test_sign_flip_edges():
    assert stats.sign_flip([]).p == 1.0 and stats.sign_flip([]).statistic is None
    assert stats.sign_flip([0, 0]).p == 1.0 and stats.sign_flip([1, -1]).p == 1.0
    assert stats.sign_flip([0.0, 0.0], draws=99).p == 1.0
    huge = stats.sign_flip(np.arange(1, 2100), draws=None)
    assert huge.method == "monte-carlo"  # the dynamic program would take seconds
    for arguments, message in (
        (dict(differences=[1.0, float("nan")]), "not finite"),
        (dict(differences=[1.0], alternative="both"), "alternative"),
        (dict(differences=[1.0], draws=0), "draws = 0"),
        (dict(differences=[1.0], seed=-1), "seed = -1"),
    ):
        with pytest.raises(InputError, match=message):
            stats.sign_flip(**arguments)


random_scores = st.lists(
    st.tuples(st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.30000000000000004, 0.5, 0.9, 1.0]), st.booleans(), st.integers(0, 3)),
    min_size=1,
    max_size=14,
)


@settings(max_examples=150, deadline=None)
@given(random_scores, st.booleans())
def test_metrics_equal_their_twins(rows, weighted):
    s, y, w = [r[0] for r in rows], [int(r[1]) for r in rows], [float(r[2]) if weighted else 1.0 for r in rows]
    given_weights = w if weighted else None

    def close(ours, twin):
        assert (ours is None) == (twin is None)
        assert ours is None or ours == pytest.approx(twin, rel=1e-12, abs=1e-15)

    close(stats.auroc(s, y, given_weights), reference_stats.auroc(s, y, w))
    close(stats.average_precision(s, y, given_weights), reference_stats.average_precision(s, y, w))
    close(stats.expected_calibration_error(s, y, given_weights), reference_stats.expected_calibration_error(s, y, w))
    for share in (0.1, 0.5, 1.0):
        close(stats.precision_at_coverage(s, y, share, given_weights), reference_stats.precision_at_coverage(s, y, w, share))
    total = sum(w)
    brier = sum(v * (a - b) ** 2 for a, b, v in zip(s, y, w, strict=True)) / total if total else None
    close(stats.brier(s, y, given_weights), brier)


@pytest.mark.parametrize("positives", [3, 150])
def test_score_draws_equal_the_metrics_of_the_resample(positives):
    """Two scores (one with ties), weights and clusters, every draw rebuilt by hand from the twin's picks."""
    rng = np.random.default_rng(8)
    n = 300
    y = np.zeros(n, int)
    y[rng.choice(n, positives, replace=False)] = 1
    s = np.stack([rng.random(n), rng.integers(0, 11, n) / 10])
    w = rng.random(n)
    unit = np.repeat(np.arange(100), 3)
    sizes = [30, 70]
    names = ("auroc", "ap", "brier", "ece", "prevalence", "brier_gain")
    sampler = scores.ScoreSampler(s, y == 1, w, unit, strata_from(sizes), names, np.array([0.1, 0.4]))
    found = sampler.draw(seed=21, first=2, count=5, threads=1)
    for t in range(5):
        times = np.bincount(reference_stats.picks([0, 30, 100], 21, 2 + t), minlength=100)[unit]
        again = np.repeat(np.arange(n), times)
        for k in range(2):
            a, b, v = s[k][again], y[again], w[again]
            expected = [
                stats.auroc(a, b, v),
                stats.average_precision(a, b, v),
                stats.brier(a, b, v),
                stats.expected_calibration_error(a, b, v),
                (v * b).sum() / v.sum(),
                stats.brier(a, b, v) - (v * b).sum() / v.sum() * (1 - (v * b).sum() / v.sum()),
                stats.precision_at_coverage(a, b, 0.1, v),
                stats.precision_at_coverage(a, b, 0.4, v),
            ]
            for ours, value in zip(found[t, k], expected, strict=True):
                assert np.isnan(ours) if value is None else ours == pytest.approx(value, rel=1e-11)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 6), st.integers(1, 4)), min_size=1, max_size=30), st.floats(0.001, 1))
def test_quantiles_equal_the_twin(atoms, q):
    values, mass = [float(v) for v, _ in atoms], [float(m) for _, m in atoms]
    found = exact.quantiles(np.array(values), np.array([q]), np.array(mass))
    assert found[0] == reference_stats.quantile(values, mass, q)


def test_quantiles_of_many_values_equal_numpy():
    rng = np.random.default_rng(3)
    for values in (rng.normal(size=50_000), np.round(rng.normal(size=50_000), 1), rng.pareto(0.3, size=50_000), np.full(700, 0.25)):
        levels = np.array([0.0001, 0.025, 0.5, 0.975, 1.0])
        np.testing.assert_array_equal(exact.quantiles(values, levels), np.quantile(values, levels, method="inverted_cdf"))


def test_packing_never_overflows_and_refuses_what_it_cannot_hold():
    big = np.full(1000, 2**20, np.int64)
    words, fields = resample.pack([big, np.ones(1000, np.int64), big])
    assert all(f.bits >= 30 for f in fields if f != fields[1]) and words.shape[1] == 2
    found = resample.ItemSampler([big, np.ones(1000, np.int64), big], strata_from([1000])).draw(seed=0, first=0, count=3, threads=1)
    assert [c.tolist() for c in found] == [[2**20 * 1000] * 3, [1000] * 3, [2**20 * 1000] * 3]
    assert resample.pack([np.array([-1])]) is None and resample.pack([np.array([0.5])]) is None
    assert resample.pack([np.array([2**62, 2**62])]) is None


def test_lattices():
    assert joint.lattice(np.array([2, -4, 6]))[0] == 2 and joint.lattice(np.array([0, 0]))[0] == 1
    step, steps = joint.lattice(np.array([0.1, 0.3, -0.7, 0.0]))
    assert step == pytest.approx(0.1) and steps.tolist() == [1, 3, -7, 0]
    step, steps = joint.lattice(np.array([1 / 3, 0.5, 1.0]))
    assert step == pytest.approx(1 / 6) and steps.tolist() == [2, 3, 6]
    found = joint.lattice(np.array([1.0, np.sqrt(2), np.pi]))
    assert found is None or np.abs(found[1]).max() > 2**20  # no small lattice


def i64(*values):
    return np.array(values, np.int64)


def multinomial(**changes):
    arguments = dict(offsets=i64(0, 2), x=i64(1, 0), d=i64(1, 1), count=i64(3, 4), x_scale=np.ones(1), d_scale=np.ones(1), max_cost=1e9)
    return core.Multinomial(**(arguments | changes))


def score_kernel(**changes):
    arguments = dict(
        offsets=i64(0, 2),
        unit=i64(0, 1),
        outcome=np.array([0, 1], np.uint8),
        weight=np.zeros(0),
        scores=np.ones((1, 2)),
        calibrated=np.array([True]),
    )
    return core.Scores(**(arguments | changes))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: core.mcnemar_exact(b=i64(1), c=i64(1, 2)), "b and c must be"),
        (lambda: core.clopper_pearson(k=i64(1), n=i64(1, 2), confidence=0.9), "k and n must be"),
        (lambda: core.exact_law(offsets=i64(0), x=i64(), d=i64(), count=i64()), "at least two entries"),
        (lambda: core.exact_law(offsets=i64(0, 2, 1), x=i64(1), d=i64(1), count=i64(1)), "must not fall"),
        (lambda: core.exact_sum(offsets=i64(0, 2), value=i64(1), count=i64(1)), "must run from 0 to the number of cells"),
        (lambda: core.quantiles(values=np.zeros(0), mass=np.zeros(0), levels=np.ones(1)), "values must hold 1 to"),
        (
            lambda: core.resample_sums(offsets=i64(0, 3), values=np.ones((2, 1)), seed=0, first=0, count=1, threads=1),
            "must run from 0 to the number of units",
        ),
        (lambda: core.resample_sums(offsets=i64(0, 2), values=np.ones(2), seed=0, first=0, count=1, threads=1), "units, columns"),
        (lambda: multinomial(x_scale=np.ones(2)), "one scale per stratum"),
        (lambda: multinomial(d=i64(1)), "equal length"),
        (lambda: multinomial().tally(seed=0, first=0, count=2**32, threads=1), "count must be an integer from 0 to 4294967295"),
        (lambda: score_kernel(offsets=i64(0, 1)), r"unit\[1\] must be 0 or more and below"),
        (lambda: score_kernel(offsets=i64(1, 2)), "must run from 0"),
        (lambda: score_kernel(offsets=i64(0, 3, 2)), "must not fall"),
        (lambda: score_kernel(weight=np.ones(1)), "one value per item"),
        (lambda: score_kernel(scores=np.ones((1, 3))), "scores, items"),
        (lambda: core.signflip_law(magnitude=i64(-1)), "at least 0"),
    ],
)
def test_the_extension_refuses_what_does_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
