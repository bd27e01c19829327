"""Panels without requests: what other panels' outcomes say (sections 4 and 6, appendices A.6, B.7, D.1, D.14-D.17)."""

from __future__ import annotations

from c2s.panels.base import Endpoint, Panel

TURNOVER = Panel(
    name="turnover",
    what="joint tables, SCR, its distance from Serial EM, and the gain rate; over several runs, items that all solve whole",
    uses=("main",),
    also=("semantic",),
    endpoints=(Endpoint("c2s.reports.choice.turnover:turnover"),),
    across=(Endpoint("c2s.reports.choice.turnover:shared_correct"),),
    seed=20261008,
)

CONFIDENCE = Panel(
    name="confidence",
    what="product, geometric mean and minimum of local probabilities as scores of the whole string: calibration and ranking",
    uses=("main",),
    also=("cohort",),
    endpoints=(
        Endpoint("c2s.reports.choice.confidence:calibration"),
        Endpoint("c2s.reports.choice.confidence:discrimination"),
        Endpoint("c2s.reports.choice.confidence:against_baselines"),
        Endpoint("c2s.reports.choice.confidence:precision"),
        Endpoint("c2s.reports.choice.confidence:mixtures"),
        Endpoint("c2s.reports.choice.confidence:reliability"),
    ),
    requires=("probabilities",),
)

PROJECTION = Panel(
    name="projection",
    what="Native's candidate probabilities summed by character against Independent's, and mass on characters in no candidate",
    uses=("main",),
    endpoints=(Endpoint("c2s.reports.choice.projection:distance"), Endpoint("c2s.reports.choice.projection:unsupported")),
    requires=("probabilities",),
)

LEXICAL_AUDIT = Panel(
    name="lexical-audit",
    what="where lexical outputs lie: candidates, WordNet's nouns and words, or nowhere; recombinations; material for blind review",
    uses=("support",),
    endpoints=(Endpoint("c2s.reports.choice.lexical_audit:categories"),),
    domains=("lexical",),
)

COST = Panel(
    name="cost",
    what="requests, tokens, bytes, request time and money of every arm of the run",
    endpoints=(Endpoint("c2s.reports.cost:by_arm"),),
)
