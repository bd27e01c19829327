"""Carry simulation: the paper's example, the twin, the census of operand pairs, and every refusal."""

from __future__ import annotations

from dataclasses import asdict, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.errors import InputError
from c2s.kernels import reference
from c2s.kernels.carry import carry_counts, carry_trace

NAMES = ("multiplication_carries", "addition_carries", "carries", "chain", "elementary", "digits")


def assert_counts_equal_twin(a, b):
    found, expected = carry_counts(a, b), reference.carry_counts(a, b)
    for field in fields(found):
        value = getattr(found, field.name)
        assert value.dtype == np.int32
        np.testing.assert_array_equal(value, getattr(expected, field.name), err_msg=field.name)


def test_example_of_the_protocol():
    trace = carry_trace(39, 15)
    assert trace.rows == [[4, 1], [0, 0]]
    assert trace.summation == [0, 1, 0]
    assert (trace.carries, trace.chain, trace.product) == (3, 2, 585)
    assert (trace.multiplication_carries, trace.addition_carries, trace.elementary, trace.digits) == (2, 1, 4, 3)
    assert carry_trace(15, 39) == trace


def test_one_row_has_no_summation():
    trace = carry_trace(7, 86)
    assert (trace.top, trace.bottom, trace.rows, trace.summation) == (86, 7, [[4, 6]], [])
    assert trace.product == 602


def test_the_longer_then_larger_operand_is_on_top():
    assert (carry_trace(99, 100).top, carry_trace(98, 99).top) == (100, 99)


def test_chain_is_reset_between_rows_and_summation():
    # 95 x 11: rows without carries, the summation carries in its last two columns.
    trace = carry_trace(95, 11)
    assert (trace.rows, trace.summation, trace.chain) == ([[0, 0], [0, 0]], [0, 1, 1], 2)
    # 99 x 99 carries in every column of both rows: the chain is still only a row long.
    assert carry_trace(99, 99).chain == 2


def test_every_small_pair_equals_the_twin():
    a, b = (x.ravel() for x in np.meshgrid(np.arange(1, 131), np.arange(1, 131)))
    assert_counts_equal_twin(a, b)
    for x, y in zip(a[::7].tolist(), b[::7].tolist(), strict=True):
        assert carry_trace(x, y) == reference.carry_trace(x, y)


@given(st.lists(st.tuples(st.integers(1, 2**63), st.integers(1, 2**64 - 1)), max_size=20))
def test_random_pairs_equal_the_twin(pairs):
    pairs = [(a, min(b, (2**64 - 1) // a)) for a, b in pairs]
    a, b = (np.array([pair[i] for pair in pairs], dtype=np.uint64) for i in (0, 1))
    assert_counts_equal_twin(a, b)
    for x, y in pairs:
        trace = carry_trace(x, y)
        assert asdict(trace) == asdict(reference.carry_trace(x, y))
        assert trace.product == x * y
        assert trace.digits == len(str(x * y))


def census(length):
    """Every unordered pair of operands >= 2 whose product has `length` digits, as (larger, smaller)."""
    low, high = 10 ** (length - 1), 10**length - 1
    parts = []
    for small in range(2, int(high**0.5) + 1):
        larger = np.arange(max(small, -(-low // small)), high // small + 1)
        parts.append(np.column_stack([larger, np.full(len(larger), small)]))
    return np.concatenate(parts).astype(np.uint64)


@pytest.mark.parametrize(
    ("length", "structure", "pairs", "median", "largest", "above"),
    [
        (3, "balanced", 1_370, 2, 4, 0.138),
        (3, "unbalanced", 1_031, 1, 2, 0.381),
        (4, "balanced", 17_868, 3, 7, 0.430),
        (4, "unbalanced", 16_461, 2, 3, 0.399),
        (5, "balanced", 137_158, 5, 11, 0.499),
        (5, "unbalanced", 309_486, 3, 10, 0.453),
    ],
)
def test_census_of_operand_pairs(length, structure, pairs, median, largest, above):
    """Counted independently before this project began (shared/spec/ITEMS.md)."""
    operands = census(length)
    digits = np.char.str_len(operands.astype(str))
    balanced = np.abs(digits[:, 0] - digits[:, 1]) <= 1
    operands = operands[balanced if structure == "balanced" else ~balanced]
    counts = carry_counts(operands[:, 0], operands[:, 1])
    assert len(operands) == pairs
    assert np.all(counts.digits == length)
    assert np.median(counts.carries) == median
    assert counts.carries.max() == largest
    assert round(float((counts.carries > median).mean()), 3) == above


def test_largest_operands():
    assert carry_trace(2**64 - 1, 1).product == 2**64 - 1
    assert carry_trace(2**32 - 1, 2**32 - 1).product == (2**32 - 1) ** 2
    assert carry_counts([2**64 - 1], [1]).digits.tolist() == [20]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64, np.uint64, ">i4"])
def test_any_integer_type_and_layout(dtype):
    a = np.array([39, 99, 7, 12, 125, 3], dtype=dtype)
    b = np.array([15, 99, 86, 12, 8, 3], dtype=dtype)
    expected = carry_counts(a.tolist(), b.tolist())
    for left, right in [(a, b), (a[::-1], b[::-1]), (np.repeat(a, 2)[::2], np.column_stack([b, b])[:, 0])]:
        found = carry_counts(left, right).carries
        np.testing.assert_array_equal(found, expected.carries[::-1] if left[0] == 3 else expected.carries)


def test_read_only_input_and_numpy_scalars():
    a = np.array([39], dtype=np.uint64)
    a.flags.writeable = False
    assert carry_counts(a, a).carries.tolist() == [carry_trace(np.int64(39), np.uint8(39)).carries]


def test_empty_batch():
    for empty in ([], np.array([], dtype=np.uint64)):
        counts = carry_counts(empty, empty)
        assert all(getattr(counts, name).shape == (0,) for name in NAMES)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 2], [3], "a has 2 entries and b has 1: give as many of both"),
        ([3, 0, 4], [3, 5, 4], "operands 0 and 5 at index 1: both must be at least 1"),
        ([3, 5], [3, 0], "operands 5 and 0 at index 1: both must be at least 1"),
        (np.array([3, 2**63], dtype=np.uint64), [3, 2], f"operands {2**63} and 2 at index 1: the product must be below 2**64"),
        ([3, -5], [3, 5], "a[1] = -5 is outside 0 to 18446744073709551615"),
        ([3.0], [3], "a: dtype float64 is not an integer type; give integers of shape [n]"),
        ([3], ["3"], "b: dtype <U1 is not an integer type; give integers of shape [n]"),
        ([2**64], [3], "a: dtype object is not an integer type; give integers of shape [n]"),
        ([True], [3], "a: dtype bool is not an integer type; give integers of shape [n]"),
        (39, 15, "a: shape () instead of [n]"),
        ([[39]], [15], "a: shape (1, 1) instead of [n]"),
        ([[39], [1, 2]], [15], "a: not a rectangular array; give integers of shape [n]"),
    ],
)
def test_refused_batches(a, b, message):
    with pytest.raises(InputError) as error:
        carry_counts(a, b)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (0, 5, "operands 0 and 5: both must be at least 1"),
        (5, -1, "operands 5 and -1: both must be at least 1"),
        (2**70, 1, f"operands {2**70} and 1: the product must be below 2**64"),
        (2**32, 2**32, f"operands {2**32} and {2**32}: the product must be below 2**64"),
        (3.0, 5, "operands 3.0 and 5: give two integers"),
        ("3", 5, "operands '3' and 5: give two integers"),
    ],
)
def test_refused_traces(a, b, message):
    with pytest.raises(InputError) as error:
        carry_trace(a, b)
    assert str(error.value) == message
