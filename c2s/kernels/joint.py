"""From arrays to cells: what a stratum holds, counted. A cell is a distinct contribution of a unit to the totals of a draw."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError

INT = NDArray[np.int64]
FLOAT = NDArray[np.float64]
NUMBERS = NDArray[Any]
"""int64 or float64, as `numbers` makes them; booleans too where a function says so."""
Labels = ArrayLike | Sequence[Hashable]
"""One label per item: integers, strings, tuples, or the rows of a 2-D array."""

_LATTICE_SLACK = 1e-9  # of the largest value: how far a float may lie from its lattice point
_LATTICE_LIMIT = 2**31  # steps of the lattice up to the largest value; beyond it, a common step is an accident of rounding


@dataclass(frozen=True, slots=True)
class Strata:
    """Units in strata: `index[i]` is the stratum of unit i, `sizes[s]` its number of units, `labels[s]` its name."""

    index: INT
    sizes: INT
    labels: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class RatioCells:
    """Integer cells by stratum, as the exact and the multinomial kernel take them (flattened; see `c2s_core/exact.hpp`).

    The numerator is `x_unit * x`, the denominator `d_unit * d`.
    """

    offsets: INT
    x: INT
    d: INT
    count: INT
    x_unit: float = 1.0
    d_unit: float = 1.0


def flags(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    """Zeros and ones, or booleans, of shape [n], as a boolean array. Anything else, NaN included, is an InputError."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name}: shape {array.shape} instead of [n]; give one 0 or 1 per item")
    if array.dtype.kind == "b" or array.size == 0:
        return array.astype(np.bool_, copy=False)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name}: dtype {array.dtype} is not boolean or numeric; give one 0 or 1 per item")
    out: NDArray[np.bool_] = array == 1
    bad = ~(out | (array == 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"{name}[{at}] = {array[at]} is neither 0 nor 1")
    return out


def numbers(name: str, values: ArrayLike, ndim: int = 1) -> NUMBERS:
    """Finite numbers with `ndim` dimensions: integers and booleans as int64, floats as float64. Otherwise InputError."""
    array = np.asarray(values)
    shape = "[n]" if ndim == 1 else "[k, n]"
    if array.ndim != ndim:
        raise InputError(f"{name}: shape {array.shape} instead of {shape}")
    if array.dtype.kind in "bi" or array.size == 0:
        return array.astype(np.int64, copy=False) if array.size else array.astype(np.int64)
    if array.dtype.kind == "u":
        if array.max() > np.iinfo(np.int64).max:
            raise InputError(f"{name}: {array.max()} does not fit into a signed 64-bit integer")
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        raise InputError(f"{name}: dtype {array.dtype} is not numeric")
    bad = ~np.isfinite(array)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        spelled = ", ".join(map(str, at))
        raise InputError(f"{name}[{spelled}] = {array[at]} is not finite; leave undefined items out or mend them first")
    return array.astype(np.float64, copy=False)


def same_length(**arrays: Sized) -> int:
    """The common length; InputError names two arrays that differ."""
    (first, a), *rest = arrays.items()
    for name, b in rest:
        if len(a) != len(b):
            raise InputError(f"{first} has {len(a)} items and {name} has {len(b)}: give paired arrays of equal length")
    return len(a)


def codes(name: str, labels: Labels, n: int) -> tuple[INT, tuple[Hashable, ...]]:
    """Numbers 0..k-1 for the distinct labels, in sorted order (by text where they cannot be compared), and those labels."""
    array = labels if isinstance(labels, np.ndarray) else None
    listed: list[Any] = [] if array is not None else list(cast("Iterable[Any]", labels))
    if listed and all(type(label) is int for label in listed):
        array = np.asarray(listed)
    count = len(listed) if array is None else len(array)
    if count != n:
        raise InputError(f"{name} has {count} entries for {n} items: give one per item")
    if array is not None and array.ndim == 1 and array.dtype.kind in "biuSU":
        if array.dtype.kind in "iu" and n and array.min() >= 0 and array.max() < 4096:
            seen = np.bincount(array, minlength=1) > 0
            return (np.cumsum(seen) - 1)[array], tuple(np.flatnonzero(seen).tolist())
        distinct, index = np.unique(array, return_inverse=True)
        return index.astype(np.int64, copy=False), tuple(distinct.tolist())
    if array is not None:
        listed = [tuple(row) for row in array.tolist()] if array.ndim == 2 else array.tolist()
    try:
        names = dict.fromkeys(listed)
    except TypeError as error:
        raise InputError(f"{name}: labels must be hashable ({error})") from error
    if any(label != label for label in names):
        raise InputError(f"{name}: a label is NaN")
    try:
        ordered = sorted(names)
    except TypeError:
        ordered = sorted(names, key=lambda label: (type(label).__name__, repr(label)))
    number = {label: i for i, label in enumerate(ordered)}
    return np.fromiter((number[label] for label in listed), np.int64, n), tuple(ordered)


def strata_of(strata: Labels | None, n: int) -> Strata:
    """The strata of n items; None means one stratum. Labels may be integers, strings, tuples, or rows of a 2-D array."""
    if strata is None:
        return Strata(np.zeros(n, np.int64), np.array([n], np.int64), (None,))
    index, labels = codes("strata", strata, n)
    return Strata(index, np.bincount(index, minlength=len(labels)).astype(np.int64, copy=False), labels)


def joint_cells(both: NDArray[np.bool_], base: NDArray[np.bool_], strata: Strata) -> RatioCells:
    """Cells of a ratio of counts: numerator 1 where `both`, denominator 1 where `base` (`both` implies `base`)."""
    k = len(strata.sizes)
    code = strata.index * 3 + both + base
    count = np.bincount(code, minlength=3 * k).astype(np.int64, copy=False)
    keep = count > 0
    offsets = np.zeros(k + 1, np.int64)
    np.cumsum(keep.reshape(k, 3).sum(axis=1), out=offsets[1:])
    x = np.tile(np.array([0, 0, 1], np.int64), k)[keep]
    d = np.tile(np.array([0, 1, 1], np.int64), k)[keep]
    return RatioCells(offsets, x, d, count[keep])


def lattice(values: NUMBERS) -> tuple[float, INT] | None:
    """A step u and integers k with values = u * k (floats: to 1e-9 of the largest), the coarsest one; None if there is none."""
    if values.dtype.kind == "i":
        divisor = int(np.gcd.reduce(np.abs(values))) if values.size else 0
        return (float(divisor), values // divisor) if divisor else (1.0, values)
    distinct = np.unique(np.abs(values))
    largest = float(distinct[-1]) if distinct.size else 0.0
    if largest == 0.0:
        return 1.0, np.zeros(values.shape, np.int64)
    slack = _LATTICE_SLACK * largest
    step = 0.0
    for value in distinct[distinct > slack].tolist():
        a, b = value, step
        while b > slack:
            a, b = b, min(a % b, abs(b - a % b))
        step = a
        if largest / step > _LATTICE_LIMIT:
            return None
    steps = np.rint(values / step)
    step = float(largest / np.abs(steps).max())
    if np.abs(values - step * steps).max() > slack:
        return None
    return step, steps.astype(np.int64)


def ratio_cells(x: INT, d: INT, strata: Strata, x_unit: float = 1.0, d_unit: float = 1.0) -> RatioCells:
    """Cells of units that add the integers (x, d)."""
    if len(x) == 0:
        empty = np.zeros(0, np.int64)
        return RatioCells(np.zeros(len(strata.sizes) + 1, np.int64), empty, empty, empty, x_unit, d_unit)
    order = np.lexsort((d, x, strata.index))
    s, x, d = strata.index[order], x[order], d[order]
    new = np.ones(len(s), bool)
    new[1:] = (s[1:] != s[:-1]) | (x[1:] != x[:-1]) | (d[1:] != d[:-1])
    first = np.flatnonzero(new)
    count = np.diff(np.append(first, len(s)))
    offsets = np.searchsorted(s[first], np.arange(len(strata.sizes) + 1)).astype(np.int64)
    return RatioCells(offsets, x[first], d[first], count.astype(np.int64), x_unit, d_unit)
