"""4 Item."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from c2s_tui.data.item import ItemView, Step, item_view
from c2s_tui.data.selection import select
from c2s_tui.screens.base import View, as_text, trouble_lines
from c2s_tui.screens.raw import RawScreen
from c2s_tui.text import Hit
from c2s_tui.views.item import item_lines, shown_arm
from c2s_tui.widgets.lines import LineView, Text


class ItemScreen(View[ItemView | None]):
    """One parent. `n` and `N` go through the items of the present filter, `a` through the arms, `j` and `k` through the steps."""

    NAME = "item"
    INTERVAL = 1.0
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,right,l", "next(1)", "next", key_display="n", tooltip="the next item of the filter"),
        Binding("N,left,h,b", "next(-1)", "previous", key_display="N", tooltip="the item before"),
        Binding("a", "arm(1)", "arm", tooltip="the steps of the next arm"),
        Binding("enter", "raw", "bytes", key_display="⏎", tooltip="raw request and response of this step"),
        Binding("y", "copy", "copy", tooltip="copy the screen as text"),
        Binding("escape", "back", "list", key_display="esc", tooltip="back to the items"),
        Binding("r", "raw", "bytes", show=False, tooltip="the same"),
        Binding("A", "arm(-1)", "arm back", show=False, tooltip="the steps of the arm before"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.view: ItemView | None = None

    def body(self) -> Iterable[Widget]:
        yield Text(id="text")

    def fetch(self, post: Callable[[ItemView | None], None]) -> ItemView | None:
        follower, session = self.session.opened, self.session
        picture = follower.look()
        known = self.view
        if session.selection is None:
            for selection in select(follower.source, follower.known_plan(), session.chosen, session.sort):
                session.selection = selection
        if session.item is None and session.selection is not None and len(session.selection.ids):
            session.item = int(session.selection.ids[0])
        if session.item is None:
            return None
        if known is not None and known.id == session.item and known.closed and session.picture is not None and not picture.state.live:
            return known
        session.picture = picture
        return item_view(follower.source, session.item)

    def show(self, result: ItemView | None) -> None:
        changed = result is not self.view
        self.view = result
        if result is None:
            self.query_one("#text", Text).set_lines(trouble_lines("No item is left by this filter.", self.size.width))
        elif changed:
            self.draw()

    def failed(self, message: str) -> None:
        self.view = None
        self.query_one("#text", Text).set_lines(trouble_lines(message, self.size.width))

    def draw(self) -> None:
        if self.view is None:
            return
        text = self.query_one("#text", Text)
        shown = item_lines(self.view, self.session.arm, text.cursor, max(1, self.size.width - 1), place=self._place(self.view))
        text.set_lines(shown.lines, shown.steps)

    def _place(self, view: ItemView) -> str:
        selection = self.session.selection
        place = selection.place(view.id) if selection is not None else None
        return "not in the filter" if selection is None or place is None else f"{place + 1:,}/{len(selection.ids):,}"

    def on_resize(self) -> None:
        self.draw()

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        message.stop()
        self.draw()

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        message.stop()
        self.action_raw()

    def hit(self, what: Hit) -> None:
        match what:
            case ("arm", str(name), int(replicate), int(turn)):
                self.session.arm = (name, replicate, turn)
                self.draw()

    def action_next(self, by: int) -> None:
        selection = self.session.selection
        if selection is None or not len(selection.ids):
            return
        place = selection.place(self.session.item) if self.session.item is not None else None
        place = 0 if place is None else max(0, min(len(selection.ids) - 1, place + by))
        if int(selection.ids[place]) != self.session.item:
            self.session.item = int(selection.ids[place])
            self.look(again=True)

    def action_arm(self, by: int) -> None:
        shown = shown_arm(self.view, self.session.arm) if self.view is not None else None
        if self.view is None or shown is None:
            return
        keys = [arm.key for arm in self.view.arms]
        self.session.arm = keys[(keys.index(shown.key) + by) % len(keys)]
        self.query_one("#text", Text).cursor = 0
        self.draw()

    @property
    def step(self) -> Step | None:
        """The step under the cursor."""
        shown = shown_arm(self.view, self.session.arm) if self.view is not None else None
        index = self.query_one("#text", Text).cursor
        return shown.steps[index] if shown is not None and index < len(shown.steps) else None

    def action_raw(self) -> None:
        step = self.step
        if step is None or step.slot is None:
            self.app.say("no request was made for this step")
        else:
            self.app.push_screen(RawScreen(self.session.opened.source, step.slot))

    def action_back(self) -> None:
        self.app.go("items")

    def copied(self) -> str:
        return as_text(self.query_one("#text", Text).lines)
