"""Carries of grade-school multiplication (paper A.2; protocol 1.1).

The longer, then larger, operand stands on top; one row per digit of the other, least significant first. Column j of a row
has the outgoing carry floor((top_j * digit + c) / 10), the last column included. If there is more than one row, the shifted rows
are added column by column over the width of the widest row, with one outgoing carry per column. Operands are at least 1
and their product is below 2**64.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import _arrays
from c2s.kernels._load import core

_LIMIT = 2**64


@dataclass(frozen=True, slots=True)
class CarryCounts:
    """Counts for a batch of n pairs, each an int32 array of shape [n]."""

    multiplication_carries: NDArray[np.int32]
    """Positive outgoing carries in all rows."""
    addition_carries: NDArray[np.int32]
    """Positive outgoing carries in the summation."""
    carries: NDArray[np.int32]
    """Both together."""
    chain: NDArray[np.int32]
    """Longest run of consecutive positive carries inside one row or inside the summation."""
    elementary: NDArray[np.int32]
    """Single-digit multiplications."""
    digits: NDArray[np.int32]
    """Digits of the product."""


@dataclass(frozen=True, slots=True)
class CarryTrace:
    """Everything the simulation of one pair leaves. Columns and digits run from the least significant one."""

    top: int
    bottom: int
    product: int
    """The number that the simulated columns spell; equal to top * bottom."""
    rows: list[list[int]]
    """Outgoing carries, one list per digit of `bottom`, one entry per digit of `top`."""
    summation: list[int]
    """Outgoing carries of the summation; empty when there is one row."""
    multiplication_carries: int
    addition_carries: int
    carries: int
    chain: int
    elementary: int
    digits: int


def carry_counts(a: ArrayLike, b: ArrayLike) -> CarryCounts:
    """Carry counts of the pairs (a[i], b[i]); the order of the operands does not matter.

    `a`, `b`: integers of shape [n] (from 2**63 on as uint64 arrays). InputError for another shape or type, an operand below 1, or
    a product of 2**64 or more; the message names the index.
    """
    left = _arrays.as_dtype("a", _arrays.as_array("a", a, 1, "[n]"), np.uint64)
    right = _arrays.as_dtype("b", _arrays.as_array("b", b, 1, "[n]"), np.uint64)
    _arrays.same_length("a", left, "b", right)
    try:
        return CarryCounts(*core.carry_counts(a=left, b=right))
    except ValueError:
        for i, (x, y) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if x < 1 or y < 1 or x * y >= _LIMIT:
                _reject(x, y, f" at index {i}")
        raise


def carry_trace(a: int, b: int) -> CarryTrace:
    """The full trace of one pair. InputError as for `carry_counts`."""
    try:
        left, right = operator.index(a), operator.index(b)
    except TypeError as error:
        raise InputError(f"operands {a!r} and {b!r}: give two integers") from error
    if left < 1 or right < 1 or left * right >= _LIMIT:
        _reject(left, right, "")
    top, bottom, rows, summation, product, multiplication, addition, chain, elementary, digits = core.carry_trace(a=left, b=right)
    return CarryTrace(
        top=top,
        bottom=bottom,
        product=int("".join(map(str, reversed(product)))),
        rows=rows,
        summation=summation,
        multiplication_carries=multiplication,
        addition_carries=addition,
        carries=multiplication + addition,
        chain=chain,
        elementary=elementary,
        digits=digits,
    )


def _reject(a: int, b: int, where: str) -> None:
    if a < 1 or b < 1:
        raise InputError(f"operands {a} and {b}{where}: both must be at least 1")
    raise InputError(f"operands {a} and {b}{where}: the product must be below 2**64")
