"""The empirical independence reference (D.10, Figure 14): what position accuracies alone would give."""

from __future__ import annotations

from c2s import stats
from c2s.reports import estimates
from c2s.reports.data import PanelData, Row
from c2s.reports.section import Column, Section

QUANTITIES = ("reference", "string_em", "serial_em", "string_minus_reference", "serial_minus_reference")


def reference(data: PanelData) -> Section:
    """R, string EM and Serial EM by condition, population and length; everything recomputed together in each draw."""
    main = {row.parent.id: row for row in data.used("main").rows}
    gold = {row.parent.id: row for row in data.used("gold-copy").rows}
    rows = []
    for condition, arm, source in (("Independent", "independent", main), ("TeacherForced", "teacher_forced", gold)):
        for domain in sorted({row.parent.domain for row in source.values()}, reverse=True):
            parents = [row for row in source.values() if row.parent.domain == domain]
            found = [
                (row, main[row.parent.id])
                for row in parents
                if row.ok(arm) and main[row.parent.id].ok("serial") and main[row.parent.id].ok("native")
            ]
            for population in ("all", "native_correct"):
                rows += _rows(data, {"domain": domain, "condition": condition, "population": population}, arm, found)
    columns = (
        Column("domain", "domain"),
        Column("condition", "condition"),
        Column("population", "items"),
        Column("length", "length"),
        Column("reference", "product R %", "rate"),
        Column("string_em", "EM %", "rate"),
        Column("serial_em", "Serial %", "rate"),
        Column("string_minus_reference", "EM - R", "points"),
        Column("serial_minus_reference", "Serial - R [95 % CI]", "ci_points"),
    )
    notes = ["R: product over positions of the share of right answers; an empirical reference, not a probability of the model."]
    return Section("reference", "independence reference", "Figure 14", columns, rows, notes)


def _rows(data: PanelData, key: dict, arm: str, found: list[tuple[Row, Row]]) -> list[dict]:
    if not found:
        return [key | {"length": "all", "n": 0, "reference": None, "undefined": {"reference": "no parent is defined"}}]
    right = [[a == b for a, b in zip(row.ok(arm).output, row.parent.target, strict=True)] for row, _ in found]
    serial = [bool(other.ok("serial").correct) for _, other in found]
    lengths = [row.parent.length for row, _ in found]
    member = [key["population"] == "all" or bool(other.ok("native").correct) for _, other in found]
    if not any(member):
        return [key | {"length": "all", "n": 0, "reference": None, "undefined": {"reference": "no Native success"}}]
    result = stats.bootstrap_independence_reference(right, serial, lengths, member, **estimates.settings(data.panel))
    made = []
    for length, part in [*result.by_length.items(), ("all", result.pooled)]:
        row = key | {"length": str(length), "n": part.n}
        made.append(row | estimates.merged(*(estimates.put(name, getattr(part, name)) for name in QUANTITIES)))
    return made
