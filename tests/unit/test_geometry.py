"""Candidate geometry: the paper's figures, the twin, and every refusal."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from c2s.errors import InputError
from c2s.kernels import reference
from c2s.kernels.geometry import CARTESIAN_LIMIT, candidate_geometry, encode_candidates, geometry_of

FIGURE_1 = ["585", "589", "385", "389", "485", "489", "685", "689"]


def assert_equal_twin(candidates, gold):
    found, expected = candidate_geometry(candidates, gold), reference.candidate_geometry(candidates, gold)
    for field in fields(found):
        value, twin = getattr(found, field.name), getattr(expected, field.name)
        assert value.dtype == twin.dtype and value.shape == twin.shape, field.name
        if value.dtype == np.float64:
            np.testing.assert_allclose(value, twin, rtol=1e-12, atol=1e-12, err_msg=field.name)
        else:
            np.testing.assert_array_equal(value, twin, err_msg=field.name)


def test_figure_1_of_the_paper():
    g = geometry_of(FIGURE_1, "585")
    assert g.k.tolist() == [[8, 2, 2, 1]]
    assert g.entropy.tolist() == [[3.0, 1.0, 1.0, 0.0]]
    assert g.first_unique.tolist() == [3]
    assert g.mean_entropy.tolist() == [5 / 3]
    assert g.branch_entropy.tolist() == [[2.0, 0.0, 1.0]]
    assert g.union_size.tolist() == [[4, 1, 2]]
    assert g.forced.tolist() == [[False, True, False]]
    assert g.cartesian.tolist() == [8]


@pytest.mark.parametrize("length", range(3, 9))
def test_arithmetic_construction_has_the_supports_of_table_d7(length):
    """Four first digits times two digits at position d: mean union 1 + 4/L, L - 2 forced, Cartesian support 8."""
    for d in range(2, length + 1):
        middle = "1234567"[: length - 1]
        sets = [[first + middle[: d - 2] + s + middle[d - 1 :] for first in "2579" for s in "08"]]
        g = candidate_geometry(encode_candidates(sets), [3])
        assert g.k[0].tolist() == [8] + [2] * (d - 1) + [1] * (length - d + 1)
        assert g.union_size[0].mean() == pytest.approx(1 + 4 / length, abs=1e-12)
        assert int(g.forced[0].sum()) == length - 2
        assert int(g.cartesian[0]) == 8
        assert g.mean_entropy[0] == pytest.approx((3 + d - 1) / length, abs=1e-12)
        assert int(g.first_unique[0]) == d


@given(st.data())
def test_random_sets_equal_the_twin(data):
    n, m, length = (data.draw(st.integers(low, high)) for low, high in ((0, 4), (1, 10), (1, 6)))
    largest = data.draw(st.sampled_from([1, 2, 25, 255]))
    sets = data.draw(hnp.arrays(np.uint8, (n, m, length), elements=st.integers(0, largest)))
    gold = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, m - 1)))
    assert_equal_twin(sets, gold)


def test_random_words_equal_the_twin():
    rng = np.random.default_rng(20261005)
    for length in range(3, 13):
        sets = rng.integers(97, 97 + 6, (50, 8, length))
        assert_equal_twin(sets, rng.integers(0, 8, 50))


def test_order_of_the_candidates_changes_no_bit():
    rng = np.random.default_rng(7)
    sets = rng.integers(97, 101, (200, 11, 5))
    gold = rng.integers(0, 11, 200)
    order = rng.permutation(11)
    a, b = candidate_geometry(sets, gold), candidate_geometry(sets[:, order], np.argsort(order)[gold])
    for field in fields(a):
        np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))


def test_repeated_gold_is_never_unique():
    g = geometry_of(["ab", "ab", "cd"], "ab")
    assert (g.first_unique.tolist(), g.k.tolist()) == ([-1], [[3, 2, 2]])


def test_a_single_candidate_is_unique_from_the_start():
    g = geometry_of(["ab"], "ab")
    assert (g.first_unique.tolist(), g.mean_entropy.tolist(), g.cartesian.tolist()) == ([0], [0.0], [1])


def test_largest_set_and_saturated_product():
    wide = np.repeat(np.arange(255, dtype=np.uint8)[:, None], 9, axis=1)[None]
    g = candidate_geometry(wide, [0])
    assert g.cartesian.tolist() == [CARTESIAN_LIMIT]
    assert candidate_geometry(wide[:, :, :8], [0]).cartesian.tolist() == [255**8]
    assert_equal_twin(wide, np.array([254]))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.uint32, ">u2"])
def test_any_integer_type_and_layout(dtype):
    sets = encode_candidates([FIGURE_1, FIGURE_1[::-1]])
    expected = candidate_geometry(sets, [0, 7]).k
    wide = np.asfortranarray(sets.astype(dtype))
    np.testing.assert_array_equal(candidate_geometry(wide, np.array([0, 7], dtype=dtype)).k, expected)
    np.testing.assert_array_equal(candidate_geometry(wide[::-1], [7, 0]).k, expected[::-1])


def test_empty_batch():
    g = candidate_geometry(np.zeros((0, 8, 3), dtype=np.uint8), [])
    assert (g.k.shape, g.union_size.shape, g.cartesian.shape) == ((0, 4), (0, 3), (0,))


def zeros(*shape):
    return np.zeros(shape, dtype=np.uint8)


@pytest.mark.parametrize(
    ("candidates", "gold", "message"),
    [
        (zeros(2, 8, 3), [0, 8], "gold[1] = 8 is not an index into 8 candidates"),
        (zeros(2, 8, 3), [-1, 8], "gold[0] = -1 is not an index into 8 candidates"),
        (zeros(2, 8, 3), [0], "candidates has 2 entries and gold has 1: give as many of both"),
        (zeros(2, 0, 3), [0, 0], "candidates: 0 in each set; give 1 to 255"),
        (zeros(1, 256, 3), [0], "candidates: 256 in each set; give 1 to 255"),
        (zeros(2, 8, 0), [0, 0], "candidates: length 0; give strings of at least one character"),
        (zeros(8, 3), [0], "candidates: shape (8, 3) instead of [n, m, L]"),
        (zeros(2, 8, 3), [[0, 0]], "gold: shape (1, 2) instead of [n]"),
        (zeros(2, 8, 3), [0.0, 1.0], "gold: dtype float64 is not an integer type; give integers of shape [n]"),
        ([["ab", "cd"]], [0], "candidates: dtype <U2 is not an integer type; give integers of shape [n, m, L]"),
        ([[[1, 2], [3, 256]]], [0], "candidates[0, 1, 1] = 256 is outside 0 to 255"),
        ([[[1, 2], [-3, 2]]], [0], "candidates[0, 1, 0] = -3 is outside 0 to 255"),
        (zeros(1, 2, 2), np.array([2**63], dtype=np.uint64), f"gold[0] = {2**63} is outside {-(2**63)} to {2**63 - 1}"),
    ],
)
def test_refused_arrays(candidates, gold, message):
    with pytest.raises(InputError) as error:
        candidate_geometry(candidates, gold)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([["ab", "cd"], ["ab"]], "set 1 has 1 candidates, set 0 has 2: give sets of one size"),
        ([["ab", "cde"]], "set 0: 'cde' has 3 characters, the first candidate has 2"),
        ([["ab", "cé"]], "set 0: 'cé' is not ASCII"),
        (["ab"], "set 0 is the string 'ab': give a list of candidates"),
    ],
)
def test_refused_strings(sets, message):
    with pytest.raises(InputError) as error:
        encode_candidates(sets)
    assert str(error.value) == message


def test_gold_must_be_a_candidate():
    with pytest.raises(InputError) as error:
        geometry_of(["ab", "cd"], "ef")
    assert str(error.value) == "the gold 'ef' is not among the candidates 'ab', 'cd'"


def test_encoding():
    assert encode_candidates([["ab", "cd"]]).tolist() == [[[97, 98], [99, 100]]]
    assert encode_candidates([]).shape == (0, 0, 0)
