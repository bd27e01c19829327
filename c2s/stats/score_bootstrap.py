"""Intervals for the metrics of several scores, and for their differences, from shared draws (D.14, D.15)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError, nearest
from c2s.kernels import joint
from c2s.kernels.joint import NUMBERS, Labels
from c2s.kernels.scores import METRICS, ScoreSampler
from c2s.stats import _draws
from c2s.stats._options import Options, Settings, options
from c2s.stats.ratio import checked_weights, clustered
from c2s.stats.results import Interval, Table
from c2s.stats.scores import checked_coverage, checked_scores

Metrics = Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class ScoresResult:
    """`result[score][metric]` is an Interval; so is `result.differences[first, second][metric]`, first minus second.

    Metrics are named as asked for, and "precision@0.1" for precision at 10 % coverage.
    """

    intervals: Mapping[Hashable, Metrics]
    differences: Mapping[tuple[Hashable, Hashable], Metrics]
    n: int
    positives: int

    def __getitem__(self, score: Hashable) -> Metrics:
        return self.intervals[score]


def bootstrap_scores(
    scores: Mapping[Hashable, ArrayLike] | ArrayLike,
    outcomes: ArrayLike,
    strata: Labels | None = None,
    weights: ArrayLike | None = None,
    metrics: Sequence[str] = ("auroc", "ap", "brier", "ece"),
    coverage: Sequence[float] = (0.1, 0.25, 0.5),
    *,
    clusters: Labels | None = None,
    differences: Sequence[tuple[Hashable, Hashable]] | None = None,
    **settings: Unpack[Settings],
) -> ScoresResult:
    """Bootstrap intervals of every metric of every score, all from the same draws.

    scores       {name: [n]}, or one array, which is called "score"
    outcomes     zeros and ones [n]
    metrics      "auroc", "ap", "brier", "ece", "prevalence", "brier_gain" (Brier minus that of the draw's own prevalence)
    coverage     ascending shares at which precision is taken
    differences  pairs of names; None: every pair, in the order of `scores`

    `strata`, `clusters`, `weights` and the settings are those of `bootstrap_ratio`, with method "auto" or "items". Draws
    with one class only leave AUROC and average precision undefined and are counted. A score outside [0, 1] (a ranking such as
    negative length) has no Brier and no ECE.
    """
    chosen = options(settings, ("auto", "items"))
    named = dict(scores) if isinstance(scores, Mapping) else {"score": scores}
    if not named:
        raise InputError("scores is empty: give at least one score")
    for metric in metrics:
        if metric not in METRICS:
            raise InputError(f"metric {metric!r} is none of {', '.join(METRICS)}{nearest(str(metric), list(METRICS))}")
    outcome = joint.flags("outcomes", outcomes)
    values = [checked_scores(f"scores[{name!r}]", s, False) for name, s in named.items()]
    n = joint.same_length(outcomes=outcome, **{f"scores[{name!r}]": s for name, s in zip(named, values, strict=True)})
    shares = checked_coverage(tuple(coverage))
    sampler = _sampler(values, outcome, strata, weights, clusters, tuple(metrics), shares, n)
    names = [*metrics, *(f"precision@{share:g}" for share in shares)]
    draws, observed = _all_draws(sampler, len(named), len(names), chosen), sampler.observed()

    reason = "one class only" if n else "no items"

    def intervals(columns: NUMBERS, point: NUMBERS, ranking: bool) -> Metrics:
        out = {}
        for j, metric in enumerate(names):
            uncalibrated = ranking and metric in ("brier", "ece", "brier_gain")
            out[metric] = _draws.interval(
                columns[:, j],
                None if np.isnan(point[j]) else float(point[j]),
                chosen,
                sampler.method,
                reason="scores outside [0, 1]" if uncalibrated else reason if metric in ("auroc", "ap") else "no weight",
            )
        return Table(out)

    order = {name: i for i, name in enumerate(named)}
    pairs = list(combinations(named, 2)) if differences is None else [tuple(pair) for pair in differences]
    for pair in pairs:
        for name in pair:
            if name not in order:
                raise InputError(f"difference of {name!r}: give names of scores{nearest(str(name), [str(k) for k in order])}")
    ranking = ~sampler.calibrated
    return ScoresResult(
        intervals=Table({name: intervals(draws[:, i], observed[i], ranking[i]) for name, i in order.items()}),
        differences=Table(
            {
                (a, b): intervals(
                    draws[:, order[a]] - draws[:, order[b]],
                    observed[order[a]] - observed[order[b]],
                    ranking[order[a]] or ranking[order[b]],
                )
                for a, b in pairs
            }
        ),
        n=n,
        positives=int(np.count_nonzero(outcome)),
    )


def _sampler(
    values: list[NUMBERS],
    outcome: NDArray[np.bool_],
    strata: Labels | None,
    weights: ArrayLike | None,
    clusters: Labels | None,
    metrics: tuple[str, ...],
    shares: NDArray[np.float64],
    n: int,
) -> ScoreSampler:
    w = None if weights is None else checked_weights(weights, n)
    found = joint.strata_of(strata, n)
    scores = np.stack(values)
    if clusters is not None:
        unit, found = clustered(clusters, found)
        return ScoreSampler(scores, outcome, w, unit, found, metrics, shares)
    # Items in an order of their own, so that a permutation of the rows gives the same draws.
    keys = [*scores, outcome, *([] if w is None else [w]), found.index]
    order = np.lexsort(keys)
    strata_index = found.index[order]
    return ScoreSampler(
        scores[:, order],
        outcome[order],
        None if w is None else w[order],
        np.arange(n),
        joint.Strata(strata_index, found.sizes, found.labels),
        metrics,
        shares,
    )


def _all_draws(sampler: ScoreSampler, scores: int, width: int, chosen: Options) -> NDArray[np.float64]:
    """[draws, scores, metrics]."""
    out = np.empty((chosen.draws, scores, width))
    for first, count in _draws.batches(sampler.ns_per_draw, chosen):
        out[first : first + count] = sampler.draw(seed=chosen.seed, first=first, count=count, threads=chosen.threads)
    return out
