"""The line above the screens, which names them, and the line below, which names the keys."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType
from textual.strip import Strip

from c2s_tui.text import Line, Span, cell, span
from c2s_tui.widgets.lines import LineView

SCREENS = ("runs", "monitor", "items", "item", "compare", "report")
NUMBERS = {str(n): name for n, name in enumerate(SCREENS, start=1)}
"""The key that opens each screen."""


def described(bindings: Iterable[BindingType]) -> list[Binding]:
    """The bindings with their descriptions. Textual's own type also allows bare tuples; this program writes none."""
    return [binding for binding in bindings if isinstance(binding, Binding)]


class _Bar(LineView, can_focus=False):
    DEFAULT_CSS = "_Bar { height: 1; overflow: hidden hidden; }"

    @property
    def total(self) -> int:
        return 1

    def render_line(self, y: int) -> Strip:
        return super().render_line(y) if y == 0 else Strip.blank(self.size.width, self.rich_style)


class TopBar(_Bar):
    """`1 Runs  2 Monitor ...`, the screen that is open standing out, and what is being looked at on the right."""

    def __init__(self, open_screen: str) -> None:
        super().__init__()
        self.open_screen, self.subject = open_screen, ""

    def set_subject(self, subject: str) -> None:
        if subject != self.subject:
            self.subject = subject
            self.refresh()

    def line(self, y: int) -> Line:
        width = self.size.width
        full = sum(len(name) + 4 for name in SCREENS)
        parts: list[Span] = [Span(" ")]
        for number, name in enumerate(SCREENS, start=1):
            here = name == self.open_screen
            label = name.capitalize() if here or full + 6 <= width else ""
            role = "mark" if here else "key"
            parts.append(Span(f" {number}{' ' + label if label else ''} ", role, ("screen", name)))
        line = Line(*parts)
        room = width - line.width - 2
        if room >= 4:
            subject = self.subject if len(self.subject) <= room else "…" + self.subject[-(room - 1) :]
            line = line + Line(Span(" "), cell(subject, room, "dim", right=True))
        return line


class KeyBar(_Bar):
    """As many keys as fit, the most useful first; `?` shows all of them."""

    def __init__(self, bindings: Iterable[BindingType]) -> None:
        super().__init__()
        self.bindings = [binding for binding in described(bindings) if binding.show]

    def line(self, y: int) -> Line:
        width = self.size.width
        parts: list[Span] = []
        used = 0
        for binding in self.bindings:
            key = binding.key_display or binding.key.split(",")[0]
            size = len(key) + len(binding.description) + 3
            if used + size > width + 1:
                break
            hit = ("action", binding.action)
            parts += [Span(f" {key}", "key", hit), span(f" {binding.description} ", "dim", hit)]
            used += size
        return Line(*parts)
