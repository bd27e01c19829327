"""The app: six screens over one session, and the keys that are the same everywhere."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from c2s_tui.data.filters import parse
from c2s_tui.data.items import named_item
from c2s_tui.data.source import Trouble, guarded
from c2s_tui.screens.base import View
from c2s_tui.screens.help import HelpScreen
from c2s_tui.session import Session, SideChoice
from c2s_tui.text import visible
from c2s_tui.widgets.bars import NUMBERS, described


def view_of(name: str) -> View[Any]:
    """The screen with this name; its module is loaded when it is first opened."""
    view = getattr(import_module(f"c2s_tui.screens.{name}"), f"{name.capitalize()}Screen")()
    assert isinstance(view, View), "every module of a screen that has a number defines one"
    return view


class TuiApp(App[None]):
    """`path` is a run directory or a folder of them. `read_only`: the control file is not written either."""

    TITLE = "c2s"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit", tooltip="end"),
        Binding("question_mark", "help", "help", key_display="?", tooltip="this help"),
        *(Binding(n, f"go('{name}')", name, show=False, tooltip=f"the screen {name}") for n, name in NUMBERS.items()),
        Binding("ctrl+s", "picture", "SVG screenshot", show=False, tooltip="save the screen as SVG"),
    ]

    def __init__(
        self,
        root: Path,
        run: Path | None = None,
        *,
        screen: str | None = None,
        read_only: bool = False,
        clock: Callable[[], float] = time.time,
        export_folder: Path | None = None,
        typed: str = "",
        item: str | None = None,
        other: Path | None = None,
    ) -> None:
        super().__init__()
        self.session = Session(root, read_only, clock)
        self.export_folder = export_folder or Path(os.getcwd())
        if run is not None:
            self.session.open(run)
        if other is not None:
            self.session.other = SideChoice(other)
        self._typed, self._item = typed, item
        self._first = screen or ("monitor" if run is not None else "runs")
        self._views: dict[str, View[Any]] = {}

    def on_mount(self) -> None:
        if self._typed or self._item:
            self._start_with(self._typed, self._item)
        self.go(self._first)

    def _start_with(self, typed: str, item: str | None) -> None:
        """A filter and an item from the command line; what is wrong with them is said, and the screens open without."""
        if self.session.follower is None and not self._choose_first():
            return
        session = self.session

        def read() -> None:
            session.opened.look()
            session.chosen = parse(typed, session.opened.known_plan())
            if item is not None:
                session.item = named_item(session.opened.source, item)

        done = guarded(read)
        if isinstance(done, Trouble):
            self.say(done.message, error=True)

    def go(self, name: str) -> None:
        """Open a screen. All but the list of runs need a run: the first one there is, if none was chosen."""
        if name != "runs" and self.session.follower is None and not self._choose_first():
            self.say("choose a run first")
            name = "runs"
        if name not in self._views:
            self._views[name] = view_of(name)
            self.install_screen(self._views[name], name)
        if self.screen is self._views[name]:
            return
        if isinstance(self.screen, View):
            self.switch_screen(name)
        else:
            self.push_screen(name)

    def _choose_first(self) -> bool:
        found = guarded(self.session.watch.look)
        path = None if isinstance(found, Trouble) else found.foremost()
        if path is None:
            return False
        self.session.open(path)
        return True

    def say(self, message: str, *, error: bool = False) -> None:
        """A word over the line of keys that the next word, key or click takes away, or else a few seconds. It is never markup."""
        self.notify(visible(message), severity="error" if error else "information", markup=False, timeout=5 if error else 3)

    def on_notify(self) -> None:
        self.clear_notifications()  # before the new one is added; they would stack

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.MouseDown)) and not event.is_forwarded and self._notifications:
            self.clear_notifications()
        await super().on_event(event)

    # --- actions --------------------------------------------------------------------------------------------------

    def action_go(self, name: str) -> None:
        if isinstance(self.screen, View):
            self.go(name)

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(described(self.screen.BINDINGS), described(self.BINDINGS)))

    def action_pause(self) -> None:
        """Tell the runner of the run that is looked at to pause, or to go on."""
        path = self.screen.run_path() if isinstance(self.screen, View) else None
        follower = self.session.follower if path is None else self.session.watch.follower(path)
        if follower is None:
            return
        source = follower.source
        if self.session.read_only:
            self.say("read-only: start with --allow-control to pause runs from here", error=True)
        elif not source.run.running():
            self.say("no runner is at work in this run")
        else:
            command = "go" if source.control() == "pause" else "pause"
            done = guarded(source.command, command)
            said = {"pause": "told the runner to pause; what is under way still arrives", "go": "told the runner to go on"}[command]
            self.say(done.message if isinstance(done, Trouble) else said, error=isinstance(done, Trouble))
            if isinstance(self.screen, View):
                self.screen.look()

    def action_picture(self) -> None:
        """The screen as SVG: a file in the export folder, a download in a browser."""
        if self.is_web:
            self.deliver_screenshot()
            return
        name = f"c2s-tui-{time.strftime('%Y%m%d-%H%M%S')}.svg"
        done = guarded(self.save_screenshot, name, str(self.export_folder))
        self.say(done.message if isinstance(done, Trouble) else f"saved {done}", error=isinstance(done, Trouble))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield from super().get_system_commands(screen)
        for number, name in NUMBERS.items():
            yield SystemCommand(f"Open {name}", f"screen {number}", partial(self.go, name))
        yield SystemCommand("Pause or go on", "tell the runner of this run", self.action_pause)
