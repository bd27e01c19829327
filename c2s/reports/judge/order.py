"""Whether a verdict depends on the order of keys at all: between the orders against between byte-identical repeats (ours)."""

from __future__ import annotations

from typing import Any

from c2s.controllers.judge import CONTROLS, CUES
from c2s.panels.judge.qualification import PRESENTATIONS
from c2s.reports import estimates
from c2s.reports.data import PanelData, Row
from c2s.reports.judge.cells import asked, configurations, found, score, shown_name, skipped
from c2s.reports.section import TEST, Column, Section
from c2s.stats.order import order_effect

FAMILY = "judge order"
NAMES = {
    "random": "R",
    "random_colon": "R:",
    "bare_correct": "bare X",
    "bare_wrong": "bare Y",
    "wrong_final": "final Y",
    "valid_revision": "revision X",
}


def order(data: PanelData) -> Section:
    """Verdicts that differ between insertion and sorted, and between repeats; the cues have repeats, so they alone are tested."""
    rows: list[dict[str, Any]] = []
    for contract in configurations(data):
        why = skipped(data, contract)
        if why is not None:
            skipped_row = {"configuration": shown_name(contract, data), "family": FAMILY} | estimates.absent(why, "changed", "p")
            rows += [skipped_row | {"condition": NAMES[cue]} for cue in CUES]
            continue
        rows += [_row(data, contract, condition) for condition in (*CUES, *CONTROLS)]
    notes = [
        "Changed: sources whose label differs between insertion and sorted. Repeats: the same for byte-identical requests, of both orders. "
        "p: exact randomisation test that the two orders are exchangeable, given how much repeats differ.",
    ]
    for contract in asked(data):
        cues = [row for row in rows if row["configuration"] == shown_name(contract, data) and row["condition"] in ("R", "R:")]
        scored = sum(row["scores_compared"] for row in cues)
        if scored and not any(row["changed"][0] or row["scores_moved"] for row in cues):
            notes.append(
                f"{shown_name(contract, data)}: order-invariant here: the same labels and the same displayed scores in both orders."
            )
    return Section(
        "order",
        "Verdicts that change with the order of keys",
        "ours",
        (
            Column("configuration", "rule"),
            Column("condition", "condition"),
            Column("changed", "changed", "of"),
            Column("repeats", "repeats", "of"),
            Column("scores_moved_of", "scores moved", "of"),
            *TEST,
        ),
        rows,
        notes,
    )


def _row(data: PanelData, contract: str, condition: str) -> dict[str, Any]:
    labels = [_labels(row, contract, condition) for row in data.rows]
    pairs = [(a[0], b[0]) for a, b in labels if a[0] is not None and b[0] is not None]
    scores = [[score(row, contract, presentation, condition) for presentation in PRESENTATIONS] for row in data.rows]
    moved = [abs(x - y) > 1e-9 for x, y in scores if x is not None and y is not None]
    row: dict[str, Any] = {"configuration": shown_name(contract, data), "condition": NAMES[condition]}
    row |= {"changed": [sum(a != b for a, b in pairs), len(pairs)]}
    row |= {"scores_moved": sum(moved), "scores_compared": len(moved)}
    row |= {"scores_moved_of": [sum(moved), len(moved)]} if moved else estimates.absent("no displayed scores", "scores_moved_of")
    if condition not in CUES:
        return estimates.merged(row, estimates.absent("controls are asked once", "repeats"))
    repeats = [pair for both in labels for pair in both if None not in pair]
    units = [[*a, *b] for a, b in labels if None not in (*a, *b)]
    effect = order_effect(units)
    row["repeats"] = [sum(a != b for a, b in repeats), len(repeats)]
    row |= {"family": FAMILY, "p": effect.p, "between": effect.between, "within": effect.within, "excess": effect.excess, "n": effect.n}
    return row if effect.p is not None else estimates.merged(row, estimates.absent("no source has all four answers", "p"))


def _labels(row: Row, contract: str, condition: str) -> list[list[str | None]]:
    """[primary, repeat] under insertion and under sorted."""
    return [
        [None if (o := found(row, contract, presentation, condition, r)) is None else o.output for r in (0, 1)]
        for presentation in PRESENTATIONS
    ]
