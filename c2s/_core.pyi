# Type stubs of the compiled extension, one block per register_<topic>.cpp. Only `c2s.kernels` imports it.
# Everything is keyword-only and never converted: exact dtypes, C order.

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__version__: str
__build_id__: str

# carry
def carry_counts(
    *, a: NDArray[np.uint64], b: NDArray[np.uint64]
) -> tuple[
    int,
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
]:
    """(pairs done before the first invalid one, multiplication, addition, carries, chain, elementary, digits)"""

def carry_trace(
    *, a: int, b: int
) -> tuple[int, int, list[list[int]], list[int], list[int], int, int, int, int, int]:
    """(top, bottom, rows, summation, product digits, multiplication, addition, chain, elementary, digits)"""

# geometry
def candidate_geometry(
    *, candidates: NDArray[np.uint8], gold: NDArray[np.int64]
) -> tuple[
    int,
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.bool_],
    NDArray[np.uint64],
]:
    """(sets done before the first bad gold, k, entropy, first_unique, mean, branch, union_size, forced, cartesian)"""

# binomial
def mcnemar_exact(*, b: NDArray[np.int64], c: NDArray[np.int64]) -> NDArray[np.float64]: ...
def clopper_pearson(
    *, k: NDArray[np.int64], n: NDArray[np.int64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(low, high)"""

def binomial_tails(*, k: int, n: int, p: float) -> tuple[float, float, float]:
    """(P(X = k), P(X <= k), P(X >= k))"""

# exact
def exact_ratio(
    *,
    offsets: NDArray[np.int64],
    x: NDArray[np.int64],
    d: NDArray[np.int64],
    count: NDArray[np.int64],
    levels: NDArray[np.float64],
    max_cost: float,
) -> tuple[float, float, float, float, NDArray[np.float64]]:
    """(cost, P(D = 0), mean, sd, quantiles); only the cost means anything when it exceeds max_cost"""

def exact_law(
    *, offsets: NDArray[np.int64], x: NDArray[np.int64], d: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(X, D, probability)"""

def exact_sum(
    *, offsets: NDArray[np.int64], value: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[int, NDArray[np.float64]]:
    """(least sum, probabilities from there on)"""

def quantiles(
    *, values: NDArray[np.float64], mass: NDArray[np.float64], levels: NDArray[np.float64]
) -> NDArray[np.float64]: ...

# support; kind: 0 full, 1 union, 2 trie
def support_masks(
    *,
    candidates: NDArray[np.uint8],
    prefixes: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    kind: int,
    alphabet: NDArray[np.uint8],
) -> NDArray[np.bool_]: ...

def support_one(
    *, candidates: Sequence[str], prefix: str, kind: int, alphabet: str
) -> tuple[bool, ...] | None:
    """None where the input is not what it should be."""
