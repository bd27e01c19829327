"""Every key of every screen, and what the important ones do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from c2s_tui.screens.base import View
from c2s_tui.screens.compare import CompareScreen
from c2s_tui.screens.item import ItemScreen
from c2s_tui.screens.monitor import MonitorScreen
from c2s_tui.widgets.bars import KeyBar
from c2s_tui.widgets.lines import Fixed, LineView, Text
from c2s_tui.widgets.rows import Rows
from support.pilots import drive
from support.screens import screen_text
from textual.binding import Binding

SCREENS = ("runs", "monitor", "items", "item", "compare", "report")


def keys_bound(bindings) -> list[str]:
    return [key for binding in bindings if isinstance(binding, Binding) for key in binding.key.split(",")]


MOVING = [key for key in keys_bound(LineView.BINDINGS) if key != "enter"]


@pytest.mark.parametrize("name", SCREENS)
def test_every_key_of_every_screen(name: str, app_of):
    """None of them ends the app but `q`; those that move come in one burst."""
    app = app_of("good", screen=name)

    async def press(pilot) -> None:
        await pilot.settled()
        here = app.screen
        await pilot.hurry(*MOVING)
        for key in [*keys_bound(here.BINDINGS), *keys_bound(app.BINDINGS), "enter"]:
            if key == "q":
                continue
            await pilot.press(key)
            if app.screen is not here:
                if not isinstance(app.screen, View):  # a window was opened
                    await pilot.press("escape")
                app.go(name)
                await pilot.settled()
        assert name == app.screen.NAME and app.is_running
        await pilot.press("q")

    drive(app, press)
    assert not app.is_running and app.return_code == 0


@pytest.mark.parametrize("name", SCREENS)
def test_the_keys_that_are_shown_are_bound_and_fit(name: str, app_of):
    app = app_of("good", screen=name)

    async def look(pilot) -> None:
        await pilot.settled()
        active = app.screen.active_bindings
        for binding in app.screen.query_one(KeyBar).bindings:
            assert all(key in active for key in binding.key.split(",")), binding
        for width in (80, 40, 20):
            await pilot.resize_terminal(width, 24)
            await pilot.settled()
            line = app.screen.query_one(KeyBar).line(0)
            assert 0 < len(line.plain.strip()) < len(line.plain.rstrip()) <= width

    drive(app, look)


def test_numbers_open_the_screens_and_the_palette_knows_them(app_of):
    app = app_of("good")

    async def press(pilot) -> None:
        for number, name in enumerate(SCREENS, start=1):
            await pilot.press(str(number))
            await pilot.settled()
            assert name == app.screen.NAME
        await pilot.press("ctrl+p")
        await pilot.settled()
        assert app.screen.__class__.__name__ == "CommandPalette"
        await pilot.press("escape")
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert {"Theme", "Screenshot", "Open compare", "Pause or go on"} <= set(titles)
        app.theme = "textual-light"
        await pilot.settled()

    drive(app, press)


def test_one_notice_at_a_time_at_the_bottom_until_the_next_key(app_of):
    app = app_of("part", screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        before = screen_text(app).splitlines()
        app.say("first")
        app.say("second")
        await pilot.settled()
        await asyncio.sleep(0.05)
        after = screen_text(app).splitlines()
        assert after[:-1] == before[:-1] and "second" in after[-1] and "first" not in after[-1], "no row is covered"
        await pilot.press("j")
        assert not app._notifications and "second" not in screen_text(app)
        await pilot.press("y")
        assert [notice.message[:6] for notice in app._notifications] == ["copied"]

    drive(app, press)


def test_moving_in_a_list(app_of):
    app = app_of("part", screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        rows = app.screen.query_one(Rows)
        for key, place in [("j", 1), ("down", 2), ("k", 1), ("G", 399), ("j", 399), ("g", 0), ("k", 0), ("end", 399), ("home", 0)]:
            await pilot.press(key)
            assert rows.cursor == place, key
        await pilot.press("pagedown")
        assert 10 <= rows.cursor <= 25
        await pilot.press("pageup")
        assert rows.cursor == 0
        await pilot.press("G")
        await pilot.settled()
        assert "w-000199" in screen_text(app)

    drive(app, press)


def test_monitor_freezes(app_of, root):
    app = app_of("good")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("space")
        assert "FROZEN" in screen_text(app)
        (root / "good/manifest.json").unlink()
        app.screen.look()
        await pilot.settled()
        assert "FROZEN" in screen_text(app) and "390 of 390" in screen_text(app)
        await pilot.press("space")
        await pilot.settled()
        assert "cannot read runs/good/manifest.json" in screen_text(app)

    drive(app, press)


def test_pause_and_go_write_the_control_file(app_of, runner_of, root):
    runner_of("part")
    app = app_of("part")
    control = root / "part/control.json"

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("p")
        await pilot.settled()
        assert json.loads(control.read_text()) == {"command": "pause"}
        assert screen_text(app).splitlines()[1].startswith("pausing by pid 4242 on node")
        await pilot.press("p")
        await pilot.settled()
        assert json.loads(control.read_text()) == {"command": "go"}
        assert screen_text(app).splitlines()[1].startswith("running")

    drive(app, press)
    assert {path.name for path in (root / "part").iterdir()} == {"manifest.json", "ledger.sqlite", "runner.lock", "control.json"}


@pytest.mark.parametrize("case", ["read-only", "no runner"])
def test_nothing_is_written_where_it_must_not_be(case: str, app_of, runner_of, root):
    if case == "read-only":
        runner_of("part")
    app = app_of("part", read_only=case == "read-only")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("p")
        await pilot.settled()

    drive(app, press)
    assert not (root / "part/control.json").exists()


def test_runs_opens_items_and_marks_the_other_side(app_of, root):
    app = app_of()

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("j", "c", "k")  # `other` is marked, `part` is under the cursor
        assert app.session.other.path == root / "other" and "◆ other" in screen_text(app)
        await pilot.press("i")
        assert app.screen.NAME == "items" and app.session.path == root / "part"
        await pilot.press("5")
        assert app.screen.compared.right.source.path == root / "other"
        await pilot.press("1", "j", "c")
        assert app.session.other is None

    drive(app, press)


def test_keys_that_go_backwards(app_of, root):
    app = app_of("part", screen="items", other=root / "other")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("T")
        assert app.session.chosen.transitions == ("pending",)
        await pilot.press("T", "t", "t")
        assert app.session.chosen.transitions == () and app.session.chosen.domain is None
        await pilot.press("S")
        assert app.session.sort.by == "min_confidence"
        await pilot.press("s", "escape")
        assert app.session.sort.by == "order" and app.screen.NAME == "runs"
        await pilot.press("2", "enter")
        assert app.screen.NAME == "items"
        await pilot.press("4", "a")
        before = app.session.arm
        await pilot.press("a", "A")
        assert app.session.arm == before
        await pilot.press("5", "shift+tab")
        matrix, cell = app.screen.compared.found.matrix(), app.screen.cell
        assert cell == max((r, c) for r in range(4) for c in range(4) if matrix[r, c])
        await pilot.press("x")
        assert app.screen.cell is None
        await pilot.press("d")
        assert {a.domain for a, _ in (app.screen.query_one(Rows).row(i) for i in range(20))} == {app.session.domain}
        await pilot.press("tab", "escape")
        assert app.screen.NAME == "compare" and app.screen.cell is None
        await pilot.press("escape")
        assert app.screen.NAME == "runs"

    drive(app, press)


def test_a_report_is_made_again_when_asked_or_when_a_file_changed(app_of, root):
    app = app_of("good", screen="report")

    async def press(pilot) -> None:
        await pilot.settled()
        first = app.screen.view
        await pilot.press("1", "6")
        assert app.screen.view is first
        await pilot.press("r")
        second = app.screen.view
        assert second is not first and second.text == first.text
        (root / "good/control.json").write_text("{}")
        await pilot.press("1", "6")
        assert app.screen.view is not second

    drive(app, press)


def test_themes(app_of):
    """Every theme draws the same text; the palette names them."""
    app = app_of("good")

    async def look(pilot) -> None:
        await pilot.settled()
        text = screen_text(app)
        for name in app.available_themes:
            app.theme = name
            await pilot.settled()
            assert screen_text(app) == text, name

    drive(app, look)


def test_copying(app_of, root):
    app = app_of()

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("y")
        assert app.clipboard == str(root / "part")
        await pilot.press("enter")
        await pilot.settled()
        await pilot.press("y")
        assert "settled" in app.clipboard and isinstance(app.screen, MonitorScreen)
        await pilot.press("3")
        await pilot.settled()
        await pilot.press("y")
        assert app.clipboard.split("\t")[1] == "m-000000"

    drive(app, press)


def test_compare_lists_what_is_behind_a_cell(app_of, root):
    app = app_of("part", screen="compare", other=root / "other")

    async def press(pilot) -> None:
        await pilot.settled()
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        matrix = screen.compared.found.matrix()
        rows = screen.query_one(Rows)
        assert rows.total == 400 and matrix.sum() == 226
        left, right = rows.row(0)
        assert left.transition != right.transition, "changed items stand first"
        seen = 0
        for _ in range(int((matrix > 0).sum())):
            await pilot.press("tab")
            await pilot.settled()
            assert rows.total == matrix[screen.cell] > 0
            seen += rows.total
        assert seen == 226
        await pilot.press("tab")
        await pilot.settled()
        assert screen.cell is None and rows.total == 400
        await pilot.press("w")
        await pilot.settled()
        assert app.session.path == root / "other" and (screen.compared.found.matrix() == matrix.T).all()
        await pilot.press("e", "j")
        await pilot.settled()

    drive(app, press)
    (path,) = Path(".").glob("compare-other-part-*.jsonl")
    assert len(path.read_text().splitlines()) == 400


def test_compare_chooses_arms(app_of):
    app = app_of("good", screen="compare")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("c")
        await pilot.settled()
        labels = [line.plain.strip() for line in app.screen.query_one("#dialog-list", Text).lines]
        at = labels.index("this run · Independent -> Serial")
        await pilot.press(*["j"] * at, "enter")
        await pilot.settled()
        assert app.screen.compared.right.pair.first == "independent"
        assert "B  good" in screen_text(app) and "Independent -> Serial" in screen_text(app)

    drive(app, press)


def test_mouse(app_of):
    app = app_of("part", screen="items")

    async def click(pilot) -> None:
        await pilot.settled()
        rows = app.screen.query_one(Rows)
        await pilot.click(Rows, offset=(5, 3))
        assert rows.cursor == 3
        head = app.screen.query_one("#head", Fixed)
        at = head.lines[1].plain.index("lost")
        await pilot.click("#head", offset=(at + 2, 1))
        await pilot.settled()
        assert app.session.chosen.transitions == ("lost",)
        at = app.screen.query_one("#columns", Fixed).lines[0].plain.index("TARGET")
        await pilot.click("#columns", offset=(at + 1, 0))
        await pilot.settled()
        assert app.session.sort.by == "target"
        await pilot.click(Rows, offset=(5, 2), times=2)
        await pilot.settled()
        assert isinstance(app.screen, ItemScreen)
        await pilot.click("TopBar", offset=(5, 0))
        await pilot.settled()
        assert app.screen.NAME == "runs"
        await pilot.click("KeyBar", offset=(2, 0))
        await pilot.settled()
        assert app.screen.NAME == "monitor"

    drive(app, click)


def test_screenshot(app_of):
    app = app_of("good")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("ctrl+s")
        await pilot.settled()

    drive(app, press)
    (path,) = Path(".").glob("c2s-tui-*.svg")
    assert path.read_text().lstrip().startswith("<svg") and "Candidates" in path.read_text()
