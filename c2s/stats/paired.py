"""Exact tests on paired outcomes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.kernels import binomial


def mcnemar_exact(b: ArrayLike, c: ArrayLike) -> float | NDArray[np.float64]:
    """Two-sided exact McNemar p for `b` and `c` discordant pairs of either kind (McNemar 1947, conditional on b + c).

    p = min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))); 1 without discordance and for b = c. Scalars give a float, arrays (broadcast
    together) an array. InputError unless the counts are integers of at least 0.
    """
    first, second = np.broadcast_arrays(binomial.counts("b", b), binomial.counts("c", c))
    p = binomial.mcnemar_exact(np.array(first), np.array(second))
    return float(p) if p.ndim == 0 else p
