"""Every screen at 80 x 24 and at 200 x 60, as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.pilots import drive, keys_of
from support.screens import check_snapshot, screen_text

SNAPSHOTS = Path(__file__).parent / "snapshots"
SIZES = [(80, 24), (200, 60)]
BY_SIZE = pytest.mark.parametrize("size", SIZES, ids=["80x24", "200x60"])


@BY_SIZE
@pytest.mark.parametrize("name", ["runs", "monitor", "items", "item", "compare", "report"])
def test_screen(name: str, size: tuple[int, int], app_of, runner_of):
    runner_of("part")
    app = app_of(None if name == "runs" else "good" if name in ("item", "compare", "report") else "part", screen=name)

    async def look(pilot) -> None:
        await pilot.settled()
        shown = re.sub(r"^[0-9a-f]{16} ", "0123456789abcdef ", screen_text(app), flags=re.MULTILINE)  # the run's id, in a report's head
        check_snapshot(SNAPSHOTS, f"{name}-{size[0]}x{size[1]}", shown)

    drive(app, look, size)


@BY_SIZE
def test_monitor_of_a_finished_run(size: tuple[int, int], app_of):
    app = app_of("good")

    async def look(pilot) -> None:
        await pilot.settled()
        check_snapshot(SNAPSHOTS, f"monitor-done-{size[0]}x{size[1]}", screen_text(app))

    drive(app, look, size)


@BY_SIZE
def test_two_runs_compared(size: tuple[int, int], app_of, root):
    app = app_of("part", screen="compare", other=root / "other")

    async def look(pilot) -> None:
        await pilot.settled()
        await pilot.press("tab")
        await pilot.settled()
        check_snapshot(SNAPSHOTS, f"compare-runs-{size[0]}x{size[1]}", screen_text(app))

    drive(app, look, size)


WINDOWS = {
    "help": ("items", "?"),
    "filter": ("items", "/length:4-5"),
    "export": ("items", "e"),
    "bytes": ("item", "\n"),
    "hex": ("item", "\nx"),
    "choose": ("compare", "c"),
}


@pytest.mark.parametrize("window", WINDOWS)
def test_window(window: str, app_of, monkeypatch: pytest.MonkeyPatch):
    screen, typed = WINDOWS[window]
    monkeypatch.setattr("c2s_tui.screens.items.stamp", lambda: "20260921-133320")
    app = app_of("good", screen=screen)

    async def look(pilot) -> None:
        await pilot.settled()
        for key in keys_of(typed):
            await pilot.press(key)
            await pilot.settled()
        check_snapshot(SNAPSHOTS, f"window-{window}", screen_text(app))

    drive(app, look, (80, 24))
