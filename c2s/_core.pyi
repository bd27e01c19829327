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
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
]:
    """(multiplication, addition, carries, chain, elementary, digits)"""

def carry_trace(*, a: int, b: int) -> tuple[int, int, list[list[int]], list[int], list[int], int, int, int, int, int]:
    """(top, bottom, rows, summation, product digits, multiplication, addition, chain, elementary, digits)"""

# geometry
def candidate_geometry(
    *, candidates: NDArray[np.uint8], gold: NDArray[np.int64]
) -> tuple[
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.bool_],
    NDArray[np.uint64],
]:
    """(k, entropy, first_unique, mean, branch, union_size, forced, cartesian)"""

# binomial
def mcnemar_exact(*, b: NDArray[np.int64], c: NDArray[np.int64]) -> NDArray[np.float64]: ...
def clopper_pearson(*, k: NDArray[np.int64], n: NDArray[np.int64], confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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

def exact_sum(*, offsets: NDArray[np.int64], value: NDArray[np.int64], count: NDArray[np.int64]) -> tuple[int, NDArray[np.float64]]:
    """(least sum, probabilities from there on)"""

def quantiles(*, values: NDArray[np.float64], mass: NDArray[np.float64], levels: NDArray[np.float64]) -> NDArray[np.float64]: ...

# support; kind: 0 full, 1 union, 2 trie
def support_masks(
    *,
    candidates: NDArray[np.uint8],
    prefixes: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    kind: int,
    alphabet: NDArray[np.uint8],
) -> NDArray[np.bool_]: ...
def support_one(*, candidates: Sequence[str], prefix: str, kind: int, alphabet: str) -> tuple[bool, ...] | None:
    """None where the input is not what it should be."""

# resample
def resample_packed(
    *, offsets: NDArray[np.int64], values: NDArray[np.uint64], seed: int, first: int, count: int, threads: int
) -> NDArray[np.uint64]:
    """[draws, columns]"""

def resample_sums(
    *, offsets: NDArray[np.int64], values: NDArray[np.float64], seed: int, first: int, count: int, threads: int
) -> NDArray[np.float64]:
    """[draws, columns]"""

class Multinomial:
    """Alias tables over the joint totals of merged strata; `too_large` is the cost of a stratum beyond max_cost, else 0."""

    def __init__(
        self,
        *,
        offsets: NDArray[np.int64],
        x: NDArray[np.int64],
        d: NDArray[np.int64],
        count: NDArray[np.int64],
        x_scale: NDArray[np.float64],
        d_scale: NDArray[np.float64],
        max_cost: float,
    ) -> None: ...
    @property
    def too_large(self) -> float: ...
    @property
    def tables(self) -> int: ...
    @property
    def states(self) -> int: ...
    def draw(self, *, seed: int, first: int, count: int, threads: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def ratios(self, *, seed: int, first: int, count: int, threads: int) -> NDArray[np.float64]: ...
    def state_ratios(self) -> NDArray[np.float64]: ...
    def tally(self, *, seed: int, first: int, count: int, threads: int) -> NDArray[np.int64]: ...

def philox(*, counter: Sequence[int], key: Sequence[int]) -> list[int]: ...
def philox_words(*, seed: int, stream: int, first_draw: int, block: int, count: int, over_draws: bool) -> NDArray[np.uint32]:
    """[count, 4]"""

def philox_level(*, force: str) -> str:
    """The instruction set in use, after switching to `force` where the machine has it; "" leaves it."""

# scores
class Scores:
    """Scores prepared for resampling."""

    def __init__(
        self,
        *,
        offsets: NDArray[np.int64],
        unit: NDArray[np.int64],
        outcome: NDArray[np.uint8],
        weight: NDArray[np.float64],
        scores: NDArray[np.float64],
        calibrated: NDArray[np.bool_],
    ) -> None: ...
    def draw(
        self,
        *,
        metrics: NDArray[np.int32],
        coverage: NDArray[np.float64],
        seed: int,
        first: int,
        count: int,
        threads: int,
    ) -> NDArray[np.float64]:
        """[draws, scores, metrics then coverages]"""
    def observed(self, *, metrics: NDArray[np.int32], coverage: NDArray[np.float64]) -> NDArray[np.float64]:
        """[1, scores, metrics then coverages]"""

def signflip_law(*, magnitude: NDArray[np.int64]) -> NDArray[np.float64]: ...
def signflip_sums(*, difference: NDArray[np.float64], seed: int, first: int, count: int, threads: int) -> NDArray[np.float64]: ...
