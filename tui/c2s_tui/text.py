"""Lines of the screen: spans of literal text with a role each. The one place where text from outside becomes something to show.

A role ("good", "dim", ...) says what a span means; the theme decides how that looks, and plain output drops it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from c2s.reports.tables import literal

ROLES = ("dim", "bold", "title", "good", "bad", "wrong", "warn", "accent", "key", "mark", "bar")
EIGHTHS = " ▏▎▍▌▋▊▉█"
SPARKS = " ▁▂▃▄▅▆▇█"


Hit = tuple[str | int | None, ...]
"""What a click stands for: a word that says what is to be done, then what it is done with."""


class Span(NamedTuple):
    """Text that has been made harmless, its role, and what a click on it stands for (None: nothing)."""

    text: str
    role: str = ""
    hit: Hit | None = None


class Line:
    """One line of a screen, immutable. Plain strings among the arguments are made literal."""

    __slots__ = ("spans",)

    def __init__(self, *parts: str | Span) -> None:
        self.spans: tuple[Span, ...] = tuple(part if isinstance(part, Span) else Span(visible(part)) for part in parts)

    @property
    def plain(self) -> str:
        return "".join(span.text for span in self.spans)

    @property
    def width(self) -> int:
        return sum(cell_len(span.text) for span in self.spans)

    def __add__(self, other: Line) -> Line:
        return Line(*self.spans, *other.spans)

    def __repr__(self) -> str:
        return f"Line({self.plain!r})"

    def fit(self, columns: int) -> Line:
        """Cut or filled with blanks to exactly this many columns."""
        left = columns
        spans = []
        for span in self.spans:
            size = cell_len(span.text)
            if size > left:
                spans.append(span._replace(text=clip(span.text, left)))
                left = 0
                break
            spans.append(span)
            left -= size
        if left:
            spans.append(Span(" " * left))
        return Line(*spans)


def visible(text: str) -> str:
    """The text with every character that could act on a terminal escaped."""
    return text if text.isprintable() else literal(text)


def arm_title(name: str) -> str:
    """`Native`, `Candidates only`: an arm's name as a heading."""
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def span(text: str, role: str = "", hit: Hit | None = None) -> Span:
    return Span(visible(text), role, hit)


def clip(text: str, columns: int) -> str:
    """At most this many columns, `…` where something was cut. The text must be visible already."""
    if len(text) <= columns and cell_len(text) <= columns:
        return text
    if columns <= 0:
        return ""
    if cell_len(head := text[: 8 * columns + 64]) <= columns and len(head) == len(text):
        return text
    return set_cell_size(head, columns - 1) + "…"


def told_apart(names: Iterable[str], columns: int) -> dict[str, str]:
    """The names in at most this many columns, long ones without their middle if they still differ then, else with their words shortened."""
    names = [*names]
    half = max(0, columns - 1) // 2
    for head in sorted(range(max(1, columns)), key=lambda n: abs(n - half)):
        tail = max(0, columns - 1 - head)
        found = {n: n if cell_len(n) <= columns or not n.isascii() else f"{n[:head]}…{n[len(n) - tail :]}" for n in names}
        if len({*found.values()}) == len({*names}):
            return found
    for letters in range(8, 0, -1):
        found = {n: n if cell_len(n) <= columns else re.sub(rf"([A-Za-z]{{{letters}}})[a-z]+", r"\1", n) for n in names}
        if len({*found.values()}) == len({*names}) and max(map(cell_len, found.values())) <= columns:
            return found
    return {n: n for n in names}


def cell(text: str, columns: int, role: str = "", *, right: bool = False, hit: Hit | None = None) -> Span:
    """Text from anywhere as a cell of a table: literal, clipped, padded."""
    shown = clip(visible(text[: 8 * columns + 64]), columns)
    space = " " * (columns - cell_len(shown))
    return Span(space + shown if right else shown + space, role, hit)


def wrap(text: str, columns: int, most: int = 1000) -> list[str]:
    """Visible text in at most `most` pieces of at most `columns` columns, broken at blanks where there are any."""
    columns = max(1, columns)
    room = most * columns * 2
    text = visible(text[:room]) + ("…" if len(text) > room else "")
    lines: list[str] = []
    at = 0
    while at < len(text) and len(lines) < most:
        size = _fitting(text, at, columns)
        end = at + size
        space = text.rfind(" ", at + size // 2, end + 1) if end < len(text) else -1
        if space > at:
            lines.append(text[at:space])
            at = space + 1
        else:
            lines.append(text[at:end])
            at = end
    if at < len(text):
        lines[-1] = clip(lines[-1] + text[at : at + columns], columns)
    return lines or [""]


def _fitting(text: str, start: int, columns: int) -> int:
    """How many characters from `start` on fill at most this many columns; at least one."""
    piece = text[start : start + columns]
    if piece.isascii():
        return len(piece)
    size = width = 0
    for c in text[start : start + 8 * columns]:
        width += cell_len(c)
        if width > columns:
            break
        size += 1
    return max(1, size)


def bar(share: float, columns: int) -> str:
    """A bar of this share (0 to 1) of `columns` columns; whatever is more than nothing shows at least a sliver."""
    share = min(1.0, max(0.0, share))
    eighths = round(share * columns * 8)
    if share > 0:
        eighths = max(1, eighths)
    if share < 1:
        eighths = min(columns * 8 - 1, eighths)
    full, rest = divmod(max(0, eighths), 8)
    text = EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")
    return text + " " * (columns - len(text))


def spark(values: Sequence[float]) -> str:
    """One character a value, the largest one full; a value above 0 is never blank."""
    top = max(values, default=0)
    if top <= 0:
        return " " * len(values)
    return "".join(SPARKS[0] if v <= 0 else SPARKS[max(1, round(v / top * 8))] for v in values)


def columns(left: Sequence[Line], right: Sequence[Line], width: int, gap: int = 3) -> list[Line]:
    """Two blocks of lines side by side, the left one `width` columns wide."""
    return [a.fit(width) + Line(" " * gap) + b for a, b in zip_longest(left, right, fillvalue=Line())]


def plain(lines: Iterable[Line]) -> str:
    """The lines as text for a pipe, without trailing blanks."""
    return "".join(line.plain.rstrip() + "\n" for line in lines)
