"""Sign-flip tests (see `c2s_core/signflip.hpp`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from c2s.kernels._load import core
from c2s.kernels.joint import FLOAT, INT

WORK_LIMIT = 2**31
"""Differences times lattice steps that the dynamic program goes through at most: about a second."""


def law(magnitude: INT) -> FLOAT:
    """P(T = t) for the sum T of the magnitudes that get a plus sign, t = 0 ... sum."""
    return core.signflip_law(magnitude=np.ascontiguousarray(magnitude, np.int64))


def sums(difference: NDArray[np.float64], *, seed: int, first: int, count: int, threads: int) -> FLOAT:
    """Sums of randomly signed differences, one per draw."""
    return core.signflip_sums(difference=np.ascontiguousarray(difference, np.float64), seed=seed, first=first, count=count, threads=threads)
