"""c2s-tui: its table as text, its screen, and what happens to folders that are no runs."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from c2s.cli import main
from c2s_tui import main as tui
from c2s_tui.app import RunsApp
from textual.widgets import DataTable, Static

HOSTILE = "z[bold]\x1b[31m"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    assert main(["run", "--model", "sim:oracle", "--domain", "math", "--limit", "6", "--out", str(root / "a"), "--json"]) == 0
    shutil.copytree(root / "a", root / HOSTILE)
    (root / HOSTILE / "ledger.sqlite").write_bytes(b"not a ledger")
    (root / "empty").mkdir()
    (root / "file").write_text("no run")
    return root


def test_once_lists_runs_and_says_why_one_cannot_be_read(root: Path, capsys: pytest.CaptureFixture[str]):
    assert tui([str(root), "--once"]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["a", "done", "main", "sim:oracle", "78", "78", "0"] in rows
    assert "unreadable" in out and "damaged or no ledger" in " ".join(out.split())
    assert "\x1b" not in out and "empty" not in out


def test_a_run_directory_itself_will_do(root: Path, capsys: pytest.CaptureFixture[str]):
    assert tui([str(root / "a"), "--once"]) == 0
    assert "sim:oracle" in capsys.readouterr().out


def test_a_folder_that_is_not_there_and_a_screen_without_a_terminal(root: Path, capsys: pytest.CaptureFixture[str]):
    assert tui([str(root / "nowhere"), "--once"]) == 2
    assert "no folder" in capsys.readouterr().err
    assert tui([str(root)]) == 2
    assert "--once" in capsys.readouterr().err


def test_the_screen_shows_the_rows_as_data_and_q_ends_it(root: Path):
    async def look() -> None:
        app = RunsApp(root, refresh_s=0.05)
        async with app.run_test(size=(110, 24)) as pilot:
            table = app.query_one(DataTable)
            assert [str(cell) for cell in table.get_row_at(0)] == ["a", "done", "main", "sim:oracle", "78", "78", "0"]
            assert str(table.get_row_at(1)[0]) == "z[bold]\\x1b[31m"
            assert "damaged" in str(app.query_one("#notes", Static).content)
            await pilot.press("down")
            await pilot.pause(0.2)
            assert table.cursor_row == 1
            await pilot.press("q")
        assert not app.is_running

    asyncio.run(look())


def test_once_loads_no_textual(root: Path):
    code = "import sys; from c2s_tui import main; main([sys.argv[1], '--once']); print('textual' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False"
