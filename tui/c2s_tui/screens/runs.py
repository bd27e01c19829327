"""1 Runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from c2s_tui.data.runs import RunEntry, Runs
from c2s_tui.data.source import Trouble
from c2s_tui.screens.base import View, as_text, trouble_lines
from c2s_tui.session import SideChoice
from c2s_tui.text import Line
from c2s_tui.views.runs import run_lines, runs_head, runs_lines
from c2s_tui.widgets.lines import Fixed, LineView, Text


class RunsScreen(View[Runs]):
    """Every run under the root, read again as it changes."""

    NAME = "runs"
    INTERVAL = 1.0
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", key_display="⏎", tooltip="open this run's monitor"),
        Binding("i", "items", "items", tooltip="open this run's items"),
        Binding("c", "mark", "compare with", tooltip="mark this run as side B of a comparison"),
        Binding("p", "app.pause", "pause/go", tooltip="pause the runner, or let it go on"),
        Binding("y", "copy", "copy path", tooltip="copy the path of the run"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.runs: Runs | None = None
        self.entries: tuple[RunEntry, ...] = ()

    def body(self) -> Iterable[Widget]:
        yield Fixed(id="head")
        yield Text(id="list")

    def subject(self) -> str:
        return str(self.session.root)

    def fetch(self, post: Callable[[Runs], None]) -> Runs:
        runs = self.session.watch.look()
        if not runs.due:
            return runs
        post(runs)
        return self.session.watch.look(slow=True)

    def show(self, result: Runs) -> None:
        here = self.entry.path if self.entry else self.session.path
        self.runs, self.entries = result, result.entries
        self.draw()
        place = next((i for i, entry in enumerate(self.entries) if entry.path == here), None)
        if place is not None:
            self.query_one("#list", Text).cursor = place

    def failed(self, message: str) -> None:
        self.query_one("#list", Text).set_lines(trouble_lines(message, self.size.width))

    def draw(self) -> None:
        if self.runs is None:
            return
        width, now = self.size.width, self.session.clock()
        view = self.query_one("#list", Text)
        if not self.entries:
            self.query_one("#head", Fixed).set_lines([])
            view.set_lines(runs_lines(self.runs, width, now))
            return
        lines: list[Line] = []
        stops, heights = [], []
        room = width - 1 if width > 20 else width  # the scroll bar takes a column
        for entry in self.entries:
            stops.append(len(lines))
            marked = self.session.other is not None and self.session.other.path == entry.path
            lines += run_lines(entry, room, now, marked)
            heights.append(len(lines) - stops[-1])
        self.query_one("#head", Fixed).set_lines([runs_head(room)])
        view.set_lines(lines, stops, heights)

    def on_resize(self) -> None:
        self.draw()

    @property
    def entry(self) -> RunEntry | None:
        """The run under the cursor."""
        index = self.query_one("#list", Text).cursor
        return self.entries[index] if index < len(self.entries) else None

    def run_path(self) -> Path | None:
        return self.entry.path if self.entry else None

    def copied(self) -> str:
        return str(self.entry.path) if self.entry else as_text(self.query_one("#list", Text).lines)

    def _opened(self) -> bool:
        if self.entry is None:
            return False
        if isinstance(self.entry.seen, Trouble):
            self.app.say(self.entry.seen.message, error=True)
            return False
        self.session.open(self.entry.path)
        return True

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        message.stop()
        self.action_open()

    def action_open(self) -> None:
        if self._opened():
            self.app.go("monitor")

    def action_items(self) -> None:
        if self._opened():
            self.app.go("items")

    def action_mark(self) -> None:
        """Take the run under the cursor as the other side of a comparison, or no longer."""
        if self.entry is None or isinstance(self.entry.seen, Trouble):
            return
        other = self.session.other
        self.session.other = None if other is not None and other.path == self.entry.path else SideChoice(self.entry.path)
        self.draw()
        if self.session.other is not None:
            self.app.say("marked as side B; open another run and press 5")

    def action_back(self) -> None:
        """There is nothing behind the first screen."""
