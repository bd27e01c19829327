"""Local probabilities as confidence in the whole string (A.6, D.14, D.15; Tables D12-D14, Figures 19-21).

Scores: product of the chosen characters' probabilities, their geometric mean, and the smallest top probability. Reported masses are
used as they are, also where a service rounds them. Negative length is a ranking baseline without calibration. `equal` weights
give each length the same total weight, 1/(6 n_L) an item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np

from c2s import stats
from c2s.panels.base import Panel
from c2s.reports import estimates
from c2s.reports.data import PanelData
from c2s.reports.section import Column, Section

SCORES = ("product", "geometric", "minimum")
COVERAGE = (0.1, 0.25, 0.5)
METRICS = ("auroc", "ap", "brier", "ece", "prevalence", "brier_gain")


@dataclass(frozen=True, slots=True)
class Population:
    """Serial outputs with reported probabilities. `weights` None: every item counts the same."""

    name: str
    mixture: str
    panel: Panel
    scores: dict[Any, np.ndarray]
    correct: np.ndarray
    native: np.ndarray
    lengths: np.ndarray
    weights: np.ndarray | None


def populations(data: PanelData) -> list[Population]:
    """Main's domains, and the cohort by source mixture and by equal lengths."""
    found = []
    for source in filter(None, (data.used("main"), data.run.panel("cohort"))):
        for domain, rows in source.domains.items():
            name = f"new {domain}" if source.panel.name == "cohort" else domain
            chosen = [
                (r, o, r.value("native")) for r in rows if (o := r.ok("serial")) is not None and None not in o.detail["p"] + o.detail["top"]
            ]
            if not chosen:
                continue
            lengths = np.array([r.parent.length for r, _, _ in chosen])
            common: dict[str, Any] = {
                "name": name,
                "panel": source.panel,
                "scores": _scores([o.detail["p"] for _, o, _ in chosen], [o.detail["top"] for _, o, _ in chosen], lengths),
                "correct": np.array([bool(o.correct) for _, o, _ in chosen]),
                "native": np.array([bool(native) for *_, native in chosen]),
                "lengths": lengths,
            }
            if source.panel.name == "cohort":
                found.append(Population(**common, mixture="source", weights=None))
            counts = Counter(lengths.tolist())
            equal = np.array([1 / (len(counts) * counts[n]) for n in lengths.tolist()])
            balanced = len(set(counts.values())) == 1
            found.append(Population(**common, mixture="equal", weights=None if balanced else equal))
    return found


def _scores(chosen: list[list[float]], top: list[list[float]], lengths: np.ndarray) -> dict[str, np.ndarray]:
    products = [0.0 if min(p) <= 0 else exp(sum(map(log, p))) for p in chosen]
    return {
        "product": np.array(products),
        "geometric": np.array([x ** (1 / len(p)) for x, p in zip(products, chosen, strict=True)]),
        "minimum": np.array([min(t) for t in top]),
        "length": -lengths.astype(float),
    }


def _bootstrap(data: PanelData) -> list[tuple[Population, Any]]:
    """One pass per population, shared by all sections of the report."""
    differences = [(score, "length") for score in SCORES]
    return [
        (
            p,
            stats.bootstrap_scores(
                p.scores,
                p.correct,
                p.lengths,
                p.weights,
                METRICS,
                COVERAGE,
                differences=differences,
                **estimates.settings(p.panel),
            ),
        )
        for p in populations(data)
    ]


def _section(
    data: PanelData,
    name: str,
    title: str,
    source: str,
    keys: dict[str, str],
    form: str,
    notes: Sequence[str] = (),
    scores: Sequence[str] = SCORES,
) -> Section:
    rows = []
    for p, found in data.once(_bootstrap):
        for score in scores:
            parts = [estimates.put(key, found[score][metric]) for key, metric in keys.items()]
            rows.append(
                {"population": p.name, "mixture": p.mixture, "score": score, "n": found.n, "successes": found.positives}
                | estimates.merged(*parts)
            )
    if not rows:
        rows = [{"population": "main", "mixture": "-", "score": "-", "n": 0} | estimates.absent(NONE, *keys)]
    columns = (Column("population", "population"), Column("mixture", "mixture"), Column("score", "score"))
    return Section(name, title, source, (*columns, *(Column(key, f"{HEADS[key]} [95 % CI]", form) for key in keys)), rows, list(notes))


NONE = "the model reported no probabilities for Serial"
HEADS = {"brier": "Brier", "ece": "ECE", "auroc": "AUROC", "ap": "AP", "p10": "at 10 %", "p25": "at 25 %", "p50": "at 50 %"}


def calibration(data: PanelData) -> Section:
    return _section(
        data,
        "calibration",
        "calibration of composed scores",
        "Table D14",
        {"brier": "brier", "ece": "ece"},
        "ci_number",
        ["ECE: ten fixed bins of equal width."],
    )


def discrimination(data: PanelData) -> Section:
    return _section(data, "discrimination", "ranking by composed scores", "Table D14", {"auroc": "auroc", "ap": "ap"}, "ci_number")


def precision(data: PanelData) -> Section:
    keys = {"p10": "precision@0.1", "p25": "precision@0.25", "p50": "precision@0.5"}
    notes = [
        "Share of right strings among the highest scored; ties at the cutoff count by their expected share. "
        "Length: shorter first, a baseline."
    ]
    return _section(data, "precision", "precision at coverage, %", "Figure 21", keys, "ci_rate", notes, (*SCORES, "length"))


def against_baselines(data: PanelData) -> Section:
    """AUROC and AP beyond ranking by negative length, and Brier beyond the prevalence of the same draw."""
    rows = []
    for p, found in data.once(_bootstrap):
        for score in SCORES:
            over = found.differences[score, "length"]
            rows.append(
                {"population": p.name, "mixture": p.mixture, "score": score}
                | estimates.merged(
                    estimates.put("auroc", over["auroc"]),
                    estimates.put("ap", over["ap"]),
                    estimates.put("brier_gain", found[score]["brier_gain"]),
                )
            )
    columns = (
        Column("population", "population"),
        Column("mixture", "mixture"),
        Column("score", "score"),
        Column("auroc", "AUROC - length's", "ci_number"),
        Column("ap", "AP - length's", "ci_number"),
        Column("brier_gain", "Brier - prevalence's", "ci_number"),
    )
    return Section(
        "against_baselines",
        "beyond length and prevalence",
        "Table D12",
        columns,
        rows or [{"population": "main"} | estimates.absent(NONE, "auroc", "ap", "brier_gain")],
    )


def mixtures(data: PanelData) -> Section:
    """Native EM, Serial EM and SCR under both mixtures: a ratio of weighted sums, not a mean of ratios."""
    rows = []
    for p in populations(data):
        options = estimates.settings(p.panel) | {"weights": p.weights}
        rows.append(
            {"population": p.name, "mixture": p.mixture, "n": len(p.correct)}
            | estimates.merged(
                estimates.put("native_em", stats.bootstrap_mean(p.native.astype(int), p.lengths, **options)),
                estimates.put("serial_em", stats.bootstrap_mean(p.correct.astype(int), p.lengths, **options)),
                estimates.put("scr", stats.bootstrap_scr(p.native, p.correct, p.lengths, **options)),
            )
        )
    columns = (
        Column("population", "population"),
        Column("mixture", "mixture"),
        Column("native_em", "Native % [95 % CI]", "ci_rate"),
        Column("serial_em", "Serial % [95 % CI]", "ci_rate"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
    )
    rows = rows or [{"population": "main"} | estimates.absent(NONE, "native_em", "serial_em", "scr")]
    return Section("mixtures", "accuracy and SCR by length mixture", "Table D13", columns, rows)


def reliability(data: PanelData) -> Section:
    """Observed correctness in ten fixed bins of every score; empty bins stay empty."""
    rows = []
    for p in populations(data):
        if p.mixture == "source" or p.name != "new lexical":
            for score in SCORES:
                bins = stats.reliability_bins(p.scores[score], p.correct)
                cells = ["-" if b.observed is None else f"{100 * b.observed:.0f} ({b.count})" for b in bins]
                rows.append(
                    {
                        "population": p.name,
                        "score": score,
                        "bins": [
                            {"low": b.low, "high": b.high, "count": b.count, "mean_score": b.mean_score, "observed": b.observed}
                            for b in bins
                        ],
                    }
                    | {f"bin{i}": cell for i, cell in enumerate(cells)}
                )
    columns = (Column("population", "population"), Column("score", "score"), *(Column(f"bin{i}", f".{i}") for i in range(10)))
    notes = [] if rows else [f"No scores: {NONE}."]
    return Section("reliability", "observed % (items) by score", "Figures 19 and 20", columns, rows, notes)
