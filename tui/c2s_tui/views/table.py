"""Columns that fit: which are shown at a given width, and how wide each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from c2s_tui.text import Line, Span, cell

Cell = str | Span | Sequence[Span]
"""What stands in a cell: a string, a span whose text is fitted, or spans that fill the cell together."""


@dataclass(frozen=True, slots=True)
class Column:
    """`least` and `most` columns of the terminal; those with the highest `rank` give way first on a narrow one."""

    key: str
    head: str
    least: int
    most: int = 0
    right: bool = False
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that fit, with their widths; one blank between them."""

    columns: tuple[tuple[Column, int], ...]

    def head(self, sort: str | None = None, descending: bool = False, indent: int = 0) -> Line:
        """The header line; an arrow marks the column that is sorted by. A click on a head carries ("sort", key)."""
        parts: list[Span | str] = [" " * indent]
        for column, width in self.columns:
            mark = ("▼" if descending else "▲") if column.key == sort else ""
            parts += [cell(column.head + mark, width, "title", right=column.right, hit=("sort", column.key)), " "]
        return Line(*parts)

    def row(self, values: Mapping[str, Cell], indent: int = 0) -> Line:
        """A line of cells, by the key of their column."""
        parts: list[Span | str] = [" " * indent]
        for column, width in self.columns:
            value = values.get(column.key, "")
            if isinstance(value, str):
                parts.append(cell(value, width, right=column.right))
            elif isinstance(value, Span):
                parts.append(cell(value.text, width, value.role, right=column.right, hit=value.hit))
            else:
                parts += Line(*value).fit(width).spans
            parts.append(" ")
        return Line(*parts)

    def width(self, key: str) -> int:
        return next((width for column, width in self.columns if column.key == key), 0)


def fit(columns: Sequence[Column], width: int, indent: int = 0) -> Layout:
    """Drop columns by rank until the rest fits at its least, then let them grow towards their most, evenly."""
    shown = list(columns)
    room = width - indent
    while len(shown) > 1 and sum(c.least + 1 for c in shown) - 1 > room:
        worst = max(c.rank for c in shown)
        last = max(i for i, c in enumerate(shown) if c.rank == worst)
        shown.pop(last)
    widths = {c.key: min(c.least, max(1, room)) for c in shown}
    spare = room - sum(widths.values()) - (len(shown) - 1)
    while spare > 0:
        growing = [c for c in shown if widths[c.key] < c.most]
        if not growing:
            break
        for c in growing[:spare]:
            step = max(1, min(spare // len(growing), c.most - widths[c.key]))
            widths[c.key] += step
            spare -= step
    return Layout(tuple((c, widths[c.key]) for c in shown))


def sized(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> list[Column]:
    """The columns with room for what is in them: numbers must not be cut, names are given up to 16 columns."""
    found = []
    for c in columns:
        widest = max((_width(row.get(c.key, "")) for row in rows), default=0)
        found.append(replace(c, least=max(c.least, len(c.head), widest if c.right else min(16, widest))))
    return found


def _width(value: Cell) -> int:
    if isinstance(value, str):
        return len(value)
    return len(value.text) if isinstance(value, Span) else Line(*value).width
