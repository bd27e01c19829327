"""Intervals for a proportion: exact binomial, and one that may be looked at after every item."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c2s.errors import InputError
from c2s.kernels import binomial
from c2s.stats._options import check_confidence
from c2s.stats.results import Interval


def clopper_pearson(k: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Interval:
    """Two-sided exact binomial interval for `k` successes in `n` trials (Clopper and Pearson 1934).

    Each tail holds (1 - confidence) / 2. Scalars give floats; arrays (broadcast together) give arrays in `estimate`, `low`
    and `high`. Without a trial the interval is [0, 1] and the estimate None; arrays need n >= 1 throughout.
    InputError unless 0 <= k <= n are integers.
    """
    confidence = check_confidence(confidence)
    successes, trials = np.broadcast_arrays(binomial.counts("k", k), binomial.counts("n", n))
    bad = successes > trials
    if bad.any():
        raise InputError(f"k = {successes[bad][0]} of n = {trials[bad][0]}: there cannot be more successes than trials")
    if trials.ndim == 0 and trials == 0:
        return Interval(
            estimate=None, low=0.0, high=1.0, confidence=confidence, method="clopper-pearson", note="no trials"
        )
    if (trials == 0).any():
        raise InputError("n = 0 in an array of trials: leave entries without trials out")
    low, high = binomial.clopper_pearson(np.array(successes), np.array(trials), confidence)
    share = successes / trials
    if trials.ndim == 0:
        share, low, high = float(share), float(low), float(high)
    return Interval(estimate=share, low=low, high=high, confidence=confidence, method="clopper-pearson")
