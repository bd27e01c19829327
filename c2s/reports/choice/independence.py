"""The empirical independence reference (D.10, Figure 14): what position accuracies alone would give."""

from __future__ import annotations

from typing import Any, NamedTuple

from c2s import stats
from c2s.reports import estimates
from c2s.reports.data import PanelData
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
            found = []
            for row in parents:
                own, local, whole = row.ok(arm), main[row.parent.id].ok("serial"), main[row.parent.id].ok("native")
                if own is not None and own.output is not None and local is not None and whole is not None:
                    right = [a == b for a, b in zip(own.output, row.parent.target, strict=True)]
                    found.append(Item(right, bool(local.correct), bool(whole.correct), row.parent.length))
            for population in ("all", "native_correct"):
                rows += _rows(data, {"domain": domain, "condition": condition, "population": population}, found)
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


class Item(NamedTuple):
    """Which positions an arm has right, whether Serial and Native are right, and the length."""

    right: list[bool]
    serial: bool
    native: bool
    length: int


def _rows(data: PanelData, key: dict[str, Any], found: list[Item]) -> list[dict[str, Any]]:
    if not found:
        return [key | {"length": "all", "n": 0, "reference": None, "undefined": {"reference": "no parent is defined"}}]
    member = [key["population"] == "all" or item.native for item in found]
    if not any(member):
        return [key | {"length": "all", "n": 0, "reference": None, "undefined": {"reference": "no Native success"}}]
    result = stats.bootstrap_independence_reference(
        [item.right for item in found],
        [item.serial for item in found],
        [item.length for item in found],
        member,
        **estimates.settings(data.panel),
    )
    made = []
    for length, part in [*result.by_length.items(), ("all", result.pooled)]:
        row = key | {"length": str(length), "n": part.n}
        made.append(row | estimates.merged(*(estimates.put(name, getattr(part, name)) for name in QUANTITIES)))
    return made
