"""Reading one position (B.5): evidence, option names, the extra loss from conflicting names, and the identity check (Figures 5b, 6).

Records and repeats are averaged within parent, so a base with two encodings counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from c2s.controllers.readout import EVIDENCE
from c2s.presentation.names import NAMINGS
from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined, outcome_of
from c2s.reports.section import TEST_OF, Column, Section

REPEATS = (0, 1)
"""Estimates that are compared between models use the first two repeats (A.5)."""


def _rate(row: Row, arms: Sequence[str]) -> float | None:
    """Share of right records over arms and repeats; None where one is undefined."""
    outcomes = row.all_ok(arms, REPEATS)
    if outcomes is None:
        return None
    right: list[bool] = [hit for outcome in outcomes for hit in outcome.detail["right"]]
    return sum(right) / len(right)


def _table(data: PanelData, domain: str, rows: Sequence[Row], key: str, arms: Sequence[str]) -> dict[str, Any]:
    found = [(row, rate) for row in rows if (rate := _rate(row, arms)) is not None]
    return {"domain": domain, "n": len(found), "n_planned": len(rows)} | estimates.mean(
        key, [rate for _, rate in found], [row.stratum for row, _ in found], data.panel
    )


def by_evidence(data: PanelData) -> Section:
    """Accuracy under opaque names by evidence, and the paired contrasts between evidences."""
    rows = []
    for domain, parents in data.domains.items():
        for evidence in EVIDENCE:
            rows.append({"row": evidence} | _table(data, domain, parents, "accuracy", [data.arm(evidence=evidence, names="opaque")]))
        for a, b in combinations(EVIDENCE, 2):
            first, second = ([data.arm(evidence=evidence, names="opaque")] for evidence in (a, b))
            found = defined(parents, lambda row, arms=first: _rate(row, arms), lambda row, arms=second: _rate(row, arms))
            values = np.array([y - x for _, x, y in found])
            strata = [row.stratum for row, *_ in found]
            rows.append(
                {"domain": domain, "row": f"{b} - {a}", "family": "evidence", "n": len(found)}
                | estimates.merged(estimates.mean("difference", values, strata, data.panel), estimates.sign_flip(values, data.panel))
            )
    columns = (
        Column("domain", "domain"),
        Column("row", "evidence"),
        Column("n", "n", "int"),
        Column("accuracy", "accuracy % [95 % CI]", "ci_rate"),
        Column("difference", "points [95 % CI]", "ci_points"),
        Column("p_holm", "p (Holm)", "p"),
    )
    return Section("by_evidence", "opaque names, by evidence", "Figure 6", columns, rows)


def by_name(data: PanelData) -> Section:
    rows = []
    for domain, parents in data.domains.items():
        for naming in NAMINGS:
            parts = [_table(data, domain, parents, evidence, [data.arm(evidence=evidence, names=naming)]) for evidence in EVIDENCE]
            for part in parts:
                del part["n"], part["n_planned"]  # each evidence has its own
            rows.append({"domain": domain, "names": naming} | estimates.merged(*parts))
    columns = (
        Column("domain", "domain"),
        Column("names", "names"),
        *(Column(evidence, f"{evidence} % [95 % CI]", "ci_rate") for evidence in EVIDENCE),
    )
    return Section("by_name", "option names, by evidence", "B.5", columns, rows, ["What an option stands for is always its description."])


def conflict_loss(data: PanelData) -> Section:
    """(aligned - conflicting) - (opaque - remapped), averaged over evidences within parent."""
    rows = []
    arms = {naming: [data.arm(evidence=evidence, names=naming) for evidence in EVIDENCE] for naming in NAMINGS}
    for domain, parents in data.domains.items():
        found = [
            (row, (aligned - conflicting) - (opaque - remapped))
            for row, aligned, conflicting, opaque, remapped in defined(
                parents, *(lambda row, names=arms[naming]: _rate(row, names) for naming in ("aligned", "conflicting", "opaque", "remapped"))
            )
        ]
        values = np.array([v for _, v in found])
        rows.append(
            {"domain": domain, "family": "conflict", "n": len(found), "n_planned": len(parents)}
            | estimates.merged(
                estimates.mean("loss", values, [row.stratum for row, _ in found], data.panel), estimates.sign_flip(values, data.panel)
            )
        )
    columns = (
        Column("domain", "domain"),
        Column("n", "n", "int"),
        Column("loss", "extra loss, points [95 % CI]", "ci_points"),
        *TEST_OF,
    )
    return Section("conflict_loss", "extra loss from conflicting names", "Figure 5 b", columns, rows)


def identity(data: PanelData) -> Section:
    """The true/false check: right characters affirmed, others denied."""
    rows = []
    for domain, parents in data.domains.items():
        found = [(row, outcome.detail["right"]) for row, outcome in defined(parents, outcome_of("identity"))]
        strata = [row.stratum for row, _ in found]
        parts = [
            estimates.mean(key, [float(np.mean(right[start::2])) for _, right in found], strata, data.panel)
            for key, start in (("affirmed", 0), ("denied", 1))
        ]
        rows.append({"domain": domain, "n": len(found), "n_planned": len(parents)} | estimates.merged(*parts))
    columns = (
        Column("domain", "domain"),
        Column("n", "n", "int"),
        Column("affirmed", "right one affirmed % [95 % CI]", "ci_rate"),
        Column("denied", "other denied % [95 % CI]", "ci_rate"),
    )
    return Section("identity", "true/false identity check", "A.5", columns, rows)
