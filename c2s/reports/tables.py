"""Plain tables as text or Markdown. Whatever is in a cell is shown as data: control characters are escaped, pipes are not markup."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

COLUMNS = 79
LEAST = 12
"""A column of texts is not made narrower than this."""


@dataclass(frozen=True, slots=True)
class Table:
    """Title (of one or more lines), header, rows of cells, and notes below. The first `left` columns are left-aligned.

    Without a header there is no table, only the title and the notes.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    left: int = 1


def literal(text: str) -> str:
    """Text that cannot do anything to a terminal or a document: control, format and unassigned characters are escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if not unicodedata.category(c).startswith(("C", "Z")) or c == " " else c.encode("unicode_escape").decode() for c in text
    )


def width(text: str) -> int:
    """Columns on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def as_text(table: Table) -> str:
    """At most 79 columns, so that nothing breaks on a terminal of 80: a table that is wider has its longest heads broken, then the texts
    of its left columns; what is still too wide goes on below, behind the left columns once more. Numbers are never broken.
    """
    head, *rows = [[literal(cell) for cell in row] for row in (table.header, *table.rows)]
    lines = [part for line in table.title.splitlines() for part in textwrap.wrap(literal(line), COLUMNS, subsequent_indent="  ")]
    for block in _blocks(head, rows, table.left) if head else ():
        names, cells = [head[i] for i in block], [[row[i] for i in block] for row in rows]
        widths = _narrowed(names, cells, table.left)
        lines += _row(names, widths, table.left, bottom=True)
        lines.append("  ".join("-" * w for w in widths))
        for row in cells:
            lines += _row(row, widths, table.left)
    notes = [line for note in table.notes for line in textwrap.wrap(literal(note), COLUMNS, subsequent_indent="  ")]
    return "\n".join([*lines, *notes]) + "\n"


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _blocks(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> list[list[int]]:
    """Which columns stand side by side: all, or the left ones with as many of the others as fit, again and again."""
    widths = _narrowed(head, rows, left)
    keys, blocks = list(range(min(left, len(head)))), []
    if _total(widths) <= COLUMNS:
        return [list(range(len(head)))]
    block = list(keys)
    for i in range(left, len(head)):
        if len(block) > len(keys) and _total([widths[j] for j in [*block, i]]) > COLUMNS:
            blocks.append(block)
            block = list(keys)
        block.append(i)
    return [*blocks, block]


def _narrowed(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> list[int]:
    """Widths of the columns: as wide as what is in them, less what a table that is too wide can do without."""
    cells = [max((width(row[i]) for row in rows), default=0) for i in range(len(head))]
    widths = [max(w, width(name)) for w, name in zip(cells, head, strict=True)]
    heads = [max([w, *map(width, _pieces(name))]) for w, name in zip(cells, head, strict=True)]
    texts = [max([LEAST, *(width(piece) for row in (head, *rows) for piece in _pieces(row[i]))]) for i in range(min(left, len(head)))]
    for least in (heads, texts):
        for i in sorted(range(len(least)), key=lambda i: least[i] - widths[i]):
            widths[i] = min(widths[i], max(least[i], widths[i] - max(0, _total(widths) - COLUMNS)))
    return widths


_PIECE = r"\[[^\]]*\]|[^ /]*/|[^ /]+"


def _pieces(text: str) -> list[str]:
    """What must not be broken: words, what stands in brackets, and the parts of `both/lost/gained` with their stroke."""
    return re.findall(_PIECE, text)


def _broken(text: str, columns: int) -> list[str]:
    """The text on lines of at most this many columns."""
    if width(text) <= columns:
        return [text]
    lines = [""]
    for piece in re.findall(f" *(?:{_PIECE})", text):
        if lines[-1] and width(lines[-1] + piece) > columns:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], left: int, bottom: bool = False) -> list[str]:
    broken = [_broken(cell, w) for cell, w in zip(cells, widths, strict=True)]
    height = max(map(len, broken))
    full = [[""] * (height - len(b)) + b if bottom else b + [""] * (height - len(b)) for b in broken]
    return [
        "  ".join(_pad(column[y], w, left=i < left) for i, (column, w) in enumerate(zip(full, widths, strict=True))).rstrip()
        for y in range(height)
    ]


def as_html(table: Table) -> str:
    """An HTML table for a notebook, everything escaped."""

    def cells(values: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(literal(value))}</{tag}>" for value in values) + "</tr>"

    title = "<br>".join(html.escape(literal(line)) for line in table.title.splitlines())
    grid = ["<table>", cells(table.header, "th"), *(cells(row, "td") for row in table.rows), "</table>"] if table.header else []
    notes = [f"<p>{html.escape(literal(note))}</p>" for note in table.notes]
    return "\n".join([f"<p><b>{title}</b></p>", *grid, *notes])


def as_markdown(table: Table, level: int = 3) -> str:
    """A Markdown table under a heading of this level."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(escape(cell) for cell in cells) + " |"

    rule = "|" + "|".join(" --- " if i < table.left else " ---: " for i in range(len(table.header))) + "|"
    body = [line(table.header), rule, *map(line, table.rows), ""] if table.header else []
    lines = [*(f"{'#' * level} {escape(line)}" for line in table.title.splitlines()), "", *body]
    return "\n".join([*lines, *(escape(note) + "\n" for note in table.notes)])


def _pad(cell: str, columns: int, *, left: bool) -> str:
    space = " " * (columns - width(cell))
    return cell + space if left else space + cell


def escape(text: str) -> str:
    """Text that is no markup in Markdown."""
    out = literal(text)
    for c in "\\`*_[]|#":
        out = out.replace(c, "\\" + c)
    return out.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
