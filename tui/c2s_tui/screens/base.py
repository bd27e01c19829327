"""What every screen does: look in a thread, show on the loop, look again when it is time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker, get_current_worker

from c2s_tui.data.source import Trouble, guarded
from c2s_tui.text import Hit, Line, plain, span, wrap
from c2s_tui.widgets.bars import KeyBar, TopBar
from c2s_tui.widgets.lines import LineView

if TYPE_CHECKING:
    from c2s_tui.app import TuiApp
    from c2s_tui.session import Session

T = TypeVar("T")

SHARE = 25
"""Looking takes at most one part in SHARE of a core, unless `View.LONGEST` says that a look has to come."""


class View(Screen[None], Generic[T]):
    """A screen with a name. `fetch` runs in a thread and returns a T, which `show` then puts on the screen.

    A new look begins when the one before has been shown and its time has come: whatever happens meanwhile is in it.
    """

    NAME = ""
    INTERVAL = 0.5
    LONGEST = 5.0
    app: TuiApp

    class Looked(Message):
        """A look has ended. `last`: nothing more comes of it."""

        def __init__(self, result: Any, cpu: float, serial: int, last: bool) -> None:
            super().__init__()
            self.result, self.cpu, self.serial, self.last = result, cpu, serial, last

    def __init__(self) -> None:
        super().__init__()
        self._busy = False
        self._serial = 0
        self._timer: Timer | None = None
        self.shown = False

    # --- what screens say -----------------------------------------------------------------------------------------

    def body(self) -> Iterable[Widget]:
        raise NotImplementedError

    def fetch(self, post: Callable[[T], None]) -> T:
        """In a thread. `post(part)` shows something before the end."""
        raise NotImplementedError

    def show(self, result: T) -> None:
        raise NotImplementedError

    def failed(self, message: str) -> None:
        """Show why there is nothing to show."""
        raise NotImplementedError

    def wanted(self) -> bool:
        """Whether it is worth looking at all; asked before every look after the first."""
        return True

    def run_path(self) -> Path | None:
        """The run that `p` is about, where that is not the one that is open."""
        return None

    def copied(self) -> str:
        """What `y` puts on the clipboard."""
        raise NotImplementedError

    # --- looking --------------------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        return self.app.session

    def compose(self) -> ComposeResult:
        yield TopBar(self.NAME)
        yield from self.body()
        yield KeyBar([*self.BINDINGS, *self.app.BINDINGS])

    def on_screen_resume(self) -> None:
        self.query_one(TopBar).set_subject(self.subject())
        self.look()

    def subject(self) -> str:
        return self.session.subject

    def look(self, again: bool = False) -> None:
        """Look now; `again`: what a look under way is about is no longer wanted."""
        if self._busy and not again:
            return
        self._busy = True
        self._serial += 1
        self.run_worker(partial(self._work, self._serial), thread=True, exclusive=True, group="look", exit_on_error=False)

    def _after(self, seconds: float) -> None:
        """Look again after this time, whatever was planned before."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, self._due)

    def _due(self) -> None:
        if not self.is_current or self._busy:
            return  # the next look is planned when the screen is shown again, or when the present one has ended
        if self.wanted():
            self.look()
        else:
            self._after(self.INTERVAL)

    def _work(self, serial: int) -> None:
        worker: Worker[None] = get_current_worker()
        began = _cpu()

        def send(part: T | Trouble, last: bool) -> None:
            if not worker.is_cancelled:
                self.post_message(self.Looked(part, _cpu() - began, serial, last))

        send(guarded(self.fetch, partial(send, last=False)), True)

    def on_view_looked(self, message: View.Looked) -> None:
        message.stop()
        if message.serial != self._serial:
            return
        if message.last:
            self._busy = False
            self._after(max(self.INTERVAL, min(self.LONGEST, SHARE * message.cpu)))
        self.shown = True
        if isinstance(message.result, Trouble):
            self.failed(message.result.message)
        else:
            self.show(message.result)
        self.query_one(TopBar).set_subject(self.subject())

    # --- the same on every screen ---------------------------------------------------------------------------------

    def on_line_view_hit(self, message: LineView.Hit) -> None:
        message.stop()
        match message.what:
            case ("screen", str(name)):
                self.app.go(name)
            case ("action", str(action)):
                self.call_later(self.run_action, action)
            case what:
                self.hit(what)

    def hit(self, what: Hit) -> None:
        """A click on a part of this screen."""

    def action_copy(self) -> None:
        text = self.copied()
        self.app.copy_to_clipboard(text)
        self.app.say(f"copied {len(text):,} characters")

    def action_back(self) -> None:
        self.app.go("runs")


def _cpu() -> float:
    """CPU seconds of this process, and of those that it started and that have ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def trouble_lines(message: str, width: int) -> list[Line]:
    return [Line(), *(Line(" ", span(text, "bad")) for text in wrap(message, max(1, width - 2)))]


def as_text(lines: Iterable[Line]) -> str:
    return plain(lines)
