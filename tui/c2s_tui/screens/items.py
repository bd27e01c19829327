"""3 Items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from c2s.errors import UsageError
from c2s.ledger.pairs import TRANSITIONS, Pair
from c2s.ledger.search import SORTS
from c2s_tui.data.export import record
from c2s_tui.data.filters import Filter, panels_for, parse
from c2s_tui.data.follow import Picture
from c2s_tui.data.items import ItemRow, all_rows, item_rows
from c2s_tui.data.plan import Plan
from c2s_tui.data.selection import Selection, Sort, select
from c2s_tui.data.source import Source
from c2s_tui.screens.base import View, trouble_lines
from c2s_tui.screens.export import ExportScreen, stamp
from c2s_tui.text import Hit, Line, span, wrap
from c2s_tui.views.items import item_line, items_head, items_layout
from c2s_tui.views.table import Layout
from c2s_tui.widgets.lines import Fixed, LineView
from c2s_tui.widgets.rows import Fetch, Rows


@dataclass(frozen=True, slots=True)
class Found:
    """A selection with the run it was made of, and how far the run was then."""

    source: Source
    plan: Plan
    picture: Picture
    selection: Selection


class ItemsScreen(View[Found | None]):
    """The parents that the filter leaves.

    While the run goes on, the list is made again as parents close, and the cursor stays on its item.
    """

    NAME = "items"
    INTERVAL = 1.5
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", key_display="/", tooltip="type a filter; escape takes it back"),
        Binding("enter", "open", "open", key_display="⏎", tooltip="open the item"),
        Binding("s", "sort(1)", "sort", tooltip="sort by the next column"),
        Binding("t", "transition(1)", "transition", tooltip="only the next transition"),
        Binding("e", "export", "export", tooltip="write the filtered rows as CSV or JSON Lines"),
        Binding("y", "copy", "copy", tooltip="copy the row"),
        Binding("d", "domain", "domain", tooltip="only the next domain"),
        Binding("a", "arm", "arm", tooltip="the next arm as the second one of the pair"),
        Binding("P", "panel", "panel", show=False, tooltip="only the next panel"),
        Binding("x", "clear", "no filter", tooltip="drop the filter"),
        Binding("S", "sort(-1)", "sort back", show=False, tooltip="sort by the column before"),
        Binding("r", "reverse", "reverse", show=False, tooltip="turn the order round"),
        Binding("T", "transition(-1)", "transition back", show=False, tooltip="only the transition before"),
        Binding("escape", "back", "back", show=False, tooltip="back to the runs"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.found: Found | None = None
        self._before = Filter()

    def body(self) -> Iterable[Widget]:
        yield Fixed(id="head")
        yield Fixed(id="columns")
        yield Rows(id="list")
        yield Fixed(id="said")
        yield Input(
            id="filter",
            placeholder="words, transition:lost domain:math length:4-6 arm:independent",
            suggester=_Suggest(self),
            select_on_focus=False,
        )

    def on_mount(self) -> None:
        self.query_one("#filter").display = False
        self.rows.focus()

    @property
    def rows(self) -> Rows[ItemRow]:
        return self.query_one(Rows)

    # --- looking --------------------------------------------------------------------------------------------------

    def fetch(self, post: Callable[[Found | None], None]) -> Found | None:
        worker = get_current_worker()
        follower, chosen, sort = self.session.opened, self.session.chosen, self.session.sort
        picture = follower.look()
        known = self.found
        if known is not None and (known.source is not follower.source or (known.selection.chosen, known.selection.sort) != (chosen, sort)):
            known = None  # another list
        if known is not None and known.selection.complete and _progress(known.picture) == _progress(picture):
            return None
        found = None
        plan = follower.known_plan()
        for selection in select(follower.source, plan, chosen, sort, cancelled=lambda: worker.is_cancelled):
            found = Found(follower.source, plan, picture, selection)
            if not selection.complete and known is None:
                post(found)
        return found

    def show(self, result: Found | None) -> None:
        if result is None:
            return
        before = self.found
        self.found = result
        self.session.picture, self.session.selection = result.picture, result.selection
        rows, selection = self.rows, result.selection
        here = self.session.item if before is None or before.source is not result.source else self._number(before, rows.cursor)
        place = selection.place(here) if here is not None else None
        same = (
            before is not None
            and before.source is result.source
            and len(before.selection.ids) <= len(selection.ids)
            and bool((before.selection.ids == selection.ids[: len(before.selection.ids)]).all())
            and before.selection.pair == selection.pair
        )
        self.draw_head()
        rows.show(len(selection.ids), self._fetcher(result), self._drawer(), cursor=place if place is not None else 0, same=same)

    @staticmethod
    def _number(found: Found, index: int) -> int | None:
        ids = found.selection.ids
        return int(ids[index]) if index < len(ids) else None

    def _fetcher(self, found: Found) -> Fetch[ItemRow]:
        ids, pair, source = found.selection.ids, found.selection.pair, found.source

        def fetch(start: int, stop: int) -> Sequence[ItemRow | None]:
            numbers = [int(n) for n in ids[start:stop]]
            with source.read() as db:
                rows = item_rows(db, pair, numbers)
            return [rows.get(n) for n in numbers]

        return fetch

    def _drawer(self) -> Callable[[ItemRow], Line]:
        layout = self._layout()
        return lambda row: item_line(row, layout)

    def _layout(self) -> Layout:
        pair = self.found.selection.pair if self.found else Pair()
        panels = panels_for(self.found.selection.chosen, self.found.plan) if self.found else []
        return items_layout(max(1, self.size.width - 1), pair, panels, self.found.plan if self.found else None)

    def failed(self, message: str) -> None:
        self.found = None
        self.query_one("#head", Fixed).set_lines(trouble_lines(message, self.size.width))
        self.query_one("#columns", Fixed).set_lines([])
        self.rows.show(0, lambda a, b: [], lambda row: Line())

    def draw_head(self) -> None:
        if self.found is None:
            return
        selection = self.found.selection
        width = max(1, self.size.width)
        self.query_one("#head", Fixed).set_lines([line.fit(width) for line in items_head(selection, width, self.found.plan)])
        self.query_one("#columns", Fixed).set_lines([self._layout().head(selection.sort.by, selection.sort.descending, indent=1)])

    def on_resize(self) -> None:
        if self.found is not None:
            self.draw_head()
            self.rows.drawn(self._drawer())

    # --- filter and order -----------------------------------------------------------------------------------------

    def choose(self, chosen: Filter | None = None, sort: Sort | None = None) -> None:
        """Select anew."""
        self.session.chosen = self.session.chosen if chosen is None else chosen
        self.session.sort = self.session.sort if sort is None else sort
        self.look(again=True)

    def action_filter(self) -> None:
        entry = self.query_one("#filter", Input)
        self._before = self.session.chosen
        typed = self.session.chosen.typed()
        entry.value = typed + " " if typed else ""
        entry.display = True
        entry.cursor_position = len(entry.value)
        entry.focus()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        if event.input.display:
            self._apply(event.value)

    def _apply(self, typed: str) -> None:
        if self.found is None:
            return
        said = self.query_one("#said", Fixed)
        try:
            chosen = parse(typed, self.found.plan)
        except UsageError as error:
            said.set_lines([Line(span(text, "warn")) for text in wrap(str(error), max(1, self.size.width), 4)])
            return
        said.set_lines([])
        if chosen != self.session.chosen:
            self.choose(chosen)

    @on(Input.Submitted, "#filter")
    def _accepted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close_filter()

    def _close_filter(self) -> None:
        entry = self.query_one("#filter", Input)
        entry.display = False
        self.query_one("#said", Fixed).set_lines([])
        self.rows.focus()

    def action_back(self) -> None:
        if self.query_one("#filter").display:
            self._close_filter()
            if self._before != self.session.chosen:
                self.choose(self._before)
        else:
            self.app.go("runs")

    def action_clear(self) -> None:
        if self.session.chosen:
            self.choose(Filter())

    def action_transition(self, by: int) -> None:
        """All, then each transition in turn."""
        turns: list[tuple[str, ...]] = [(), *((name,) for name in TRANSITIONS)]
        at = turns.index(self.session.chosen.transitions) if self.session.chosen.transitions in turns else 0
        self.choose(replace(self.session.chosen, transitions=turns[(at + by) % len(turns)]))

    def action_domain(self) -> None:
        if self.found is not None:
            turns = [None, *self.found.plan.domains]
            at = turns.index(self.session.chosen.domain)
            self.choose(replace(self.session.chosen, domain=turns[(at + 1) % len(turns)]))

    def action_panel(self) -> None:
        """All that share a pair, then each panel in turn."""
        if self.found is not None and len(self.found.plan.panels) > 1:
            turns = [None, *self.found.plan.panels]
            at = turns.index(self.session.chosen.panel)
            self.choose(replace(self.session.chosen, panel=turns[(at + 1) % len(turns)], arms=None))

    def action_arm(self) -> None:
        """Every arm of the panel in turn as the second one."""
        if self.found is None:
            return
        plan, pair = self.found.plan, self.found.selection.pair
        arms = plan.arms[panels_for(self.session.chosen, plan)[0]]
        turns = [arm for arm in arms if arm != pair.first]
        if turns:
            at = turns.index(pair.second) if pair.second in turns else -1
            self.choose(replace(self.session.chosen, arms=(pair.first, turns[(at + 1) % len(turns)])))

    def action_sort(self, by: int) -> None:
        at = SORTS.index(self.session.sort.by)
        self.choose(sort=Sort(SORTS[(at + by) % len(SORTS)]))

    def action_reverse(self) -> None:
        self.choose(sort=replace(self.session.sort, descending=not self.session.sort.descending))

    def hit(self, what: Hit) -> None:
        chosen, sort = self.session.chosen, self.session.sort
        match what:
            case ("transition", None):
                self.choose(replace(chosen, transitions=()))
            case ("transition", str(name)):
                self.choose(replace(chosen, transitions=() if chosen.transitions == (name,) else (name,)))
            case ("sort", str(key)) if key in SORTS:
                self.choose(sort=Sort(key, not sort.descending if sort.by == key else False))

    # --- rows -----------------------------------------------------------------------------------------------------

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        message.stop()
        if self.found is not None and isinstance(message.view, Rows):
            self.session.item = self._number(self.found, message.index)

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        message.stop()
        self.action_open()

    def action_open(self) -> None:
        if self.found is not None and len(self.found.selection.ids):
            self.session.item = self._number(self.found, self.rows.cursor)
            self.app.go("item")

    def copied(self) -> str:
        row = self.rows.row(self.rows.cursor)
        if row is None or self.found is None:
            return ""
        return "\t".join("" if value is None else str(value) for value in record(row, self.found.selection.pair).values())

    def action_export(self) -> None:
        if self.found is None or not self.found.selection.complete:
            return
        found = self.found
        ids, pair = found.selection.ids, found.selection.pair

        def records() -> Iterator[dict[str, Any]]:
            return (record(row, pair) for row in all_rows(found.source, pair, ids))

        name = f"items-{found.source.path.name}-{stamp()}"
        self.app.push_screen(ExportScreen(records, len(ids), name))


def _progress(picture: Picture) -> tuple[int, int]:
    """What has to move before the list can have changed."""
    return picture.transitions, picture.settled


class _Suggest(Suggester):
    """Completes the word that is being typed: keys, and the values that this run has."""

    def __init__(self, screen: ItemsScreen) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._screen = screen

    async def get_suggestion(self, value: str) -> str | None:
        head, _, word = value.rpartition(" ")
        if not word or self._screen.found is None:
            return None
        plan = self._screen.found.plan
        arms = sorted({arm for names in plan.arms.values() for arm in names})
        known = [f"transition:{name}" for name in TRANSITIONS]
        known += [f"domain:{name}" for name in plan.domains] + [f"panel:{name}" for name in plan.panels]
        known += [f"arm:{name}" for name in arms] + ["length:"]
        found = next((text for text in known if text.startswith(word) and text != word), None)
        return None if found is None else f"{head} {found}" if head else found
