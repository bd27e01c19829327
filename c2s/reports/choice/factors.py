"""Crossed controller factors (D.7, Figure 13, Table D8): counts by cell, and average effects within source."""

from __future__ import annotations

from collections.abc import Sequence

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
        native = data.arm(interface="native", variant=branch)
        rows.append(row | pair(data, data.rows, native, _arm(data, (branch, choices, queries))))
    columns = (
        Column("branch", "branch"),
        Column("choices", "choices", "int"),
        Column("queries", "queries", "int"),
        Column("em_count", "correct", "of"),
        Column("scr_count", "kept / Native", "of"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
    )
    return Section("cells", "eight configurations", "Table D8, Figure 13 a, b", columns, rows, ["Queries exclude supplied positions."])


def _arm(data: PanelData, cell: Cell) -> str:
    branch, choices, queries = cell
    return data.arm(interface="serial", variant=branch, choices=choices, queries=queries)


def effects(data: PanelData, *, cells: Sequence[Cell]) -> Section:
    """Each factor's second level minus its first, averaged over the other two within source; exact sign flips over sources."""
    arms = {cell: _arm(data, cell) for cell in cells}
    rows = []
    for factor, name in ((1, "26 - 10 choices"), (2, "6 - 2 queries"), (0, "late - early")):
        low, high = dict.fromkeys(cell[factor] for cell in cells)
        halves = [[arms[cell] for cell in cells if cell[factor] == level] for level in (high, low)]
        found = [(row, e) for row in data.rows if (e := _effect(row, halves)) is not None]
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


def _effect(row: Row, halves: Sequence[Sequence[str]]) -> float | None:
    """Right answers of the arms with a factor's second level minus those with its first one, a share of the pairs."""
    second, first = (row.all_values(arms) for arms in halves)
    return None if second is None or first is None else (sum(second) - sum(first)) / len(first)
