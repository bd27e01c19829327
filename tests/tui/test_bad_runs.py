"""Runs that are damaged, foreign, old, growing or gone, and terminals that are too small: a message or less text, never a traceback."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from c2s_tui import main as tui
from support.pilots import drive
from support.screens import screen_text

SCREENS = ("monitor", "items", "item", "compare", "report")


def truncated(run: Path) -> None:
    """Torn in the middle of a copy."""
    data = (run / "ledger.sqlite").read_bytes()
    (run / "ledger.sqlite").write_bytes(data[: len(data) // 3])


def garbled(run: Path) -> None:
    """Pages of something else, the header intact."""
    data = bytearray((run / "ledger.sqlite").read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    (run / "ledger.sqlite").write_bytes(data)


def text(run: Path) -> None:
    (run / "ledger.sqlite").write_text("this is not a database\n" * 500)


def empty(run: Path) -> None:
    (run / "ledger.sqlite").write_bytes(b"")


def foreign(run: Path) -> None:
    """A database of another program."""
    (run / "ledger.sqlite").unlink()
    db = sqlite3.connect(run / "ledger.sqlite")
    db.execute("CREATE TABLE parents (id INTEGER)")
    db.commit()
    db.close()


def future(run: Path) -> None:
    _execute(run, "PRAGMA user_version = 99")


def older(run: Path) -> None:
    """A number that no schema has."""
    _execute(run, "ALTER TABLE parents DROP COLUMN transition; PRAGMA user_version = 0")


def without_items(run: Path) -> None:
    _execute(run, "DROP TABLE items")


def no_json(run: Path) -> None:
    _execute(run, "UPDATE items SET payload = x'00ff7b'; UPDATE outcomes SET detail = '{'; UPDATE run SET value = '[' WHERE key = 'spend'")


def odd_types(run: Path) -> None:
    """Values that SQLite keeps whatever a column was declared as."""
    _execute(
        run, "UPDATE parents SET domain = 7, length = 'long'; UPDATE counters SET n = 'many'; UPDATE events SET at = 'now', message = 3"
    )


def manifest_cut(run: Path) -> None:
    (run / "manifest.json").write_text('{"identity": {"model": ')


def manifest_other(run: Path) -> None:
    (run / "manifest.json").write_text('{"identity": {"model": 3, "panels": "main"}}')


def no_manifest(run: Path) -> None:
    (run / "manifest.json").unlink()


def no_ledger(run: Path) -> None:
    (run / "ledger.sqlite").unlink()


def a_folder(run: Path) -> None:
    (run / "ledger.sqlite").unlink()
    (run / "ledger.sqlite").mkdir()


def _execute(run: Path, sql: str) -> None:
    db = sqlite3.connect(run / "ledger.sqlite")
    db.executescript(sql)
    db.close()


DAMAGES = [
    truncated, garbled, text, empty, foreign, future, older, without_items, no_json, odd_types,
    manifest_cut, manifest_other, no_manifest, no_ledger, a_folder,
]  # fmt: skip
READABLE = {no_json, odd_types, without_items, older}
"""What may still show something, since not everything in it is damaged."""


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda f: f.__name__)
def test_a_damaged_run_is_a_line_in_the_list_and_a_message_on_every_screen(damage: Callable, root: Path, app_of, capsys):
    damage(root / "good")
    if (root / "good/report.json").exists():
        (root / "good/report.json").unlink()
    for name in ("runs", *SCREENS):
        code = tui([str(root if name == "runs" else root / "good"), "--screen", name, "--once"])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        if name == "runs":
            assert ("part" in out and "unreadable" in out) or damage in READABLE
        elif damage not in READABLE:
            assert code in (1, 2) and err.startswith("c2s-tui: ") and err.count("\n") == 1

    app = app_of("good")

    async def look(pilot) -> None:
        for name in ("runs", *SCREENS):
            app.go(name)
            await pilot.settled()
            shown = screen_text(app)
            assert "Traceback" not in shown and app.is_running
            if name not in ("runs",) and damage not in READABLE:
                assert any(
                    word in shown for word in ("damaged", "not a", "no ", "cannot", "newer", "older", "not readable", "c2s report")
                ), shown

    drive(app, look)


@pytest.mark.parametrize(
    "number, said", [(0, "names schema 0, and no c2s ever wrote one below 1"), (-7, "schema -7"), (99, "newer c2s (schema 99")]
)
def test_a_schema_that_is_none_is_named(number: int, said: str, root: Path, capsys):
    _execute(root / "good", f"PRAGMA user_version = {number}")
    assert tui([str(root / "good"), "--once", "--screen", "items"]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", SCREENS)
def test_a_run_that_is_deleted_while_it_is_shown(name: str, root: Path, app_of):
    app = app_of("good", screen=name)

    async def look(pilot) -> None:
        await pilot.settled()
        shutil.rmtree(root / "good")
        app.screen.look(again=True)
        await pilot.settled()
        shown = screen_text(app)
        assert "no such folder" in shown or "No such file" in shown or (name == "item" and "math-" in shown)
        for key in ("j", "G", "enter", "s", "n", "slash", "escape", "e", "escape"):
            await pilot.press(key)
        await pilot.press("1")
        await pilot.settled()
        assert app.is_running and app.screen.NAME == "runs"

    drive(app, look)


def test_the_list_forgets_a_run_that_is_gone(root: Path, app_of):
    app = app_of()

    async def look(pilot) -> None:
        await pilot.settled()
        assert [entry.name for entry in app.screen.entries] == ["part", "other", "good"]
        shutil.rmtree(root / "other")
        app.session.watch._searched = -1e9
        app.screen.look()
        await pilot.settled()
        assert [entry.name for entry in app.screen.entries] == ["part", "good"]

    drive(app, look)


def test_an_empty_folder_says_how_to_make_a_run(tmp_path: Path, capsys):
    (tmp_path / "empty").mkdir()
    assert tui([str(tmp_path / "empty"), "--once"]) == 0
    assert "c2s run" in capsys.readouterr().out
    assert tui([str(tmp_path / "empty"), "--once", "--screen", "items"]) == 2
    assert "no run directory" in capsys.readouterr().err
    assert tui([str(tmp_path / "nowhere"), "--once"]) == 2
    assert "no folder" in capsys.readouterr().err


@pytest.mark.parametrize("size", [(1, 1), (39, 9), (3, 30), (300, 2)])
def test_sizes_that_hold_next_to_nothing(size: tuple[int, int], app_of):
    app = app_of("good", screen="runs")

    async def look(pilot) -> None:
        for name in ("runs", *SCREENS):
            app.go(name)
            await pilot.settled()
            for key in ("j", "G", "question_mark", "escape"):
                await pilot.press(key)
            assert len(screen_text(app).splitlines()) == size[1]
        await pilot.resize_terminal(80, 24)
        await pilot.settled()
        assert app.is_running

    drive(app, look, size)


def test_resizing_while_the_run_grows(root: Path, app_of, runner_of):
    """Rows and counts come in while the window changes; the totals in the header agree at every look."""
    runner_of("part")
    app = app_of("part", screen="items")

    def close(number: int) -> None:
        db = sqlite3.connect(root / "part/ledger.sqlite")
        db.execute("UPDATE parents SET closed = 1, transition = 'both' WHERE id = ?", (number,))
        db.execute(
            "INSERT INTO counters SELECT panel, domain, length, '', 'transition:both', 1 FROM parents WHERE id = ?"
            " ON CONFLICT DO UPDATE SET n = n + 1",
            (number,),
        )
        db.commit()
        db.close()

    async def look(pilot) -> None:
        await pilot.settled()
        for n, size in enumerate([(80, 24), (39, 9), (200, 60), (1, 1), (120, 10), (80, 24)]):
            close(241 + n)
            await pilot.resize_terminal(*size)
            app.go(("items", "monitor")[n % 2])
            app.screen.look(again=True)
            await pilot.settled()
        app.go("items")
        app.screen.look(again=True)
        await pilot.settled()
        selection = app.screen.found.selection
        assert selection.counts["both"] == 87 + 6 and sum(selection.counts.values()) == len(selection.ids) == 400

    drive(app, look)
