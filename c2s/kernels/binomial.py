"""Exact binomial tests and intervals, singly or by the array (see `c2s_core/binomial.hpp`, `c2s_core/mcnemar.hpp`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c2s.errors import InputError
from c2s.kernels._load import core
from c2s.kernels.joint import FLOAT, INT


def counts(name: str, values: ArrayLike) -> INT:
    """Integers from 0 to 2**53 - 1, of any shape, as int64."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"{name}: dtype {array.dtype} is not an integer type; give counts")
    if array.size and (array.min() < 0 or array.max() >= 2**53):
        raise InputError(f"{name}: counts must be at least 0 and below 2**53, got {array.min()} to {array.max()}")
    return array.astype(np.int64, copy=False)


def mcnemar_exact(b: INT, c: INT) -> FLOAT:
    """Two-sided exact p of each pair of discordances; `b` and `c` of one shape."""
    return core.mcnemar_exact(b=b.ravel(), c=c.ravel()).reshape(b.shape)


def clopper_pearson(k: INT, n: INT, confidence: float) -> tuple[FLOAT, FLOAT]:
    """Lower and upper bounds; 0 <= k <= n, n >= 1, of one shape."""
    low, high = core.clopper_pearson(k=k.ravel(), n=n.ravel(), confidence=confidence)
    return low.reshape(k.shape), high.reshape(k.shape)
