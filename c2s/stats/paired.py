"""Exact tests on paired outcomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import binomial, joint, signflip
from c2s.kernels.joint import NUMBERS
from c2s.stats import _draws
from c2s.stats._options import Options, Progress, options


def mcnemar_exact(b: ArrayLike, c: ArrayLike) -> float | NDArray[np.float64]:
    """Two-sided exact McNemar p for `b` and `c` discordant pairs of either kind (McNemar 1947, conditional on b + c).

    p = min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))); 1 without discordance and for b = c. Scalars give a float, arrays (broadcast
    together) an array. InputError unless the counts are integers of at least 0.
    """
    first, second = np.broadcast_arrays(binomial.counts("b", b), binomial.counts("c", c))
    p = binomial.mcnemar_exact(np.array(first), np.array(second))
    return float(p) if p.ndim == 0 else p


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """A randomisation test of paired differences.

    p            two-sided unless `alternative` says otherwise
    statistic    mean difference
    n, nonzero   pairs, and pairs that differ
    method       exact, or monte-carlo with the plus-one correction
    draws        random sign patterns; None for exact
    """

    p: float
    statistic: float | None
    n: int
    nonzero: int
    method: str
    draws: int | None
    alternative: str


def sign_flip(
    differences: ArrayLike,
    *,
    draws: int | None = None,
    seed: int = 0,
    alternative: str = "two-sided",
    threads: int | None = None,
    progress: Progress | None = None,
) -> SignFlip:
    """Randomisation test of paired `differences` [n]: under the null each sign is a fair coin, independently (D.7, D.13).

    The statistic is the sum, so zeros change nothing. With `draws=None` the p-value is exact, by dynamic programming, whenever
    the differences lie on a lattice of manageable size (counts, means of few repeats); otherwise, or with `draws` given, it is
    (1 + #{as extreme}) / (1 + draws), with 99,999 draws by default; that p is valid at every level, never 0, and rejects at
    level alpha with probability at most alpha. `alternative`: "two-sided", "greater" or "less" than 0.
    """
    d = joint.numbers("differences", differences)
    if alternative not in ("two-sided", "greater", "less"):
        raise InputError(f"alternative = {alternative!r}: give 'two-sided', 'greater' or 'less'")
    chosen = options({"draws": 99_999 if draws is None else draws, "seed": seed, "threads": threads, "progress": progress})
    p = _exact_flip(d, alternative) if draws is None else None
    exact = p is not None
    if p is None:
        p = _drawn_flip(d.astype(np.float64), alternative, chosen)
    return SignFlip(
        p=p,
        statistic=float(d.mean()) if len(d) else None,
        n=len(d),
        nonzero=int(np.count_nonzero(d)),
        method="exact" if exact else "monte-carlo",
        draws=None if exact else chosen.draws,
        alternative=alternative,
    )


def _exact_flip(d: NUMBERS, alternative: str) -> float | None:
    found = joint.lattice(d)
    if found is None:
        return None
    steps = found[1]
    total, observed = int(np.abs(steps).sum()), int(steps.sum())
    if max(1, len(d)) * (total + 1) > signflip.WORK_LIMIT:
        return None
    if alternative == "two-sided" and observed == 0:
        return 1.0
    # The law of T is symmetric, so every tail is summed from its small end: T <= (total - signed sum) / 2.
    signed = {"two-sided": abs(observed), "greater": observed, "less": -observed}[alternative]
    tail = float(signflip.law(np.abs(steps))[: (total - signed) // 2 + 1].sum())
    return min(1.0, 2 * tail if alternative == "two-sided" else tail)


def _drawn_flip(d: NDArray[np.float64], alternative: str, chosen: Options) -> float:
    observed, slack = d.sum(), 1e-12 * np.abs(d).sum()
    count = 0
    for first, size in _draws.batches(max(20.0, len(d) / 4), chosen):
        sums = signflip.sums(d, seed=chosen.seed, first=first, count=size, threads=chosen.threads)
        if alternative == "two-sided":
            extreme = np.abs(sums) >= abs(observed) - slack
        else:
            extreme = sums >= observed - slack if alternative == "greater" else sums <= observed + slack
        count += int(np.count_nonzero(extreme))
    return (1 + count) / (1 + chosen.draws)
