"""Arithmetic items: the space of pairs, pools and cells, the grid of candidates, even first digits."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from c2s.bankbuild import arithmetic
from c2s.bankbuild.arithmetic import CELLS, DIGITS, deal_digits, draw_pool, grid, pair_space, select
from c2s.bankbuild.facts import arithmetic_facts, geometry_facts
from c2s.banks.keyed import Keyed
from c2s.errors import BankError
from c2s.kernels import reference

# The exact census of pairs with operands of 2 or more, counted before this project began (spec/ITEMS.md).
CENSUS = {
    (3, "balanced"): 1_370,
    (3, "unbalanced"): 1_031,
    (4, "balanced"): 17_868,
    (4, "unbalanced"): 16_461,
    (5, "balanced"): 137_158,
    (5, "unbalanced"): 309_486,
    (6, "balanced"): 1_742_330,
    (6, "unbalanced"): 3_759_647,
    (7, "balanced"): 13_710_958,
    (7, "unbalanced"): 51_667_781,
    (8, "balanced"): 173_794_134,
    (8, "unbalanced"): 583_602_378,
}


@pytest.mark.parametrize(("length", "structure"), CENSUS)
def test_the_space_of_pairs_equals_the_census(length, structure):
    space = pair_space(length, structure)
    assert space.total == CENSUS[length, structure]
    assert all(before < after for (_, _, before), (_, _, after) in pairwise(space.runs))
    for a, b in (space.at(0), space.at(space.total // 2), space.at(space.total - 1)):
        assert 2 <= a <= b and len(str(a * b)) == length
        assert (abs(len(str(a)) - len(str(b))) <= 1) == (structure == "balanced")


def test_the_space_of_pairs_equals_a_plain_enumeration():
    found = {(a, b) for a in range(2, 32) for b in range(a, 500) if 100 <= a * b <= 999}
    spaces = [pair_space(3, structure) for structure in arithmetic.STRUCTURES]
    assert {space.at(i) for space in spaces for i in range(space.total)} == found


@pytest.mark.parametrize("structure", arithmetic.STRUCTURES)
def test_pools_are_bounded_distinct_and_split_at_the_guarded_median(structure):
    small, large = draw_pool(3, structure, seed=1), draw_pool(6, structure, seed=1, size=300)
    assert len(small.pairs) == small.total and len(large.pairs) == 300
    for pool in (small, large):
        assert len(set(pool.pairs)) == len(pool.pairs)
        assert pool.carries == tuple(reference.carry_trace(a, b).carries for a, b in pool.pairs)
        assert pool.threshold == min(int(pool.median), max(pool.carries) - 1)
        cells = Counter(pool.cell(i) for i in range(len(pool.pairs)))
        assert set(cells) == {f"{structure}-low", f"{structure}-high"}
    assert draw_pool(6, structure, seed=2, size=300).pairs != large.pairs
    assert large.summary()["sha256"] == draw_pool(6, structure, seed=1, size=300).summary()["sha256"]


def test_the_threshold_leaves_a_high_side_where_the_median_is_the_maximum(monkeypatch):
    class Flat:
        carries = __import__("numpy").array([2] * 200 + [1] * 20)

    monkeypatch.setattr(arithmetic, "carry_counts", lambda a, b: Flat)
    assert draw_pool(4, "balanced", seed=1, size=220).threshold == 1


def test_the_grid_of_the_papers_figure():
    made = grid("585", 3, "346", "9")
    assert sorted(made) == ["385", "389", "485", "489", "585", "589", "685", "689"]
    facts = geometry_facts(made, "585")
    assert facts["k"] == [8, 2, 2, 1] and facts["cartesian"] == 8 and facts["forced"] == [2]
    assert [len(u) for u in facts["unions"]] == [4, 1, 2]
    assert facts == geometry_facts(made, "585", reference.candidate_geometry)


@pytest.mark.parametrize("depth", [2, 3, 4, 5])
def test_the_grid_branches_at_the_given_depth(depth):
    facts = geometry_facts(grid("12345", depth, "789", "0"), "12345")
    assert facts["k"] == [8] + [2] * (depth - 1) + [1] * (6 - depth)
    assert facts["first_unique"] == depth and facts["mean_entropy"] == pytest.approx((3 + depth - 1) / 5)


def test_facts_of_the_papers_multiplication():
    facts = arithmetic_facts(39, 15)
    assert facts["rows"] == [[4, 1], [0, 0]] and facts["summation"] == [0, 1, 0]
    assert (facts["carries"], facts["chain"], facts["elementary"]) == (3, 2, 4)
    assert (facts["multiplication_carries"], facts["addition_carries"]) == (2, 1)
    assert arithmetic_facts(300, 33)["zeros"] == 2 and arithmetic_facts(300, 33)["repeated_digits"] == 3
    assert facts == arithmetic_facts(39, 15, reference.carry_trace)


def test_first_digits_are_dealt_evenly_over_what_the_cells_have():
    supply = {(cell, digit): 20 for cell in CELLS for digit in DIGITS}
    supply |= {(cell, "1"): 0 for cell in CELLS[1:]} | {(CELLS[1], "2"): 0}
    slots = deal_digits(64, supply, Keyed(1, "x"))
    assert Counter(cell for cell, _ in slots) == dict.fromkeys(CELLS, 16)
    assert sorted(Counter(digit for _, digit in slots).values()) == [7] * 8 + [8]
    assert {cell for cell, digit in slots if digit == "1"} == {CELLS[0]}
    with pytest.raises(BankError, match="begins with 1"):
        deal_digits(64, supply | {(CELLS[0], "1"): 3}, Keyed(1, "x"))


@pytest.mark.parametrize("length", [3, 5])
def test_selection_fills_the_cells_with_different_products(length):
    depths = [2 + (i % 5 == 0) for i in range(64)]
    chosen = select(length, seed=5, test_depths=depths, dev_depths=[2] * 8)
    assert Counter(p.cell for p in chosen.test) == dict.fromkeys(CELLS, 16)
    assert Counter(p.cell for p in chosen.dev) == dict.fromkeys(CELLS, 2)
    both = [*chosen.test, *chosen.dev]
    assert len({p.a * p.b for p in both}) == len({frozenset((p.a, p.b)) for p in both}) == 72
    for product, depth in zip(chosen.test, depths, strict=True):
        assert len(set(product.candidates)) == 8 and product.target in product.candidates
        assert all(len(c) == length and c[0] != "0" for c in product.candidates)
        assert geometry_facts(product.candidates, product.target)["first_unique"] == depth
    assert {p.a < p.b for p in chosen.test} == {True, False}  # the order of the operands is drawn
    assert chosen == select(length, seed=5, test_depths=depths, dev_depths=[2] * 8)
