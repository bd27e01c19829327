"""Two sides: the matrix of their transitions, the tests, and the items behind a cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

from c2s.ledger.pairs import Pair
from c2s_tui import numbers
from c2s_tui.data.compare import CELLS, Comparison, SideSpec, Tests
from c2s_tui.data.items import ItemRow
from c2s_tui.text import Line, Span, cell, columns, span, wrap
from c2s_tui.views.items import of_dialogues, output_spans, target_span
from c2s_tui.views.table import Cell, Column, Layout, fit, sized
from c2s_tui.views.words import ROLES, SIGNS, arm_title, transition_span

COLUMNS = (
    Column("item", "ITEM", 12, 24),
    Column("domain", "DOMAIN", 7, 10, rank=5),
    Column("target", "TARGET", 8, 16, rank=2),
    Column("left", "A", 9, 10),
    Column("right", "B", 9, 10),
    Column("left_out", "A OUT", 8, 16, rank=1),
    Column("right_out", "B OUT", 8, 16, rank=1),
    Column("left_wrong", "WRONG A", 7, right=True, rank=6),
    Column("right_wrong", "WRONG B", 7, right=True, rank=6),
    Column("problem", "PROBLEM", 20, 100, rank=8),
)


@dataclass(frozen=True, slots=True)
class SideName:
    """How a side is called on the screen."""

    run: str
    model: str
    pair: Pair

    @staticmethod
    def of(side: SideSpec) -> SideName:
        """Reads the run's manifest. Raises LedgerError."""
        return SideName(side.source.path.name, side.source.identity["model"], side.pair)

    @property
    def text(self) -> str:
        return f"{self.run} · {self.model} · {arm_title(self.pair.first)} -> {arm_title(self.pair.second)}"


def compare_lines(found: Comparison, left: SideName, right: SideName, chosen: tuple[int, int] | None, width: int) -> list[Line]:
    """Everything above the list of items. `chosen` is the cell whose items are listed."""
    lines = [
        Line(span("A  ", "title"), span(left.text)).fit(width),
        Line(span("B  ", "title"), span(right.text)).fit(width),
    ]
    matrix = _matrix(found, chosen)
    size, gap = max(line.width for line in matrix), 3
    if width - size - gap >= 70:
        return lines + columns(matrix, _tests(found, left, right, width - size - gap), size, gap)
    return [*lines, *matrix, *_tests(found, left, right, width)]


TESTS = (
    Column("domain", "DOMAIN", 7, 10),
    Column("items", "ITEMS", 5, right=True, rank=5),
    Column("changed", "CHANGED", 7, right=True, rank=4),
    Column("first", "", 9, right=True, rank=3),
    Column("first_p", "p", 7, right=True, rank=3),
    Column("second", "", 9, right=True, rank=1),
    Column("second_p", "p", 7, right=True, rank=1),
    Column("a", "SCR A", 5, right=True, rank=2),
    Column("b", "SCR B", 5, right=True, rank=2),
    Column("difference", "A - B [95 %]", 20, rank=2),
)


def _matrix(found: Comparison, chosen: tuple[int, int] | None) -> list[Line]:
    matrix = found.matrix()
    size = max(11, *(len(numbers.count(int(n))) + 2 for n in matrix.flat))
    head = [span("A \\ B", "dim"), Span(" " * 7)]
    head += [cell(f"{SIGNS[name]} {name} ", size, ROLES[name], right=True) for name in CELLS]
    lines = [Line(*head, cell("all ", size, "dim", right=True))]
    for r, name in enumerate(CELLS):
        parts: list[Span] = [cell(f"{SIGNS[name]} {name}", 12, ROLES[name])]
        for c in range(4):
            n = int(matrix[r, c])
            text = f"[{numbers.count(n)}]" if chosen == (r, c) else f"{numbers.count(n)} "
            role = "mark" if chosen == (r, c) else "dim" if n == 0 else "" if r == c else "bold"
            parts.append(cell(text, size, role, right=True, hit=("cell", r, c)))
        lines.append(Line(*parts, cell(numbers.count(int(matrix[r].sum())) + " ", size, "dim", right=True)))
    foot = [cell("all", 12, "dim")] + [cell(numbers.count(int(n)) + " ", size, "dim", right=True) for n in matrix.sum(axis=0)]
    return [*lines, Line(*foot, cell(numbers.count(int(matrix.sum())) + " ", size, "dim", right=True))]


def _tests(found: Comparison, left: SideName, right: SideName, width: int) -> list[Line]:
    """A line a domain: how many changed, McNemar on either arm (right in A only : right in B only), and the two SCRs."""
    heads = {"first": _head(left.pair.first, right.pair.first), "second": _head(left.pair.second, right.pair.second)}
    rows = [_test_cells(tests) for tests in found.tests]
    if found.whole:  # whole trajectories: what stays right is no SCR
        heads |= {"a": "KEPT A", "b": "KEPT B"}
    layout = fit(sized([replace(c, head=heads.get(c.key, c.head)) for c in TESTS], rows), width)
    lines = [layout.head(), *map(layout.row, rows)]
    methods = dict.fromkeys(tests.method for tests in found.tests if tests.method)
    for method in methods:
        note = f"A:B: right in A only : in B only, p: exact McNemar. A - B: {method}."
        lines += [Line(span(text, "dim")) for text in wrap(note, width)]
    left_out = [
        f"{numbers.count(n)} {what}"
        for n, what in (
            (found.dropped, "pairs undefined or pending"),
            (found.missing, "items in one run only"),
            (found.differing, "items differ"),
        )
        if n
    ]
    return [*lines, Line(span("left out: " + ", ".join(left_out), "warn")).fit(width)] if left_out else lines


def _head(a: str, b: str) -> str:
    return f"{a.upper()} A:B"[:14] if a == b else "ARMS A:B"


def _test_cells(tests: Tests) -> dict[str, Cell]:
    if tests.difference is None:
        difference = "-"
    else:
        difference = f"{100 * tests.difference:+.1f}"
        if tests.low is not None and tests.high is not None:
            difference += f" [{100 * tests.low:+.1f}, {100 * tests.high:+.1f}]"
    return {
        "domain": tests.domain or "all",
        "items": numbers.count(tests.n),
        "changed": span(numbers.count(tests.changed), "bold"),
        "first": f"{tests.first.left_only}:{tests.first.right_only}",
        "first_p": numbers.probability(tests.first.p),
        "second": f"{tests.second.left_only}:{tests.second.right_only}",
        "second_p": numbers.probability(tests.second.p),
        "a": numbers.percent(tests.scr[0]),
        "b": numbers.percent(tests.scr[1]),
        "difference": difference,
    }


def compare_layout(width: int, whole: bool = False) -> Layout:
    """The list's columns. `whole`: of dialogues."""
    return fit(of_dialogues(COLUMNS, width) if whole else COLUMNS, width - 1)


def compared_line(a: ItemRow, b: ItemRow, layout: Layout) -> Line:
    return Line(" ") + layout.row(
        {
            "item": a.name,
            "domain": a.domain,
            "target": target_span(a),
            "left": transition_span(a.transition),
            "right": transition_span(b.transition),
            "left_out": output_spans(a.second, a.target, layout.width("left_out")),
            "right_out": output_spans(b.second, b.target, layout.width("right_out")),
            "left_wrong": "" if a.second.first_wrong is None else str(a.second.first_wrong),
            "right_wrong": "" if b.second.first_wrong is None else str(b.second.first_wrong),
            "problem": span(a.problem or "", "dim"),
        }
    )


def listed(chosen: tuple[int, int] | None, n: int) -> Line:
    """What the list under the matrix holds."""
    if chosen is None:
        return Line(span(f"all {numbers.count(n)} items, changed ones first", "dim"))
    a, b = CELLS[chosen[0]], CELLS[chosen[1]]
    return Line(span(f"{numbers.count(n)} items: {a} in A, {b} in B", "accent"))
