"""Running draws in batches, and turning what they give into an Interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from c2s.kernels import exact
from c2s.stats._options import Options
from c2s.stats.results import Interval

_BATCH_NS = 5e7  # 50 ms: Ctrl-C and progress wait no longer than this


Draw = Callable[..., Sequence[NDArray]]
"""draw(seed=, first=, count=, threads=) -> one array of `count` values per quantity; NaN where a draw is undefined."""


def run(draw: Draw, quantities: int, ns_per_draw: float, chosen: Options) -> list[NDArray[np.float64]]:
    """All draws of each quantity. Python runs between batches, so Ctrl-C stops within one and `progress` is told."""
    plan = batches(ns_per_draw, chosen)
    parts: list[list[NDArray]] = [[] for _ in range(quantities)]
    for first, count in plan:
        found = draw(seed=chosen.seed, first=first, count=count, threads=chosen.threads)
        for part, values in zip(parts, found, strict=True):
            part.append(values)
        if chosen.progress is not None:
            chosen.progress(first + count, chosen.draws)
    return [part[0] if len(part) == 1 else np.concatenate(part) for part in parts]


def batches(ns_per_draw: float, chosen: Options) -> list[tuple[int, int]]:
    """(first draw, number of draws) of each batch."""
    size = max(1, min(chosen.draws, int(_BATCH_NS * chosen.threads / ns_per_draw)))
    return [(first, min(size, chosen.draws - first)) for first in range(0, chosen.draws, size)]


def interval(
    values: NDArray[np.float64], estimate: float | None, chosen: Options, method: str, *, reason: str, note: str = ""
) -> Interval:
    """The inverse-CDF interval over the defined draws in `values`. `reason` says when a draw is undefined."""
    defined = values
    blank = np.isnan(values)
    missing = int(np.count_nonzero(blank))
    notes = [note] if note else []
    if missing:
        defined = values[~blank]
        notes.append(f"{missing} of {len(values)} draws undefined ({reason})")
    low = high = error = None
    degenerate = False
    if missing > chosen.withhold_above * len(values) or defined.size == 0 or estimate is None:
        notes.append("interval withheld" if missing else f"undefined ({reason})")
    else:
        low, high = exact.quantiles(defined, chosen.levels).tolist()
        degenerate = low == high and bool((defined == low).all())
        error = 0.0 if degenerate else float(defined.std())
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        confidence=chosen.confidence,
        method=method,
        draws=chosen.draws,
        undefined=missing,
        degenerate=degenerate,
        note="; ".join(notes),
        standard_error=error,
    )
