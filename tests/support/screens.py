"""What a Textual app shows, as text, and its comparison with what it showed before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual._context import visible_screen_stack
from textual.app import App


def screen_text(app: App) -> str:
    """The characters on the screen, line by line, without trailing blanks."""
    visible_screen_stack.set([])  # what an update of the app left there would be drawn below a window, or not
    app.screen.refresh(layout=True)
    strips = app.screen._compositor.render_strips()
    return "".join(strip.text.rstrip() + "\n" for strip in strips)


def check_snapshot(folder: Path, name: str, text: str) -> None:
    """Compare with the stored file; C2S_UPDATE_SNAPSHOTS=1 stores it anew."""
    path = folder / f"{name}.txt"
    if os.environ.get("C2S_UPDATE_SNAPSHOTS"):
        folder.mkdir(exist_ok=True)
        path.write_text(text)
    if not path.exists():
        pytest.fail(f"no snapshot {path.name}; make it with C2S_UPDATE_SNAPSHOTS=1 and look at it")
    assert text == path.read_text(), f"{name} looks otherwise; if that is meant, store it with C2S_UPDATE_SNAPSHOTS=1"
