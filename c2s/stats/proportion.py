"""Intervals for a proportion: exact binomial, and one that may be looked at after every item."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from c2s.errors import InputError
from c2s.kernels import binomial
from c2s.kernels.joint import FLOAT
from c2s.stats._options import check_confidence, check_int
from c2s.stats.results import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Estimates and their intervals, arrays of one shape."""

    estimate: FLOAT
    low: FLOAT
    high: FLOAT
    confidence: float
    method: str


@overload
def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> Interval: ...
@overload
def clopper_pearson(k: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Interval | Intervals: ...
def clopper_pearson(k: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Interval | Intervals:
    """Two-sided exact binomial interval for `k` successes in `n` trials (Clopper and Pearson 1934).

    Each tail holds (1 - confidence) / 2. Two numbers give an Interval; arrays (broadcast together) give Intervals of the same shape.
    Without a trial the interval is [0, 1] and the estimate None; arrays need n >= 1 throughout.
    InputError unless 0 <= k <= n are integers.
    """
    confidence = check_confidence(confidence)
    successes, trials = np.broadcast_arrays(binomial.counts("k", k), binomial.counts("n", n))
    bad = successes > trials
    if bad.any():
        raise InputError(f"k = {successes[bad][0]} of n = {trials[bad][0]}: there cannot be more successes than trials")
    if trials.ndim == 0 and trials == 0:
        return Interval(estimate=None, low=0.0, high=1.0, confidence=confidence, method="clopper-pearson", note="no trials")
    if (trials == 0).any():
        raise InputError("n = 0 in an array of trials: leave entries without trials out")
    low, high = binomial.clopper_pearson(np.array(successes), np.array(trials), confidence)
    share = np.asarray(successes / trials, np.float64)
    if trials.ndim:
        return Intervals(estimate=share, low=low, high=high, confidence=confidence, method="clopper-pearson")
    return Interval(estimate=float(share), low=float(low), high=float(high), confidence=confidence, method="clopper-pearson")


def anytime_interval(successes: int, trials: int, confidence: float = 0.95, *, population: int | None = None) -> Interval:
    """A confidence sequence for a proportion: valid at every look at once, so one may stop whenever one likes.

    Items must come in random order, such as the prefix of a run whose parents were shuffled; a prefix that was chosen by its
    outcomes, or ordered by difficulty, carries no guarantee. With probability `confidence` the true proportion lies in the
    intervals of all prefixes.

    Method: the Beta-binomial mixture with the Jeffreys prior (Robbins 1970; the prior-posterior ratio of Waudby-Smith and
    Ramdas 2020). The interval holds every p with prior density >= (1 - confidence) * posterior density; the ratio is a
    nonnegative martingale at the true p, so by Ville's inequality it ever exceeds 1 / (1 - confidence) with probability at
    most 1 - confidence. It is wider than a fixed-sample interval: that is the price of looking.

    `population`: the number of items that the prefix is drawn from without replacement. The interval is then for the
    proportion among exactly these (same ratio, over their count of successes) and shrinks to the truth at the end.
    """
    confidence = check_confidence(confidence)
    n = check_int("trials", trials, 0, 2**53)
    k = check_int("successes", successes, 0, n + 1)
    log_alpha = math.log1p(-confidence)
    if population is None:
        low, high = _mixture_bounds(k, n, log_alpha)
    else:
        size = check_int("population", population, max(n, 1), 2**53)
        least, most = _count_bounds(k, n, size, log_alpha)
        low, high = least / size, most / size
    return Interval(
        estimate=k / n if n else None,
        low=low,
        high=high,
        confidence=confidence,
        method="beta-binomial mixture",
        note="" if n else "no trials",
    )


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _mixture_bounds(k: int, n: int, log_alpha: float) -> tuple[float, float]:
    """Both ends of {p: log B(k + 1/2, n - k + 1/2) - log B(1/2, 1/2) - k log p - (n - k) log(1 - p) <= -log alpha}."""
    evidence = _log_beta(k + 0.5, n - k + 0.5) - _log_beta(0.5, 0.5) + log_alpha

    def inside(p: float) -> bool:
        likelihood = (k * math.log(p) if k else 0.0) + ((n - k) * math.log1p(-p) if n > k else 0.0)
        return likelihood >= evidence

    return (
        0.0 if k == 0 else _edge(0.0, k / n, inside),
        1.0 if k == n else _edge(1.0, k / n, inside),
    )


def _edge(outside: float, within: float, inside: Callable[[float], bool]) -> float:
    """Bisection to the last double, on the safe side."""
    while True:
        middle = 0.5 * (outside + within)
        if middle in (outside, within):
            return outside
        if inside(middle):
            within = middle
        else:
            outside = middle


def _count_bounds(k: int, n: int, size: int, log_alpha: float) -> tuple[int, int]:
    """Least and most successes among `size` items: prior(m) >= alpha * posterior(m), Beta-binomial prior."""
    rest = size - n

    def inside(m: int) -> bool:  # the ratio is P(k of the first n | m) against its prior predictive
        if not k <= m <= size - n + k:
            return False
        ways = _log_choose(m, k) + _log_choose(size - m, n - k) - _log_choose(size, n)
        predictive = _log_choose(n, k) + _log_beta(k + 0.5, n - k + 0.5) - _log_beta(0.5, 0.5)
        return ways >= predictive + log_alpha - 1e-9

    # The likeliest count is inside, because no average exceeds the maximum; from there the likelihood falls on both sides.
    low = high = min(max(k * (size + 1) // n if n else k, k), k + rest)
    bottom, top = k - 1, k + rest + 1
    while low - bottom > 1:
        middle = (low + bottom) // 2
        low, bottom = (middle, bottom) if inside(middle) else (low, middle)
    while top - high > 1:
        middle = (high + top) // 2
        high, top = (middle, top) if inside(middle) else (high, middle)
    return low, high


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
