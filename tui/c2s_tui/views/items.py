"""The item list: what is filtered, how many there are of each transition, and one line an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from c2s.ledger.pairs import TRANSITIONS, Pair
from c2s_tui import numbers
from c2s_tui.data.filters import Filter, panels_for
from c2s_tui.data.items import ItemRow, Side
from c2s_tui.data.plan import Plan
from c2s_tui.data.selection import Selection, Sort
from c2s_tui.text import Line, Span, clip, span, visible
from c2s_tui.views.table import Cell, Column, Layout, fit
from c2s_tui.views.words import ROLES, SIGNS, arm_title, transition_span

COLUMNS = (
    Column("order", "#", 5, 7, right=True, rank=8),
    Column("panel", "PANEL", 10, 20),
    Column("item", "ITEM", 12, 24),
    Column("domain", "DOMAIN", 7, 10, rank=5),
    Column("length", "LEN", 3, 4, right=True, rank=4),
    Column("target", "TARGET", 8, 16, rank=2),
    Column("transition", "TRANSITION", 13, 20),
    Column("native", "NATIVE", 8, 16, rank=3),
    Column("serial", "SERIAL", 8, 16, rank=1),
    Column("first_wrong", "WRONG", 5, 6, right=True, rank=6),
    Column("min_confidence", "MIN P", 5, 6, right=True, rank=7),
    Column("problem", "PROBLEM", 20, 120, rank=10),
)
"""`WRONG` is the first wrong position (of a dialogue: turn) of the second arm, `MIN P` the smallest top probability among its answers."""


def items_layout(width: int, pair: Pair, panels: Sequence[str] = (), plan: Plan | None = None) -> Layout:
    """The list's columns; the heads of the two arms carry their names. Dialogues have long ids and no problem text."""
    heads = {"native": arm_title(pair.first).upper(), "serial": arm_title(pair.second).upper()}
    columns = [
        Column(c.key, heads.get(c.key, c.head), c.least, c.most, c.right, c.rank) for c in COLUMNS if c.key != "panel" or len(panels) > 1
    ]
    whole = plan is not None and bool(panels) and plan.whole.issuperset(panels)
    return fit(of_dialogues(columns, width) if whole else columns, width - 1)


def of_dialogues(columns: Sequence[Column], width: int) -> list[Column]:
    return [replace(c, least=max(20, min(32, width // 4)), most=40) if c.key == "item" else c for c in columns if c.key != "problem"]


def count_spans(counts: Mapping[str, int], chosen: Filter) -> list[Span]:
    """`= both 138  - native only 613 ...`, each to be clicked; the ones that are filtered for stand out."""
    total = sum(counts.values())
    parts = [span(f"{numbers.count(total)} items", "bold", ("transition", None))]
    for name in TRANSITIONS:
        role = ROLES[name] if counts.get(name) else "dim"
        text = f"{SIGNS[name]} {name} {numbers.count(counts.get(name, 0))}"
        parts.append(span(f"[{text}]" if name in chosen.transitions else text, role, ("transition", name)))
    return parts


def count_lines(counts: Mapping[str, int], chosen: Filter, width: int) -> list[Line]:
    """The counts on as many lines as they need."""
    lines: list[list[Span]] = [[]]
    used = 0
    for part in count_spans(counts, chosen):
        size = len(part.text) + 2
        if lines[-1] and used + size > width:
            lines.append([])
            used = 0
        lines[-1] += [part, Span("  ")]
        used += size
    return [Line(*line[:-1]) for line in lines]


def filter_line(chosen: Filter, sort: Sort, pair: Pair, panels: Sequence[str], of: int) -> Line:
    """What the list is restricted to and sorted by; of several panels, those that have the two arms."""
    parts: list[Span | str] = [span(f"{arm_title(pair.first)} -> {arm_title(pair.second)}", "bold")]
    if of > 1 and chosen.panel is None:
        parts.append(
            span(f"   {panels[0]}" if len(panels) == 1 else f"   listed: the {len(panels)} of {of} panels that have both arms", "warn")
        )
    parts.append("   filter: " if chosen else span("   no filter", "dim"))
    if chosen:
        parts.append(span(chosen.typed(), "accent"))
    order = "plan order" if sort.by == "order" else sort.by.replace("_", " ")
    parts.append(span(f"   sorted by {order}{', descending' if sort.descending else ''}", "dim"))
    return Line(*parts)


def progress_line(selection: Selection, parents: int) -> Line | None:
    """While the parents are still being gone through."""
    if selection.complete:
        return None
    return Line(span(f"looked at {numbers.count(selection.of)} of {numbers.count(parents)} parents so far", "warn"))


def item_line(row: ItemRow, layout: Layout) -> Line:
    values: dict[str, Cell] = {
        "order": span(str(row.id), "dim"),
        "panel": row.panel,
        "item": row.name,
        "domain": row.domain,
        "length": str(row.length),
        "target": target_span(row),
        "transition": transition_span(row.transition),
        "native": output_spans(row.first, row.target, layout.width("native")),
        "serial": output_spans(row.second, row.target, layout.width("serial")),
        "first_wrong": span("", "dim") if row.second.first_wrong is None else span(str(row.second.first_wrong), "bad"),
        "min_confidence": "" if row.second.min_confidence is None else f"{row.second.min_confidence:.3f}",
        "problem": span(row.problem or "", "dim"),
    }
    return Line(" ") + layout.row(values)


def target_span(row: ItemRow) -> Span | str:
    if row.target is not None:
        return row.target
    return span(f"{row.length} turns" if row.first.turns or row.second.turns else "none", "dim")


def output_spans(side: Side, target: str | None, width: int) -> tuple[Span, ...]:
    """An output with what is wrong of it marked, from the first wrong position on."""
    if side.status is None:
        return (span("…", "dim"),)
    if side.turns is not None and side.status == "ok":
        return (span(side.turns, "good" if side.correct else ""),)
    if side.output is None:
        return (span("undefined" if side.status != "ok" else "none", "warn"),)
    output = side.output[: 8 * width + 64]
    if side.correct or target is None:
        return (Span(clip(visible(output), width), "good" if side.correct else ""),)
    at = max(0, (side.first_wrong or 1) - 1)
    good, wrong = visible(output[:at]), visible(output[at:])
    return (Span(good), Span(clip(wrong or "(ends)", max(0, width - len(good))), "wrong"))


def items_head(selection: Selection, width: int, plan: Plan) -> list[Line]:
    """The lines above the list."""
    panels = panels_for(selection.chosen, plan)
    lines = [filter_line(selection.chosen, selection.sort, selection.pair, panels, len(plan.panels)).fit(width)]
    lines += count_lines(selection.counts, selection.chosen, width)
    progress = progress_line(selection, plan.last)
    return [*lines, progress] if progress else lines
