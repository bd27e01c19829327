"""Driving the app in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from c2s_tui.app import TuiApp
from c2s_tui.screens.base import View
from c2s_tui.widgets.rows import Rows
from textual.pilot import Pilot


class Settling:
    """A pilot that can also wait until the threads of the screen have read what they were asked for."""

    def __init__(self, pilot: Pilot) -> None:
        self.pilot, self.app = pilot, pilot.app

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pilot, name)

    async def settled(self, seconds: float = 10.0) -> None:
        """Until no worker is at work and every row that is on the screen has been read."""
        for _ in range(int(seconds / 0.02)):
            await self.pilot.pause()
            screen = self.app.screen
            busy = any(not worker.is_finished for worker in self.app.workers)
            unread = isinstance(screen, View) and (not screen.shown or any(rows.reading for rows in screen.query(Rows)))
            if not busy and not unread:
                await self.pilot.pause()
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the app did not come to rest")


def drive(app: TuiApp, steps: Callable[[Settling], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    """Run the app without a terminal and do the steps."""

    async def go() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            await steps(Settling(pilot))

    asyncio.run(go())


def keys_of(typed: str) -> list[str]:
    """The names of the keys that type a text."""
    names = {" ": "space", "?": "question_mark", "/": "slash", ":": "colon", "-": "minus", "\n": "enter", ",": "comma", "_": "underscore"}
    return [names.get(c, c) for c in typed]
