"""5 Compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from textual.binding import Binding, BindingType
from textual.widget import Widget

from c2s_tui.data.compare import Comparison, SideSpec, compare, compared_rows
from c2s_tui.data.export import record
from c2s_tui.data.follow import Picture
from c2s_tui.data.items import ItemRow
from c2s_tui.screens.base import View, trouble_lines
from c2s_tui.screens.choose import Choice, ChooseScreen
from c2s_tui.screens.export import ExportScreen, stamp
from c2s_tui.session import SideChoice, default_other
from c2s_tui.text import Hit, Line
from c2s_tui.views.compare import SideName, compare_layout, compare_lines, compared_line, listed
from c2s_tui.views.table import Layout
from c2s_tui.views.words import arm_title
from c2s_tui.widgets.lines import Fixed, LineView
from c2s_tui.widgets.rows import Rows

BothRows = tuple[ItemRow, ItemRow]


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with its sides, and the progress of both runs when it was made."""

    left: SideSpec
    right: SideSpec
    names: tuple[SideName, SideName]
    found: Comparison
    stamp: tuple[object, ...]


class CompareScreen(View[Compared | None]):
    """Side A is the run that is open, side B another run or other arms of the same one."""

    NAME = "compare"
    INTERVAL = 2.0
    LONGEST = 60.0
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "choose", "choose B", tooltip="choose another run, or other arms of this one, as side B"),
        Binding("enter", "open", "open", key_display="⏎", tooltip="open the item as side A has it"),
        Binding("tab", "cell(1)", "cell", tooltip="list the items behind the next cell"),
        Binding("shift+tab", "cell(-1)", "cell back", show=False, tooltip="list the items behind the cell before"),
        Binding("x", "all", "all cells", tooltip="list all items"),
        Binding("d", "domain", "domain", tooltip="only the next domain"),
        Binding("w", "swap", "swap A, B", tooltip="make B the run that is open"),
        Binding("e", "export", "export", tooltip="write the listed rows as CSV or JSON Lines"),
        Binding("y", "copy", "copy", tooltip="copy the row"),
        Binding("escape", "back", "back", show=False, tooltip="all cells, then back to the runs"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.compared: Compared | None = None
        self.cell: tuple[int, int] | None = None
        self._behind: NDArray[np.int64] = np.empty(0, np.int64)

    def body(self) -> Iterable[Widget]:
        yield Fixed(id="head")
        yield Fixed(id="columns")
        yield Rows(id="list")

    @property
    def rows(self) -> Rows[BothRows]:
        return self.query_one(Rows)

    # --- looking --------------------------------------------------------------------------------------------------

    def sides(self) -> tuple[SideChoice, SideChoice]:
        """What is compared: the run that is open with the one that was chosen, else with other arms of itself."""
        run = self.session.opened
        here = SideChoice(run.source.path)
        if self.session.other is not None and self.session.other != here:
            return here, self.session.other
        return here, default_other(run.source.path, run.known_plan())

    def fetch(self, post: Callable[[Compared | None], None]) -> Compared | None:
        session = self.session
        session.picture = session.opened.look()
        a, b = self.sides()
        left, right = session.side(a), session.side(b)
        stamp = (a, b, session.domain, left.source.stamp(), right.source.stamp())
        if self.compared is not None and self.compared.stamp == stamp:
            return None
        return Compared(left, right, (SideName.of(left), SideName.of(right)), compare(left, right, session.domain), stamp)

    def show(self, result: Compared | None) -> None:
        if result is not None:
            fresh = self.compared is None or self.compared.stamp[:3] != result.stamp[:3]
            self.compared = result
            if fresh:
                self.cell = None
            self.draw(fresh)

    def failed(self, message: str) -> None:
        self.compared = None
        self.query_one("#head", Fixed).set_lines([*trouble_lines(message, self.size.width), Line()])
        self.query_one("#columns", Fixed).set_lines([])
        self.rows.show(0, lambda a, b: [], lambda row: Line())

    def draw(self, fresh: bool = True) -> None:
        if self.compared is None:
            return
        width = max(1, self.size.width)
        found = self.compared.found
        behind = self._behind = found.behind(self.cell)
        head = compare_lines(found, *self.compared.names, self.cell, width)
        self.query_one("#head", Fixed).set_lines([line.fit(width) for line in [*head, listed(self.cell, len(behind))]])
        self.query_one("#columns", Fixed).set_lines([self._layout().head(indent=1)])
        left, right = self.compared.left, self.compared.right

        def fetch(start: int, stop: int) -> Sequence[BothRows | None]:
            pairs = [(int(found.left[i]), int(found.right[i])) for i in behind[start:stop]]
            read = compared_rows(left, right, pairs)
            return [read.get(pair) for pair in pairs]

        rows = self.rows
        rows.show(len(behind), fetch, self._drawer(), cursor=0 if fresh else rows.cursor, same=not fresh)

    def _layout(self) -> Layout:
        return compare_layout(max(1, self.size.width - 1), self.compared is not None and self.compared.found.whole)

    def _drawer(self) -> Callable[[BothRows], Line]:
        layout = self._layout()
        return lambda both: compared_line(both[0], both[1], layout)

    def on_resize(self) -> None:
        if self.compared is not None:
            self.draw(fresh=False)

    # --- choosing -------------------------------------------------------------------------------------------------

    def action_cell(self, by: int) -> None:
        """Through the cells that hold something; after the last one, all items again."""
        if self.compared is None:
            return
        matrix = self.compared.found.matrix()
        turns: list[tuple[int, int] | None] = [None, *((r, c) for r in range(4) for c in range(4) if matrix[r, c])]
        at = turns.index(self.cell) if self.cell in turns else 0
        self._choose_cell(turns[(at + by) % len(turns)])

    def _choose_cell(self, cell: tuple[int, int] | None) -> None:
        self.cell = cell
        self.draw()

    def action_all(self) -> None:
        self._choose_cell(None)

    def hit(self, what: Hit) -> None:
        match what:
            case ("cell", int(row), int(column)):
                self._choose_cell(None if (row, column) == self.cell else (row, column))

    def action_domain(self) -> None:
        if self.session.plan is None:
            return  # nothing has been read yet
        turns = [None, *self.session.plan.domains]
        self.session.domain = turns[(turns.index(self.session.domain) + 1) % len(turns)]
        self.look(again=True)

    def action_swap(self) -> None:
        if self.compared is None:
            return
        a, b = self.sides()
        if b.arms is None:
            self.session.open(b.path)
            self.session.other = a
            self.look(again=True)
        else:
            self.app.say("A is the pair of the panel; choose other arms for B with c")

    def action_choose(self) -> None:
        """Other runs under the root, and other pairs of arms of this one."""
        choices: list[Choice[SideChoice]] = []
        for entry in self.session.watch.look().entries:
            if entry.path != self.session.path and isinstance(entry.seen, Picture):
                choices.append(Choice(f"run {entry.name} · {entry.seen.model}", SideChoice(entry.path)))
        plan, path = self.session.plan, self.session.path
        if plan is not None and path is not None:
            panel = plan.panels[0]
            base = plan.pairs[panel]
            for first in plan.arms[panel]:
                for second in plan.arms[panel]:
                    if first != second and (first, second) != base:
                        label = f"this run · {arm_title(first)} -> {arm_title(second)}"
                        choices.append(Choice(label, SideChoice(path, (first, second))))
        self.app.push_screen(ChooseScreen("Side B", choices), self._chosen)

    def _chosen(self, choice: SideChoice | None) -> None:
        if choice is not None:
            self.session.other = choice
            self.look(again=True)

    # --- rows -----------------------------------------------------------------------------------------------------

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        message.stop()
        self.action_open()

    def action_open(self) -> None:
        index = self.rows.cursor
        if self.compared is not None and index < len(self._behind):
            self.session.item = int(self.compared.found.left[self._behind[index]])
            self.app.go("item")

    def action_back(self) -> None:
        if self.cell is not None:
            self._choose_cell(None)
        else:
            self.app.go("runs")

    def copied(self) -> str:
        both = self.rows.row(self.rows.cursor)
        return (
            "" if both is None or self.compared is None else "\t".join(str(value) for value in self._record(self.compared, both).values())
        )

    @staticmethod
    def _record(compared: Compared, both: BothRows) -> dict[str, Any]:
        left, right = record(both[0], compared.left.pair), record(both[1], compared.right.pair)
        same = {key: left[key] for key in ("panel", "item", "domain", "length", "target", "problem")}
        return same | {f"a_{k}": v for k, v in left.items() if k not in same} | {f"b_{k}": v for k, v in right.items() if k not in same}

    def action_export(self) -> None:
        if self.compared is None:
            return
        compared, behind = self.compared, self._behind

        def records() -> Iterator[dict[str, Any]]:
            for start in range(0, len(behind), 100):
                pairs = [(int(compared.found.left[i]), int(compared.found.right[i])) for i in behind[start : start + 100]]
                found = compared_rows(compared.left, compared.right, pairs)
                yield from (self._record(compared, found[pair]) for pair in pairs if pair in found)

        name = f"compare-{compared.names[0].run}-{compared.names[1].run}-{stamp()}"
        self.app.push_screen(ExportScreen(records, len(behind), name))
