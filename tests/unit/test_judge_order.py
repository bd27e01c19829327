"""The order test: exact against enumeration, and never too ready to see an effect."""

from __future__ import annotations

import itertools
import random

import pytest

from c2s.errors import InputError
from c2s.stats.order import order_effect

PAIRINGS = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))


def statistic(row) -> float:
    a, b, c, d = row
    return ((a != c) + (a != d) + (b != c) + (b != d)) / 4 - ((a != b) + (c != d)) / 2


def enumerated(rows) -> float:
    """P(T >= observed) over all 3**n pairings."""
    observed = sum(map(statistic, rows))
    laws = [[statistic([row[i] for i in pairing]) for pairing in PAIRINGS] for row in rows]
    values = [sum(choice) for choice in itertools.product(*laws)]
    return sum(v >= observed - 1e-12 for v in values) / len(values)


def test_it_agrees_with_enumeration():
    draw = random.Random(7)
    for _ in range(40):
        rows = [[draw.choice("ab_c") for _ in range(4)] for _ in range(draw.randint(1, 6))]
        found = order_effect(rows)
        assert found.p == pytest.approx(enumerated(rows), abs=1e-12)
        assert found.excess == pytest.approx(sum(map(statistic, rows)) / len(rows))


def test_a_consistent_judge_that_order_flips_k_times_has_three_to_the_minus_k():
    for k in (0, 1, 3, 5):
        found = order_effect([["no", "no", "yes", "yes"]] * k + [["no"] * 4] * 30)
        assert found.p == pytest.approx(3.0**-k)
        assert (found.between, found.within) == (k / (30 + k), 0)


def test_noise_without_order_is_rejected_at_most_at_the_level():
    draw = random.Random(11)
    rejected = 0
    for _ in range(1000):
        rates = [draw.random() * 0.4 for _ in range(40)]
        rejected += order_effect([[draw.random() < rate for _ in range(4)] for rate in rates]).p <= 0.05
    # P(Binomial(1000, 0.05) > 77) = 0.0001: a right test fails here once in ten thousand seeds, and the seed is fixed
    assert rejected <= 77


def test_an_order_effect_under_noise_is_found():
    draw = random.Random(3)
    rows = [[draw.random() < rate for rate in (0.1, 0.1, 0.5, 0.5)] for _ in range(150)]
    assert order_effect(rows).p < 0.001


def test_edges():
    empty = order_effect([])
    assert (empty.n, empty.p, empty.excess) == (0, None, None)
    assert order_effect([["a", "a", "a", "a"]]).p == 1
    with pytest.raises(InputError, match=r"answers\[1\] has 3 entries"):
        order_effect([["a"] * 4, ["a"] * 3])
