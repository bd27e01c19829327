"""The raw request and response of one slot, over the item."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen

from c2s_tui.data.item import Send, sends
from c2s_tui.data.source import Source, Trouble, guarded
from c2s_tui.screens.base import trouble_lines
from c2s_tui.screens.export import stamp
from c2s_tui.text import Line, span
from c2s_tui.views.raw import raw_lines
from c2s_tui.widgets.bars import NUMBERS, KeyBar
from c2s_tui.widgets.lines import Fixed, LineView, Text

if TYPE_CHECKING:
    from c2s_tui.app import TuiApp


class RawScreen(ModalScreen[None]):
    """Exact bytes: `x` changes between text and hex, `e` writes them to files, `y` copies the request."""

    app: TuiApp
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "form", "text/hex", tooltip="text or hex"),
        Binding("e", "export", "write to files", tooltip="write the exact bytes to files"),
        Binding("y", "copy(False)", "copy request", tooltip="copy the request"),
        Binding("Y", "copy(True)", "copy response", tooltip="copy the response"),
        Binding("escape,q,r", "close", "back", key_display="esc", tooltip="back to the item"),
        Binding("question_mark", "app.help", "help", show=False),
    ]

    class Read(Message):
        def __init__(self, result: list[Send] | Trouble) -> None:
            super().__init__()
            self.result = result

    class Laid(Message):
        """Lines for a width and form that a thread has laid out; a large body takes a while."""

        def __init__(self, lines: Sequence[Line], form: str, width: int) -> None:
            super().__init__()
            self.lines, self.form, self.width = lines, form, width

    def __init__(self, source: Source, slot: int) -> None:
        super().__init__()
        self._source, self._slot = source, slot
        self.sends: list[Send] = []
        self.form = "text"

    def compose(self) -> ComposeResult:
        yield Fixed([Line(span("reading ...", "dim"))], id="head")
        yield Text(id="text")
        yield KeyBar(self.BINDINGS)

    def on_mount(self) -> None:
        source, slot = self._source, self._slot
        self.run_worker(lambda: self.post_message(self.Read(guarded(sends, source, slot))), thread=True, exit_on_error=False)

    def on_raw_screen_read(self, message: RawScreen.Read) -> None:
        if isinstance(message.result, Trouble):
            self.query_one("#text", Text).set_lines(trouble_lines(message.result.message, self.size.width))
            return
        self.sends = message.result
        self._lay()

    def _lay(self) -> None:
        found, form, width = self.sends, self.form, max(1, self.size.width - 1)
        title = found[0].slot if found else f"slot {self._slot}"
        self.query_one("#head", Fixed).set_lines([Line(span(title, "bold"), span(f"   as {form}, exact bytes", "dim"))])
        self.run_worker(
            lambda: self.post_message(self.Laid(raw_lines(found, form, width), form, width)),
            thread=True,
            exclusive=True,
            group="lay",
            exit_on_error=False,
        )

    def on_raw_screen_laid(self, message: RawScreen.Laid) -> None:
        if message.form == self.form and message.width == max(1, self.size.width - 1):
            self.query_one("#text", Text).set_lines(message.lines, widest=message.width)

    def on_resize(self) -> None:
        if self.sends:
            self._lay()

    def action_form(self) -> None:
        self.form = "hex" if self.form == "text" else "text"
        self._lay()

    def action_close(self) -> None:
        self.dismiss()

    def on_key(self, event: events.Key) -> None:
        """The keys of the screens; a window keeps the app's own ones from the app."""
        if event.key in NUMBERS:
            event.stop()
            self.dismiss()
            self.app.call_later(self.app.go, NUMBERS[event.key])

    def on_line_view_hit(self, message: LineView.Hit) -> None:
        message.stop()
        match message.what:
            case ("action", str(action)):
                self.call_later(self.run_action, action)

    def action_copy(self, response: bool) -> None:
        """The last send's bytes: as text, or in Base64 where they are no text."""
        if not self.sends:
            return
        row = self.sends[-1].row
        body = row.response if response else row.request
        if body is None:
            self.app.say("there is no response")
            return
        try:
            text, what = body.decode(), "as text"
        except UnicodeDecodeError:
            text, what = base64.b64encode(body).decode(), "in Base64, since they are not UTF-8"
        self.app.copy_to_clipboard(text)
        self.app.say(f"copied {len(body):,} bytes {what}")

    def action_export(self) -> None:
        """One file a body in the export folder; the browser version has no such folder."""
        if not self.sends or self.app.is_web:
            return
        folder = self.app.export_folder / f"slot-{self._slot}-{stamp()}"
        done = guarded(self._write, folder)
        self.app.say(done.message if isinstance(done, Trouble) else f"{done} files in {folder}", error=isinstance(done, Trouble))

    def _write(self, folder: Path) -> int:
        folder.mkdir(parents=True)
        written = 0
        for send in self.sends:
            for name, body in (("request", send.row.request), ("response", send.row.response)):
                if body is not None:
                    (folder / f"{send.row.attempt}-{name}").write_bytes(body)
                    written += 1
        return written
