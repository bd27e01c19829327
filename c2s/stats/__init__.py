"""Paired evaluation statistics: arrays in, frozen results out. See docs/statistics.md for what each estimator is."""

from __future__ import annotations

from c2s.stats.counts import ChoiceComparison, Joined, compare_choices, join_on_id, joint_counts
from c2s.stats.divergence import js_divergence, total_variation
from c2s.stats.independence import IndependenceReference, Reference, bootstrap_independence_reference
from c2s.stats.judge import Interaction, interaction
from c2s.stats.multiplicity import HolmResult, holm
from c2s.stats.paired import SignFlip, mcnemar_exact, sign_flip
from c2s.stats.proportion import Intervals, anytime_interval, clopper_pearson
from c2s.stats.ratio import (
    bootstrap_gain_rate,
    bootstrap_mean,
    bootstrap_paired_difference,
    bootstrap_ratio,
    bootstrap_scr,
)
from c2s.stats.results import Bounds, Interval, JointCounts
from c2s.stats.score_bootstrap import ScoresResult, bootstrap_scores
from c2s.stats.scores import (
    ReliabilityBin,
    auroc,
    average_precision,
    brier,
    expected_calibration_error,
    precision_at_coverage,
    reliability_bins,
)
from c2s.stats.worst_setting import WorstScr, bootstrap_scr_difference, bootstrap_worst_scr

__all__ = [
    "Bounds",
    "ChoiceComparison",
    "HolmResult",
    "IndependenceReference",
    "Interaction",
    "Interval",
    "Intervals",
    "Joined",
    "JointCounts",
    "Reference",
    "ReliabilityBin",
    "ScoresResult",
    "SignFlip",
    "WorstScr",
    "anytime_interval",
    "auroc",
    "average_precision",
    "bootstrap_gain_rate",
    "bootstrap_independence_reference",
    "bootstrap_mean",
    "bootstrap_paired_difference",
    "bootstrap_ratio",
    "bootstrap_scores",
    "bootstrap_scr",
    "bootstrap_scr_difference",
    "bootstrap_worst_scr",
    "brier",
    "clopper_pearson",
    "compare_choices",
    "expected_calibration_error",
    "holm",
    "interaction",
    "join_on_id",
    "joint_counts",
    "js_divergence",
    "mcnemar_exact",
    "precision_at_coverage",
    "reliability_bins",
    "sign_flip",
    "total_variation",
]
