"""`--once`, and the cases in which there is no terminal to draw on."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from c2s_tui import main as tui

SCREENS = ("runs", "monitor", "items", "item", "compare", "report")


@pytest.mark.parametrize("screen", SCREENS)
def test_every_screen_as_text(screen: str, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert tui([str(root if screen == "runs" else root / "good"), "--screen", screen, "--once"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.count("\n") > 5 and "\x1b" not in out and max(map(len, out.splitlines())) <= 100
    assert {"runs": "SCR", "monitor": "390 of 390", "items": "math-6-35", "item": "K       8", "compare": "A \\ B", "report": "McNemar"}[
        screen
    ] in out


def test_items_prints_every_filtered_row(root: Path, capsys: pytest.CaptureFixture[str]):
    assert tui([str(root / "part"), "--screen", "items", "--once", "--filter", "t:lost d:lexical"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if " w-" in line]
    assert len(rows) == 68 and all("- lost" in line for line in rows)
    assert any(line.startswith("68 items") for line in lines)


def test_item_by_name_and_compare_with_another_run(root: Path, capsys: pytest.CaptureFixture[str]):
    assert tui([str(root / "good"), "--screen", "item", "--once", "--item", "math-5-27"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("math-5-27") and out.count("POS ") == 4
    assert tui([str(root / "good"), "--screen", "item", "--once", "--item", "nothing"]) == 2
    assert "no item 'nothing'" in capsys.readouterr().err
    assert tui([str(root / "part"), "--screen", "compare", "--once", "--with", str(root / "other")]) == 0
    assert "B  other" in capsys.readouterr().out
    assert tui([str(root / "good"), "--screen", "compare", "--once", "--with", str(root / "other")]) == 1
    assert "no item in common" in capsys.readouterr().err
    assert tui([str(root / "part"), "--screen", "compare", "--once"]) == 2
    assert "no third arm" in capsys.readouterr().err


def test_wrong_usage(root: Path, capsys: pytest.CaptureFixture[str]):
    for arguments in (
        ["--screen", "nothing"],
        [str(root), "--allow-control"],
        [str(root / "good"), "--once", "--screen", "items", "--filter", "t:x"],
    ):
        assert tui(arguments) == 2
    assert tui(["--help"]) == 0 and "--serve" in capsys.readouterr().out


def run(arguments: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "c2s_tui", *arguments], capture_output=True, text=True, env=os.environ | env, stdin=subprocess.DEVNULL
    )


def test_without_a_terminal_the_text_comes_with_a_word(root: Path):
    done = run([str(root / "good")])
    assert done.returncode == 0 and "390 of 390" in done.stdout
    assert done.stderr.count("\n") == 1 and "--once" in done.stderr


def test_into_a_pipe_no_column_is_cut(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = run([str(root), "--once"]).stdout.splitlines()
    assert lines[0].split() == ["RUN", "MODEL", "STATE", "DONE", "ERR", "USD", "AGE"]
    assert any("sim:positions?p=0.85&seed=5" in line for line in lines) and "…" not in "".join(lines)
    assert max(map(len, run([str(root / "good"), "--once"]).stdout.splitlines())) <= 140


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_dumb_terminal_gets_text_too(term: str, root: Path):
    """Also where everything is a terminal, but one that cannot place text."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "c2s_tui", str(root / "good")], stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": term}
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end has closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    assert process.wait(20) == 0 and b"390 of 390" in shown and b"\x1b" not in shown


def test_a_pipe_that_closes_is_no_error(root: Path):
    command = f"{sys.executable} -m c2s_tui {root / 'part'} --screen items --once | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("Native -> Serial")


def test_once_loads_no_textual(root: Path):
    code = "import sys; from c2s_tui import main; main([sys.argv[1], '--once']); print(*{m.partition('.')[0] for m in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "c2s_tui" in loaded and not loaded & {"textual", "scipy", "nltk", "httpx", "torch"}
