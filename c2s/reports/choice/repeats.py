"""Identical requests asked again: which choices and which probabilities stay (appendix D.2, Table D2)."""

from __future__ import annotations

from typing import Any

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row
from c2s.reports.section import Column, Section


def retained_by_repeat(data: PanelData, *, repeats: int) -> Section:
    """Native-correct items, and how many of them each Serial repeat keeps."""
    rows = []
    for domain, parents in data.domains.items():
        native = [row.value("native") for row in parents]
        row = {"domain": domain, "native": [sum(v is True for v in native), sum(v is not None for v in native)]}
        for r in range(repeats):
            right = [parent for parent, first in zip(parents, native, strict=True) if first]
            kept = [value for parent in right if (value := parent.value("serial", replicate=r)) is not None]
            row[f"serial_{r}"] = [sum(kept), len(kept)]
        rows.append(row)
    columns = (
        Column("domain", "domain"),
        Column("native", "Native correct", "of"),
        *(Column(f"serial_{r}", f"Serial {r}", "of") for r in range(repeats)),
    )
    return Section("retained_by_repeat", "kept in each repeat / Native correct", "Table D2", columns, rows)


def choice_stability(data: PanelData, *, repeats: int) -> Section:
    """Share of parents whose outputs, and whose correctness, are the same in every repeat."""
    rows = []
    for domain, parents in data.domains.items():
        for arm in ("native", "serial"):
            found = [(row, group) for row in parents if (group := row.all_ok([arm], range(repeats))) is not None]
            strata = [row.stratum for row, _ in found]
            rows.append(
                {"domain": domain, "arm": arm, "n": len(found), "n_planned": len(parents)}
                | estimates.merged(
                    estimates.share("same_output", [len({o.output for o in group}) == 1 for _, group in found], strata, data.panel),
                    estimates.share("same_correctness", [len({o.correct for o in group}) == 1 for _, group in found], strata, data.panel),
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("n", "n", "int"),
        Column("same_output", "same output % [95 % CI]", "ci_rate"),
        Column("same_correctness", "same correctness % [95 % CI]", "ci_rate"),
    )
    return Section("choice_stability", f"{repeats} repeats: choices", "D.2", columns, rows)


def probability_stability(data: PanelData, *, repeats: int) -> Section:
    """How far apart reported probabilities lie between repeats: range of Native's over its candidates, and of Serial's first step."""
    rows = []
    for domain, parents in data.domains.items():
        for arm in ("native", "serial"):
            ranges = [(row, spread) for row in parents if (spread := _spread(row, arm, repeats)) is not None]
            row: dict[str, Any] = {"domain": domain, "arm": arm, "n": len(ranges)}
            if ranges:
                row |= estimates.mean("mean_range", [s for _, s in ranges], [r.stratum for r, _ in ranges], data.panel)
                row |= {"max_range": max(s for _, s in ranges), "identical": [sum(s == 0 for _, s in ranges), len(ranges)]}
            else:
                row |= estimates.absent("no item has probabilities in every repeat", "mean_range", "max_range", "identical")
            rows.append(row)
    columns = (
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("mean_range", "mean range [95 % CI]", "ci_number"),
        Column("max_range", "largest", "number"),
        Column("identical", "identical", "of"),
    )
    notes = [
        "Native: largest change of a candidate's probability. Serial: change of the first step's top probability,",
        "the one step whose request is the same in every repeat.",
    ]
    return Section("probability_stability", f"{repeats} repeats: probabilities", "D.2", columns, rows, notes)


def _spread(row: Row, arm: str, repeats: int) -> float | None:
    group = row.all_ok([arm], range(repeats))
    if group is None:
        return None
    vectors = [o.detail["distribution"][0] if arm == "native" else o.detail["top"][:1] for o in group]
    if any(v is None or None in v for v in vectors):
        return None
    return float(max(max(values) - min(values) for values in zip(*vectors, strict=True)))
