"""2 Monitor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from c2s_tui.data.follow import Picture
from c2s_tui.screens.base import View, as_text, trouble_lines
from c2s_tui.views.monitor import monitor_lines
from c2s_tui.widgets.lines import LineView, Text


class MonitorScreen(View[Picture]):
    """The run as it goes. Frozen, it goes on looking, so that it is up to date the moment it thaws."""

    NAME = "monitor"
    INTERVAL = 1.0
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "freeze", "freeze", tooltip="freeze what is shown, or let it go on"),
        Binding("p", "app.pause", "pause/go", tooltip="pause the runner, or let it go on"),
        Binding("enter", "items", "items", key_display="⏎", tooltip="open the items"),
        Binding("y", "copy", "copy", tooltip="copy the screen as text"),
        Binding("escape", "back", "back", show=False, tooltip="back to the runs"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.picture: Picture | None = None
        self.frozen = False

    def body(self) -> Iterable[Widget]:
        yield Text(id="text")

    def fetch(self, post: Callable[[Picture], None]) -> Picture:
        follower = self.session.opened
        picture = follower.look()
        if not picture.due:
            return picture
        post(picture)
        return follower.look(slow=True)

    def show(self, result: Picture) -> None:
        self.session.picture = result
        if not self.frozen:
            self.picture = result
            self.draw()

    def failed(self, message: str) -> None:
        if not self.frozen:
            self.picture = None
            self.query_one("#text", Text).set_lines(trouble_lines(message, self.size.width))

    def draw(self) -> None:
        if self.picture is not None:
            lines = monitor_lines(self.picture, max(1, self.size.width - 1), self.frozen)
            self.query_one("#text", Text).set_lines(lines)

    def on_resize(self) -> None:
        self.draw()

    def action_freeze(self) -> None:
        self.frozen = not self.frozen
        if self.frozen:
            self.draw()
        else:
            self.look()

    def action_items(self) -> None:
        self.app.go("items")

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        message.stop()
        self.action_items()

    def copied(self) -> str:
        return as_text(self.query_one("#text", Text).lines)
