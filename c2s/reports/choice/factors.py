"""Crossed controller factors (D.7, Figure 13, Table D8): counts by cell, and average effects within source."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row
from c2s.reports.retained import pair
from c2s.reports.section import TEST_OF, Column, Section

Cell = tuple[str, int, int]


def cells(data: PanelData, *, cells: Sequence[Cell]) -> Section:
    """Correct outputs and SCR given the presentation's Native, by branch, choices and queries."""
    rows = []
    for branch, choices, queries in cells:
        row = {"branch": branch, "choices": choices, "queries": queries}
        rows.append(row | pair(data, data.rows, branch_native(branch), f"{branch}_{choices}_{queries}"))
    columns = (
        Column("branch", "branch"),
        Column("choices", "choices", "int"),
        Column("queries", "queries", "int"),
        Column("em_count", "correct", "of"),
        Column("scr_count", "kept / Native", "of"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
    )
    return Section("cells", "eight configurations", "Table D8, Figure 13 a, b", columns, rows, ["Queries exclude supplied positions."])


def branch_native(branch: str) -> str:
    return f"native_{branch}"


def effects(data: PanelData, *, cells: Sequence[Cell]) -> Section:
    """Each factor's second level minus its first, averaged over the other two within source; exact sign flips over sources."""
    levels = [list(dict.fromkeys(cell[i] for cell in cells)) for i in range(3)]
    rows = []
    for i, name in ((1, "26 - 10 choices"), (2, "6 - 2 queries"), (0, "late - early")):
        found = [(row, e) for row in data.rows if (e := _effect(row, i, levels)) is not None]
        values = np.array([e for _, e in found])
        rows.append(
            {"factor": name, "family": "factors", "n": len(found), "n_planned": len(data.rows)}
            | estimates.merged(
                estimates.mean("effect", values, [row.stratum for row, _ in found], data.panel), estimates.sign_flip(values, data.panel)
            )
        )
    columns = (
        Column("factor", "factor"),
        Column("n", "sources", "int"),
        Column("effect", "points [95 % CI]", "ci_points"),
        *TEST_OF,
    )
    return Section("effects", "average effects within source", "Figure 13 c, six tests", columns, rows)


def _effect(row: Row, factor: int, levels: Sequence[Sequence[object]]) -> float | None:
    total, count = 0, 0
    for others in product(*(levels[j] for j in range(3) if j != factor)):
        pair_of = []
        for level in levels[factor]:
            cell = list(others)
            cell.insert(factor, level)
            pair_of.append(row.value("_".join(map(str, cell))))
        if None in pair_of:
            return None
        total += int(pair_of[1]) - int(pair_of[0])
        count += 1
    return total / count
