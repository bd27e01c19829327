"""How outputs comply with what was asked for, apart from whether they are right (section 5.3, appendix D: output scoring)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from c2s.records import VALID_KINDS
from c2s.reports.data import PanelData
from c2s.reports.section import Column, Row, Section


def compliance(data: PanelData) -> Section:
    """Outcomes of every arm by kind, repeats included. The text report shows the table only where something was invalid."""
    rows: list[Row] = []
    kinds: Counter[str] = Counter()
    for domain, parents in data.domains.items():
        for arm in data.panel.arms:
            found = [o for row in parents for (name, *_), o in row.outcomes.items() if name == arm.name]
            if not found:
                continue
            counts = Counter(o.kind for o in found if o.status == "ok" and o.kind is not None)
            kinds.update(counts)
            n = sum(counts.values())
            rows.append(
                {
                    "domain": domain,
                    "arm": arm.name,
                    "outcomes": len(found),
                    "undefined": {"valid": "no outcome has a kind"} if not n else {},
                    "n_undefined": sum(o.status != "ok" for o in found),
                    "valid": sum(counts[kind] for kind in VALID_KINDS) / n if n else None,
                    "kinds": dict(sorted(counts.items())),
                }
            )
    others = sorted(set(kinds) - set(VALID_KINDS))
    columns = (
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("outcomes", "outcomes", "int"),
        Column("n_undefined", "undefined", "int"),
        Column("valid", "valid %", "rate"),
        *(Column(kind, kind.replace("_", " "), "int") for kind in others),
    )
    notes = ["Valid: an offered option, right or wrong. Undefined: ended in error or unknown, or not reached."]
    return Section("compliance", "compliance with the contract", "D.13's kinds", columns, rows, notes, bool(others), _by_kind)


def _by_kind(rows: Sequence[Row]) -> list[Row]:
    every = sorted({kind for row in rows for kind in row["kinds"]})  # sorted: a report has the same bytes in every process
    return [row | {kind: row["kinds"].get(kind, 0) for kind in every} for row in rows]
