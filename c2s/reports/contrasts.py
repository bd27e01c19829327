"""Paired contrasts between arms on the same parents, and between partner items of two domains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined, value_of
from c2s.reports.section import TEST_OF, Column, Section

COLUMNS = (
    Column("domain", "domain"),
    Column("contrast", "contrast"),
    Column("difference", "points [95 % CI]", "ci_points"),
    Column("joint", "both/lost/gained/neither", "slashes"),
    *TEST_OF,
)


def contrasts(data: PanelData, *, family: str, pairs: Sequence[tuple[str, str]], source: str, measure: str = "correct") -> Section:
    """First arm minus second: difference of EM (or of fidelity), recoveries and losses, exact McNemar; Holm over `family`."""
    rows = []
    for domain, parents in data.domains.items():
        for first, second in pairs:
            found = defined(parents, value_of(first, measure), value_of(second, measure))
            a, b = [x for _, x, _ in found], [y for _, _, y in found]
            rows.append(
                {"domain": domain, "contrast": f"{first} - {second}", "family": family, "n": len(found), "n_planned": len(parents)}
                | estimates.merged(
                    estimates.difference("difference", a, b, [r.stratum for r, _, _ in found], data.panel), estimates.mcnemar(a, b)
                )
            )
    title = "paired contrasts" + (" of fidelity" if measure == "fidelity" else "")
    notes = ["Contrast: first minus second. Lost: the second is right and the first wrong; gained: the reverse."]
    return Section(f"contrasts:{family}", title, source, COLUMNS, rows, notes)


def interaction(data: PanelData, *, arms: Sequence[str], family: str, title: str, source: str, measure: str = "correct") -> Section:
    """(first - second) minus (third - fourth) of the four arms, paired by parent; exact sign flips, Holm over `family`."""
    rows = []
    for domain, parents in data.domains.items():
        found = defined(parents, *(value_of(arm, measure) for arm in arms))
        values = np.array([(int(a) - int(b)) - (int(c) - int(d)) for _, a, b, c, d in found], dtype=int)
        rows.append(
            {"domain": domain, "family": family, "n": len(found), "n_planned": len(parents)}
            | estimates.merged(
                estimates.mean("interaction", values, [r.stratum for r, *_ in found], data.panel), estimates.sign_flip(values, data.panel)
            )
        )
    columns = (Column("domain", "domain"), Column("n", "n", "int"), Column("interaction", "points [95 % CI]", "ci_points"), *TEST_OF)
    return Section("interaction", title, source, columns, rows)


def between_domains(data: PanelData, *, arms: Sequence[str], source: str) -> Section:
    """Lexical minus arithmetic EM over partner pairs, which are resampled together (exploratory, D.6)."""
    partners: dict[str, dict[str, Row]] = {}
    for row in data.rows:
        partners.setdefault(row.parent.pair or row.parent.id, {})[row.parent.domain] = row
    rows = []
    for arm in arms:
        found = []
        for pair in partners.values():
            if {"math", "lexical"} <= set(pair):
                values = [pair[name].value(arm) for name in ("lexical", "math")]
                if None not in values:
                    found.append((pair["math"].stratum, *values))
        a, b = [x for _, x, _ in found], [y for _, _, y in found]
        rows.append({"arm": arm, "n": len(found)} | estimates.difference("difference", a, b, [s for s, _, _ in found], data.panel))
    columns = (Column("arm", "arm"), Column("n", "pairs", "int"), Column("difference", "lexical - math, points [95 % CI]", "ci_points"))
    return Section("between_domains", "domain contrast over partner pairs", source, columns, rows)
