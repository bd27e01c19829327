"""Characters of the same items under two conditions, by exploratory GEE (section 3.4, A.6, B.1): `c2s report --exploratory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from c2s.reports.data import PanelData
from c2s.reports.section import Column, Section
from c2s.stats.gee import gee_odds_ratio


def odds(data: PanelData, *, own: Sequence[str], main: Sequence[str], reference: str = "independent") -> Section:
    """Odds of a right character in each arm over those in `reference`, on the panel's parents; `main` names arms of main."""
    elsewhere = {row.parent.id: row for row in data.used("main").rows} if data.panel.name != "main" else {}
    rows = []
    for domain, parents in data.domains.items():
        for arm in (*own, *main):
            outcomes: list[bool] = []
            conditions: list[str] = []
            items: list[str] = []
            for name in (reference, arm):
                for parent in parents:
                    source = parent if name in own else elsewhere.get(parent.parent.id, parent)
                    found, target = source.ok(name), parent.parent.target
                    if found is not None and found.output is not None:
                        outcomes += [a == b for a, b in zip(found.output, target, strict=True)]
                        conditions += [name] * len(target)
                        items += [parent.parent.id] * len(target)
            rows.append(_row(domain, arm, outcomes, conditions, items, reference))
    columns = (
        Column("domain", "domain"),
        Column("contrast", "condition"),
        Column("clusters", "items", "int"),
        Column("odds_ratio", "odds ratio [95 % CI]", "ci_number"),
        Column("p", "p", "p"),
        Column("correlation", "corr.", "number"),
    )
    notes = [
        "Exploratory, not corrected: GEE, logit link, exchangeable within item, robust errors.",
        "Only converged, finite fits without separation are shown.",
    ]
    return Section("gee", "right characters, clustered by item", "section 3.4, A.6", columns, rows, notes)


def _row(domain: str, arm: str, outcomes: list[bool], conditions: list[str], items: list[str], reference: str) -> dict[str, Any]:
    row: dict[str, Any] = {"domain": domain, "contrast": f"{arm} / {reference}", "clusters": len(set(items)), "n": len(outcomes)}
    empty = {"odds_ratio": None, "odds_ratio_interval": None, "odds_ratio_method": None, "p": None, "correlation": None}
    if set(conditions) != {arm, reference}:
        return row | empty | {"undefined": {"odds_ratio": "one of the two conditions has no defined outcome"}}
    found = gee_odds_ratio(outcomes, conditions, items, reference=reference)
    if found.estimate is None:
        return row | empty | {"undefined": {"odds_ratio": found.note}}
    interval = {"odds_ratio_interval": [found.low, found.high], "odds_ratio_method": "gee"}
    return row | {"odds_ratio": found.estimate, "p": found.p, "correlation": found.correlation} | interval
