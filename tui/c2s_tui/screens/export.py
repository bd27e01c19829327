"""The small window that asks in which form to export, and the thread that writes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from c2s_tui.data.export import write_rows
from c2s_tui.data.source import Trouble, guarded
from c2s_tui.text import Line, span
from c2s_tui.widgets.lines import Fixed, LineView

if TYPE_CHECKING:
    from c2s_tui.app import TuiApp


def stamp() -> str:
    """The time as part of a file name."""
    return time.strftime("%Y%m%d-%H%M%S")


class ExportScreen(ModalScreen[None]):
    """`rows()` gives the records anew each time it is called; `name` is the file's without its ending."""

    app: TuiApp
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "write('csv')", "CSV"),
        Binding("j", "write('jsonl')", "JSON Lines"),
        Binding("escape,q", "close", "close"),
    ]

    def __init__(self, rows: Callable[[], Iterable[dict[str, Any]]], count: int, name: str) -> None:
        super().__init__()
        self._rows, self._count, self._name = rows, count, name

    def compose(self) -> ComposeResult:
        where = "your browser downloads it" if self.app.is_web else f"in {self.app.export_folder}"
        yield Fixed(
            [
                Line(span(f"Export {self._count:,} rows", "title")),
                Line(span(" c ", "key", ("write", "csv")), f" {self._name}.csv"),
                Line(span(" j ", "key", ("write", "jsonl")), f" {self._name}.jsonl"),
                Line(span(" escape ", "key", ("close",)), span(f" close; {where}", "dim")),
            ],
            id="dialog",
        )

    def on_line_view_hit(self, message: LineView.Hit) -> None:
        message.stop()
        match message.what:
            case ("write", str(form)):
                self.action_write(form)
            case _:
                self.action_close()

    def action_close(self) -> None:
        self.dismiss()

    def action_write(self, form: str) -> None:
        app, rows, name, folder = self.app, self._rows, f"{self._name}.{form}", self.app.export_folder
        web = app.is_web

        def write() -> None:
            done = guarded(_write, rows, Path(tempfile.mkdtemp(prefix="c2s-tui-")) if web else folder, name, form)
            app.call_from_thread(_said, app, done, web)

        app.run_worker(write, thread=True, group="export", exit_on_error=False)
        self.dismiss()


def _write(rows: Callable[[], Iterable[dict[str, Any]]], folder: Path, name: str, form: str) -> tuple[Path, int]:
    """Write beside the name first, so that a file with the name is always whole."""
    path = folder / name
    temporary = path.with_name(name + ".part")
    try:
        with open(temporary, "w", encoding="utf-8", newline="", errors="surrogatepass") as file:
            n = write_rows(file, rows(), form)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path, n


def _said(app: TuiApp, done: tuple[Path, int] | Trouble, web: bool) -> None:
    if isinstance(done, Trouble):
        app.say(done.message, error=True)
        return
    path, n = done
    if web:
        app.deliver_text(path, save_filename=path.name)
    app.say(f"{n:,} rows: {path.name if web else path}")
