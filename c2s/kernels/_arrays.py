"""What every kernel asks of an array: the right kind of number, the right shape, C order. All checks and messages stand here."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError

Whole = TypeVar("Whole", bound=np.integer[Any])


def as_array(name: str, value: ArrayLike, ndim: int, shape: str) -> NDArray[np.integer[Any]]:
    """`value` as an integer array of `ndim` dimensions; `shape` is how the message spells what was expected."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged nested lists
        raise InputError(f"{name}: not a rectangular array; give integers of shape {shape}") from error
    if array.size == 0 and not isinstance(value, np.ndarray):
        array = array.astype(np.int64)  # an empty list has no dtype of its own
    if array.dtype.kind not in "iu":
        raise InputError(f"{name}: dtype {array.dtype} is not an integer type; give integers of shape {shape}")
    if array.ndim != ndim:
        raise InputError(f"{name}: shape {array.shape} instead of {shape}")
    return array


def as_dtype(name: str, array: NDArray[np.integer[Any]], dtype: type[Whole]) -> NDArray[Whole]:
    """`array` as aligned C-ordered `dtype`; the first value that does not fit is named by its index."""
    limits = np.iinfo(dtype)
    if array.size and not np.can_cast(array.dtype, dtype, "safe"):
        bad = (array < limits.min) | (array > limits.max)
        if bad.any():
            index = np.unravel_index(int(np.argmax(bad)), array.shape)
            at = ", ".join(str(int(i)) for i in index)
            raise InputError(f"{name}[{at}] = {array[index]} is outside {limits.min} to {limits.max}")
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def same_length(first: str, a: Sized, second: str, b: Sized) -> None:
    """InputError, with both names, unless both have as many entries."""
    if len(a) != len(b):
        raise InputError(f"{first} has {len(a)} entries and {second} has {len(b)}: give as many of both")
