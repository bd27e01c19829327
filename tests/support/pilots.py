"""Driving the app in a test, without a wait that is longer than what it waits for.

Textual's own pilot sleeps after every key until the process uses no CPU; here a step ends when no message, thread or page of rows is
left, which is sooner, and true on a loaded machine too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from c2s_tui.app import TuiApp
from c2s_tui.screens.base import View
from c2s_tui.widgets.rows import Rows
from textual import events
from textual.pilot import Pilot

QUIET = 3
"""Rounds through all queues without anything to do, after which nothing more comes: a key passes from the app to a widget to its screen."""

_NAMES = {" ": "space", "?": "question_mark", "/": "slash", ":": "colon", "-": "minus", ",": "comma", "_": "underscore", "\n": "enter"}
_CHARACTERS = {name: character for character, name in _NAMES.items()}


class Settling:
    """A pilot whose keys have had their whole effect when `press` returns."""

    def __init__(self, pilot: Pilot) -> None:
        self.pilot, self.app = pilot, pilot.app

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pilot, name)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.hurry(key)

    async def hurry(self, *keys: str) -> None:
        """Keys that come faster than their effects; waits after the last."""
        for key in keys:
            self.app.post_message(events.Key(key, key if len(key) == 1 else _CHARACTERS.get(key)))
        await self.settled()

    async def settled(self, seconds: float = 20.0) -> None:
        """Until no worker is at work, every row that is on the screen has been read, and all of that is drawn."""
        end, quiet, wait = time.monotonic() + seconds, 0, 0.001
        while quiet < QUIET:
            await self.pilot.pause(0)  # every message that waits now is dealt with
            quiet = 0 if self._busy() else quiet + 1
            while self._busy():
                assert time.monotonic() < end, "the app did not come to rest"
                await asyncio.sleep(wait)
                wait = min(0.02, 1.3 * wait)

    def _busy(self) -> bool:
        if not self.app.is_running:
            return False
        screen = self.app.screen
        if isinstance(screen, View) and (not screen.shown or any(rows.reading for rows in screen.query(Rows))):
            return True
        return any(not worker.is_finished for worker in self.app.workers)


def drive(app: TuiApp, steps: Callable[[Settling], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    """Run the app without a terminal and do the steps."""

    async def go() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            await steps(Settling(pilot))

    asyncio.run(go())


def keys_of(typed: str) -> list[str]:
    """The names of the keys that type a text."""
    return [_NAMES.get(c, c) for c in typed]
