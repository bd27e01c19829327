"""Speed of the kernels beside their plain-Python twins. Every timed call's answer is checked.

    pytest bench -o python_files='bench_*.py' --benchmark-json=build/bench.json

The project's budgets are asserted: carry simulation under 100 ns a pair, geometry of 100,000 candidate sets under 60 ms. The
light support call is held to 3 us and the check at import to 5 ms.
"""

from __future__ import annotations

from dataclasses import fields
from time import perf_counter

import numpy as np
import pytest

import c2s
from c2s.kernels import _load, reference
from c2s.kernels.carry import carry_counts
from c2s.kernels.geometry import candidate_geometry
from c2s.kernels.support import SupportKind, support, support_masks

SEED = 20261005


def seconds_of(call):
    start = perf_counter()
    call()
    return perf_counter() - start


def median_seconds(benchmark):
    if benchmark.stats is None:
        pytest.skip("answers checked, timing is disabled")
    return benchmark.stats.stats.median


def tell(capsys, benchmark, text, **numbers):
    benchmark.extra_info.update(numbers)
    with capsys.disabled():
        print(f"\n  {text}", end="")


def pairs_of_length(length, n):
    """n pairs drawn uniformly over all unordered pairs of operands >= 2 whose product has `length` digits."""
    rng = np.random.default_rng([SEED, length])
    low, high = 10 ** (length - 1), 10**length - 1
    small = np.arange(2, int(high**0.5) + 1)
    first = np.maximum(small, -(-low // small))
    count = high // small - first + 1
    chosen = rng.choice(len(small), size=n, p=count / count.sum())
    return first[chosen] + rng.integers(0, count[chosen]), small[chosen]


@pytest.mark.parametrize("length", range(3, 9))
def test_carry(benchmark, capsys, length):
    n, few = 200_000, 500
    a, b = (x.astype(np.uint64) for x in pairs_of_length(length, n))
    counts = benchmark(carry_counts, a, b)
    assert np.all(counts.digits == length)
    twin = reference.carry_counts(a[:few], b[:few])
    for field in fields(twin):
        np.testing.assert_array_equal(getattr(counts, field.name)[:few], getattr(twin, field.name))
    pair = median_seconds(benchmark) / n
    ratio = seconds_of(lambda: reference.carry_counts(a[:few], b[:few])) / few / pair
    tell(
        capsys,
        benchmark,
        f"length {length}: {pair * 1e9:.1f} ns a pair, twin x {ratio:.0f}",
        ns_per_pair=pair * 1e9,
        twin_ratio=ratio,
    )
    assert pair < 100e-9


def candidate_sets(n, length):
    """Four initials, two words each, like the bank's sets; the second of each two branches off at a random position."""
    rng = np.random.default_rng([SEED, length])
    initials = rng.permuted(np.tile(np.arange(97, 123), (n, 1)), axis=1)[:, :4]
    sets = rng.integers(97, 123, (n, 8, length))
    sets[:, :, 0] = np.repeat(initials, 2, axis=1)
    shared = rng.random((n, 4, 1)) < 0.2
    sets[:, 1::2, 1:2] = np.where(shared, sets[:, 0::2, 1:2], sets[:, 1::2, 1:2])
    return sets.astype(np.uint8), rng.integers(0, 8, n)


def test_geometry_of_100_000_sets(benchmark, capsys):
    n, few = 100_000, 60
    sizes = [n // 6 + (i < n % 6) for i in range(6)]
    batches = [candidate_sets(size, length) for size, length in zip(sizes, range(3, 9), strict=True)]
    assert sum(len(gold) for _, gold in batches) == n
    found = benchmark(lambda: [candidate_geometry(sets, gold) for sets, gold in batches])
    twin_seconds = 0.0
    for (sets, gold), geometry in zip(batches, found, strict=True):
        start = perf_counter()
        twin = reference.candidate_geometry(sets[:few], gold[:few])
        twin_seconds += perf_counter() - start
        for field in fields(twin):
            np.testing.assert_allclose(
                getattr(geometry, field.name)[:few], getattr(twin, field.name), rtol=1e-12, atol=1e-12, err_msg=field.name
            )
        assert np.all(geometry.k[:, 0] == 8) and np.all(geometry.union_size[:, 0] == 4)
    total = median_seconds(benchmark)
    ratio = twin_seconds / (6 * few) / (total / n)
    tell(
        capsys,
        benchmark,
        f"100,000 sets: {total * 1e3:.1f} ms, twin x {ratio:.0f}",
        milliseconds=total * 1e3,
        twin_ratio=ratio,
    )
    assert total < 60e-3


LETTERS = "abcdefghijklmnopqrstuvwxyz"
CANDIDATES = ["apple", "angle", "bread", "broom", "chair", "cheek", "drain", "dream"]


@pytest.mark.parametrize("kind", list(SupportKind))
def test_support_of_one_prefix(benchmark, capsys, kind):
    mask = benchmark(support, CANDIDATES, "dr", kind, LETTERS)
    assert mask == reference.support(CANDIDATES, "dr", kind, LETTERS)
    call = median_seconds(benchmark)
    ratio = seconds_of(lambda: [reference.support(CANDIDATES, "dr", kind, LETTERS) for _ in range(1000)]) / 1000 / call
    tell(
        capsys,
        benchmark,
        f"{kind}: {call * 1e6:.2f} us, twin x {ratio:.1f}",
        microseconds=call * 1e6,
        twin_ratio=ratio,
    )
    assert call < 3e-6


def test_support_of_many_prefixes(benchmark, capsys):
    n = 10_000
    sets, gold = candidate_sets(n, 6)
    words = [[bytes(c).decode() for c in s] for s in sets]
    prefixes = [words[i][gold[i]][: i % 6] for i in range(n)]
    masks = benchmark(support_masks, sets, prefixes, SupportKind.TRIE, LETTERS)
    np.testing.assert_array_equal(masks, reference.support_masks(words, prefixes, "trie", LETTERS))
    one = median_seconds(benchmark) / n
    ratio = seconds_of(lambda: reference.support_masks(words, prefixes, "trie", LETTERS)) / n / one
    tell(
        capsys,
        benchmark,
        f"trie: {one * 1e9:.0f} ns a prefix, twin x {ratio:.0f}",
        ns_per_prefix=one * 1e9,
        twin_ratio=ratio,
    )


def test_check_at_import(benchmark, capsys):
    benchmark(_load.check, _load.core, _load._PACKAGE, c2s.__version__)
    call = median_seconds(benchmark)
    tell(capsys, benchmark, f"check at import: {call * 1e3:.2f} ms", milliseconds=call * 1e3)
    assert call < 5e-3
