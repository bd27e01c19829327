"""Several arms against one conditioning arm: accuracy, joint table, SCR, gain rate (section 3.1; Figures 11 and 12, Table D8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined, strata_of, value_of
from c2s.reports.section import Column, Section

COLUMNS = (
    Column("domain", "domain"),
    Column("arm", "arm"),
    Column("em", "EM % [95 % CI]", "ci_rate"),
    Column("joint", "both/lost/gained/neither", "slashes"),
    Column("scr", "SCR % [95 % CI]", "ci_rate"),
    Column("gain_rate", "gain %", "rate"),
)


def retained(data: PanelData, *, native: str, arms: Sequence[str], source: str) -> Section:
    """One row for the conditioning arm and one for every other, by domain; pairs with an undefined arm drop as pairs."""
    rows = []
    for domain, parents in data.domains.items():
        rows.append({"domain": domain, "arm": native} | accuracy(data, parents, native))
        rows += [{"domain": domain, "arm": arm} | pair(data, parents, native, arm) for arm in arms]
    notes = ["Joint table, SCR and gain rate: against " + native + " on the same parents."]
    return Section("retained", "what is right, and what stays right", source, COLUMNS, rows, notes)


def accuracy(data: PanelData, rows: Sequence[Row], arm: str, measure: str = "correct", key: str = "em") -> dict[str, Any]:
    """Share right of one arm over the parents where it is defined."""
    found = defined(rows, value_of(arm, measure))
    strata = strata_of([row for row, _ in found])
    return {"n": len(found), "n_planned": len(rows)} | estimates.share(key, [hit for _, hit in found], strata, data.panel)


def pair(data: PanelData, rows: Sequence[Row], native: str, arm: str, replicates: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    """EM of `arm`, joint table and SCR given `native`, over the pairs that are defined."""
    found = defined(rows, value_of(native, replicate=replicates[0]), value_of(arm, replicate=replicates[1]))
    strata = strata_of([row for row, _, _ in found])
    first, second = [a for _, a, _ in found], [b for _, _, b in found]
    return {"n": len(found), "n_planned": len(rows)} | estimates.merged(
        estimates.share("em", second, strata, data.panel),
        estimates.joint(first, second),
        estimates.retention("scr", first, second, strata, data.panel, native),
    )


def by_presentation(data: PanelData, *, presentations: Sequence[str], source: str) -> Section:
    """Native and Serial of every presentation of the same parents; SCR given that presentation's own Native."""
    rows = []
    for domain, parents in data.domains.items():
        for name in presentations:
            first, second = (data.arm(interface=interface, variant=name) for interface in ("native", "serial"))
            shown = [row for row in parents if (first, 0, 0) in row.outcomes]
            row = {"domain": domain, "presentation": name} | pair(data, shown, first, second)
            native = accuracy(data, shown, first, key="native_em")
            reasons = native.get("undefined", {})
            rows.append(estimates.merged(row, {"native_em": native["native_em"]} | ({"undefined": reasons} if reasons else {})))
    columns = (
        Column("presentation", "presentation"),
        Column("native_em", "Native %", "rate"),
        Column("em", "Serial % [95 % CI]", "ci_rate"),
        Column("joint", "both/lost/gained/neither", "slashes"),
        Column("scr_count", "kept", "of"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
    )
    return Section("by_presentation", "Native and Serial by presentation", source, columns, rows)
