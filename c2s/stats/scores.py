"""Discrimination, calibration and selection of a score against a zero-or-one outcome (A.6, D.14, D.15).

All take `scores` [n], `outcomes` [n] and optional `weights` [n]; a metric that the sample leaves undefined is None. Scores are
compared exactly as they are: equal floats are ties, and ties are settled by halves and expectations, never by order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import joint
from c2s.kernels.joint import NUMBERS
from c2s.kernels.scores import ScoreSampler
from c2s.stats.ratio import checked_weights


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Scores in [low, high), the last bin closed. Means are None in an empty bin."""

    low: float
    high: float
    count: int
    weight: float
    mean_score: float | None
    observed: float | None


def auroc(scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Probability that a positive outscores a negative, ties counting one half. None with one class only."""
    return _one("auroc", scores, outcomes, weights)


def average_precision(scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Precision at each distinct score, weighted by the recall it adds (the step-wise sum, no interpolation). None with one
    class only."""
    return _one("ap", scores, outcomes, weights)


def brier(scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Mean squared difference between score and outcome. Scores must lie in [0, 1]. None without items (or weight)."""
    return _one("brier", scores, outcomes, weights, calibrated=True)


def expected_calibration_error(scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Mean over items of |mean score - observed share| of their bin; ten fixed bins of equal width, the last one closed."""
    return _one("ece", scores, outcomes, weights, calibrated=True)


def precision_at_coverage(scores: ArrayLike, outcomes: ArrayLike, coverage: float, weights: ArrayLike | None = None) -> float | None:
    """Share of positives among the top `coverage` (0 to 1] of the items (or of the weight).

    A block of tied scores at the cutoff is included by its expected share, as if its items were drawn at random.
    """
    s, y, w = _checked(scores, outcomes, weights, False)
    sampler = _sampler(s, y, w, (), checked_coverage((coverage,)))
    return _number(sampler.observed()[0, 0])


def reliability_bins(scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None) -> tuple[ReliabilityBin, ...]:
    """The ten bins [0, 0.1), ... [0.9, 1]; a bin without items stays, empty. Scores must lie in [0, 1]."""
    s, y, w = _checked(scores, outcomes, weights, True)
    w = np.ones(len(s)) if w is None else w
    index = np.searchsorted(np.arange(1, 10) / 10, s, side="right")
    bins = []
    for b in range(10):
        inside = index == b
        mass = float(w[inside].sum())
        bins.append(
            ReliabilityBin(
                low=b / 10,
                high=(b + 1) / 10,
                count=int(inside.sum()),
                weight=mass,
                mean_score=float((w * s)[inside].sum() / mass) if mass > 0 else None,
                observed=float((w * y)[inside].sum() / mass) if mass > 0 else None,
            )
        )
    return tuple(bins)


def checked_coverage(coverage: tuple[float, ...]) -> NDArray[np.float64]:
    """Ascending shares in (0, 1]."""
    shares = joint.numbers("coverage", np.asarray(coverage, np.float64))
    if len(shares) and (shares.min() <= 0 or shares.max() > 1):
        raise InputError(f"coverage = {coverage}: give shares above 0 and at most 1")
    if (np.diff(shares) <= 0).any():
        raise InputError(f"coverage = {coverage}: give ascending shares")
    return shares


def checked_scores(name: str, scores: ArrayLike, calibrated: bool) -> NDArray[np.float64]:
    s = joint.numbers(name, scores).astype(np.float64)
    if calibrated and len(s) and (s.min() < 0 or s.max() > 1):
        at = int(np.argmax((s < 0) | (s > 1)))
        raise InputError(f"{name}[{at}] = {s[at]} lies outside [0, 1]; calibration needs probabilities")
    return s


def _checked(
    scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None, calibrated: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NUMBERS | None]:
    s, y = checked_scores("scores", scores, calibrated), joint.flags("outcomes", outcomes)
    joint.same_length(scores=s, outcomes=y)
    return s, y, None if weights is None else checked_weights(weights, len(s))


def _sampler(s: NUMBERS, y: NUMBERS, w: NUMBERS | None, metrics: tuple[str, ...], coverage: NDArray[np.float64]) -> ScoreSampler:
    n = len(s)
    strata = joint.strata_of(None, n)
    return ScoreSampler(s[None, :], y, w, np.arange(n), strata, metrics, coverage)


def _one(metric: str, scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None, calibrated: bool = False) -> float | None:
    s, y, w = _checked(scores, outcomes, weights, calibrated)
    return _number(_sampler(s, y, w, (metric,), np.zeros(0)).observed()[0, 0])


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
