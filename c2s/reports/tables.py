"""Plain tables as text or Markdown. Whatever is in a cell is shown as data: control characters are escaped, pipes are not markup."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Title (of one or more lines), header, rows of cells, and notes below. The first `left` columns are left-aligned."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    left: int = 1


def literal(text: str) -> str:
    """Text that cannot do anything to a terminal or a document: control, format and unassigned characters are escaped."""
    return "".join(c if not unicodedata.category(c).startswith(("C", "Z")) or c == " " else c.encode("unicode_escape").decode() for c in text)


def width(text: str) -> int:
    """Columns on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def as_text(table: Table) -> str:
    rows = [[literal(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(width(row[i]) for row in rows) for i in range(len(table.header))]
    lines = [part for line in table.title.splitlines() for part in textwrap.wrap(literal(line), 79, subsequent_indent="  ")]
    for number, row in enumerate(rows):
        cells = [_pad(cell, widths[i], left=i < table.left) for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
        if number == 0:
            lines.append("  ".join("-" * w for w in widths))
    notes = [line for note in table.notes for line in textwrap.wrap(literal(note), 79, subsequent_indent="  ")]
    return "\n".join([*lines, *notes]) + "\n"


def as_markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_escape(cell) for cell in cells) + " |"

    rule = "|" + "|".join(" --- " if i < table.left else " ---: " for i in range(len(table.header))) + "|"
    lines = [*(f"### {_escape(line)}" for line in table.title.splitlines()), "", line(table.header), rule, *map(line, table.rows), ""]
    return "\n".join([*lines, *(_escape(note) + "\n" for note in table.notes)])


def _pad(cell: str, columns: int, *, left: bool) -> str:
    space = " " * (columns - width(cell))
    return cell + space if left else space + cell


def _escape(text: str) -> str:
    out = literal(text)
    for c in "\\`*_[]|#":
        out = out.replace(c, "\\" + c)
    return out.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
