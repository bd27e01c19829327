"""Paired evaluation statistics: arrays in, frozen results out. See docs/statistics.md for what each estimator is."""

from __future__ import annotations

from c2s.stats.counts import Joined, join_on_id, joint_counts
from c2s.stats.multiplicity import HolmResult, holm
from c2s.stats.paired import mcnemar_exact
from c2s.stats.proportion import clopper_pearson
from c2s.stats.ratio import bootstrap_scr
from c2s.stats.results import Bounds, Interval, JointCounts

__all__ = [
    "Bounds",
    "HolmResult",
    "Interval",
    "Joined",
    "JointCounts",
    "bootstrap_scr",
    "clopper_pearson",
    "holm",
    "join_on_id",
    "joint_counts",
    "mcnemar_exact",
]
