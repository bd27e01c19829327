"""`?`: every key of the screen below, and what the signs mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from c2s_tui.text import Line, Span, cell, span
from c2s_tui.views.words import ROLES, SIGNS
from c2s_tui.widgets.bars import described
from c2s_tui.widgets.lines import Fixed, LineView, Text

MEANINGS = {
    "both": "both arms are right: the correct choice survives",
    "lost": "the first arm is right, the second is not",
    "gained": "the second arm is right, the first is not",
    "neither": "neither arm is right",
    "undefined": "one of the two ended in an error or is unknown; never scored",
    "pending": "the parent is still open",
}

WORDS = (
    ("filter", "words in the id, problem, target or outputs, and"),
    ("", "transition:lost,gained  domain:math  length:4-6"),
    ("", "panel:main  arm:independent  arm:independent/serial"),
    ("", '(t: d: l: p: a: will do; "two words" is one text)'),
    ("SCR", "both / (both + lost): what survives of the"),
    ("", "first arm's correct answers; `kept` where whole"),
    ("", "dialogues are compared"),
    ("WRONG", "first position (of a dialogue: turn) where the"),
    ("", "second arm is wrong"),
    ("MIN P", "smallest top probability of the second arm"),
    ("3 of 4", "turns in which a dialogue's whole state is right"),
    ("K", "candidates that begin like the gold, by length"),
    ("sparkline", "requests a second; its right end is now, or the"),
    ("", "end of the run"),
)


class HelpScreen(ModalScreen[None]):
    """The keys of the screen below (`own`), then those of the app."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "close", "close")]

    def __init__(self, own: Sequence[Binding], of_app: Sequence[Binding]) -> None:
        super().__init__()
        self._own, self._of_app = own, of_app

    def compose(self) -> ComposeResult:
        yield Fixed([Line(span("Keys and signs", "title"), span("  escape closes", "dim"))], id="dialog-title")
        yield Text(id="dialog-list")

    def on_mount(self) -> None:
        lines = [_key(binding) for binding in self._own] + [Line()] + [_key(binding) for binding in self._of_app]
        lines += [Line(), *(_key(binding) for binding in described(LineView.BINDINGS)), _row("ctrl+p", "all commands, and themes"), Line()]
        lines += [Line(cell(f"{SIGNS[name]} {name}", 16, ROLES[name]), Span(MEANINGS[name])) for name in SIGNS]
        lines += [Line(), *(_row(name, text) for name, text in WORDS)]
        text = self.query_one("#dialog-list", Text)
        text.set_lines(lines)
        text.focus()

    def action_close(self) -> None:
        self.dismiss()


def _key(binding: Binding) -> Line:
    names = {"slash": "/", "question_mark": "?", "space": "space", "ctrl+p": "ctrl+p"}
    keys = " ".join(names.get(key, key) for key in binding.key.split(","))
    return _row(keys, binding.tooltip or binding.description)


def _row(left: str, right: str) -> Line:
    return Line(cell(left, 26, "key"), Span(" "), span(right))
