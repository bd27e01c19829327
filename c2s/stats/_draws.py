"""Running draws in batches, and turning what they give into an Interval."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from c2s.kernels import exact
from c2s.kernels.joint import NUMBERS
from c2s.kernels.resample import CellSampler
from c2s.stats._options import Options
from c2s.stats.results import Interval

_BATCH_SECONDS = 0.05
"""What a batch should take: Ctrl-C and progress wait no longer than this, whatever else the machine does."""

Draw = Callable[..., Sequence[NUMBERS]]
"""draw(seed=, first=, count=, threads=) -> one array of `count` values per quantity; NaN where a draw is undefined."""


def run(draw: Draw, ns_per_draw: float, chosen: Options) -> list[NDArray[np.float64]]:
    """All draws of each quantity. Python runs between batches, so Ctrl-C stops within one and `progress` is told."""
    out: list[NUMBERS] = []
    for first, count in batches(ns_per_draw, chosen):
        found = draw(seed=chosen.seed, first=first, count=count, threads=chosen.threads)
        if count == chosen.draws:
            out = list(found)
        else:
            out = out or [np.empty(chosen.draws) for _ in found]
            for row, values in zip(out, found, strict=True):
                row[first : first + count] = values
    return out


def batches(ns_per_draw: float, chosen: Options) -> Iterator[tuple[int, int]]:
    """(first draw, number of draws) of each batch, until all are done; tells `progress` after each.

    The first size follows the kernel's estimate of its cost, the others what the last batch took: no result depends on them.
    """
    size = 1e9 * _BATCH_SECONDS * chosen.threads / ns_per_draw
    first = 0
    while first < chosen.draws:
        count = min(max(1, int(size)), chosen.draws - first)
        start = time.perf_counter()
        yield first, count
        size = count * min(4.0, max(0.1, _BATCH_SECONDS / max(1e-9, time.perf_counter() - start)))
        first += count
        if chosen.progress is not None:
            chosen.progress(first, chosen.draws)


def tally(sampler: CellSampler, chosen: Options) -> NDArray[np.int64]:
    """How many of all draws fall on each state of a sampler with one table."""
    total = np.zeros(1, np.int64)
    for first, count in batches(sampler.ns_per_draw, chosen):
        total = total + sampler.tally(seed=chosen.seed, first=first, count=count, threads=chosen.threads)
    return total


def interval(
    values: NDArray[np.float64],
    estimate: float | None,
    chosen: Options,
    method: str,
    *,
    reason: str,
    note: str = "",
    times: NDArray[np.int64] | None = None,
) -> Interval:
    """The inverse-CDF interval over the defined draws in `values`, of which value i stands for times[i] draws (one by default).

    `reason` says when a draw is undefined, which is where its value is NaN.
    """
    blank = np.isnan(values)
    missing = int(np.count_nonzero(blank) if times is None else times[blank].sum())
    notes = [f"{missing} of {chosen.draws} draws undefined ({reason})"] if missing else []
    mass = None if times is None else times.astype(np.float64)
    low = high = error = None
    degenerate = False
    if missing == chosen.draws or missing > chosen.withhold_above * chosen.draws or estimate is None:
        notes.append("interval withheld" if missing else f"undefined ({reason})")
    else:
        if mass is not None:
            used = (mass > 0) & ~blank
            values, mass = values[used], mass[used]
        elif missing:
            values = values[~blank]
        low, high = exact.quantiles(values, chosen.levels, mass).tolist()
        degenerate = low == high and bool((values == low).all())
        error = 0.0 if degenerate else _deviation(values, mass)
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        confidence=chosen.confidence,
        method=method,
        draws=chosen.draws,
        undefined=missing,
        degenerate=degenerate,
        note="; ".join([note, *notes] if note else notes),
        standard_error=error,
    )


def _deviation(values: NDArray[np.float64], mass: NDArray[np.float64] | None) -> float:
    if mass is None:
        return float(values.std())
    total = mass.sum()
    return math.sqrt(float(mass @ (values - mass @ values / total) ** 2 / total))
