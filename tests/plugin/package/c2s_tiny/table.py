"""How many outputs begin as their target does."""

from __future__ import annotations

from c2s.reports.data import PanelData
from c2s.reports.section import Column, Section


def first_letters(data: PanelData, letters: int) -> Section:
    rows = []
    for arm in data.panel.arms:
        outputs = [(row.parent.target, outcome.output or "") for row in data.rows if (outcome := row.ok(arm.name)) is not None]
        right = sum(output[:letters] == target[:letters] for target, output in outputs)
        rows.append({"arm": arm.name, "right": right, "n": len(outputs)})
    columns = (Column("arm", "arm"), Column("right", "first letter right", "int"), Column("n", "of", "int"))
    return Section("first_letters", "how outputs begin", "not in the paper", columns, rows)
