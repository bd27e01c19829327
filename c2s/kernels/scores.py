"""Several scores against one outcome, over shared bootstrap draws (see `c2s_core/calibration.hpp`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from c2s.kernels._load import core
from c2s.kernels.joint import FLOAT, INT, Strata

METRICS = ("auroc", "ap", "brier", "ece", "prevalence", "brier_gain")
"""In the order of the kernel's numbers."""

_PICK_NS, _PASS_NS = 2.0, 5.0  # per unit and draw; per item, score and draw


class ScoreSampler:
    """Metrics of each draw. `scores` is [k, items]; `unit[i]` is the resampling unit of item i, in the strata of the units."""

    method = "items"

    def __init__(
        self,
        scores: FLOAT,
        outcome: NDArray[np.bool_],
        weight: FLOAT | None,
        unit: INT,
        strata: Strata,
        metrics: Sequence[str],
        coverage: FLOAT,
    ) -> None:
        place = np.empty(len(strata.index), np.int64)  # units in stratum order, as the caller numbered them within
        place[np.argsort(strata.index, kind="stable")] = np.arange(len(place))
        offsets = np.zeros(len(strata.sizes) + 1, np.int64)
        np.cumsum(strata.sizes, out=offsets[1:])
        self.calibrated = np.array([bool(len(s) == 0 or (s.min() >= 0 and s.max() <= 1)) for s in scores], np.bool_)
        self._core = core.Scores(
            offsets=offsets,
            unit=place[unit],
            outcome=outcome.astype(np.uint8),
            weight=np.zeros(0) if weight is None else weight.astype(np.float64),
            scores=np.ascontiguousarray(scores, np.float64),
            calibrated=self.calibrated,
        )
        self._metrics = np.array([METRICS.index(name) for name in metrics], np.int32)
        self._coverage = np.ascontiguousarray(coverage, np.float64)
        self.ns_per_draw = max(50.0, _PICK_NS * len(place) + _PASS_NS * scores.size)

    def draw(self, *, seed: int, first: int, count: int, threads: int) -> NDArray[np.float64]:
        """[draws, scores, metrics then coverages]; NaN where undefined."""
        return self._core.draw(metrics=self._metrics, coverage=self._coverage, seed=seed, first=first, count=count, threads=threads)

    def observed(self) -> NDArray[np.float64]:
        """The same for the sample as it is: [scores, metrics then coverages]."""
        (observed,) = self._core.observed(metrics=self._metrics, coverage=self._coverage)
        return np.asarray(observed, np.float64)
