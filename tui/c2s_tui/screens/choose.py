"""A small window with a list to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from c2s_tui.text import Line, span
from c2s_tui.widgets.lines import Fixed, LineView, Text

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Choice(Generic[V]):
    label: str
    value: V


class ChooseScreen(ModalScreen[V]):
    """Returns the value of what was chosen, None where nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "close")]

    def __init__(self, title: str, choices: Sequence[Choice[V]]) -> None:
        super().__init__()
        self._title, self._choices = title, choices

    def compose(self) -> ComposeResult:
        yield Fixed([Line(span(self._title, "title"), span("  enter chooses, escape closes", "dim"))], id="dialog-title")
        yield Text(id="dialog-list")

    def on_mount(self) -> None:
        text = self.query_one("#dialog-list", Text)
        if self._choices:
            text.set_lines([Line(f" {choice.label}") for choice in self._choices], range(len(self._choices)))
        else:
            text.set_lines([Line(" there is nothing to choose from")])
        text.focus()

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        message.stop()
        self.dismiss(self._choices[message.index].value)

    def action_close(self) -> None:
        self.dismiss(None)
