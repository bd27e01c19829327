"""The bytes of a slot's sends: as text in which every byte can be told, or as a hex dump."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import overload

from rich.cells import cell_len

from c2s_tui import numbers
from c2s_tui.data.item import Send
from c2s_tui.text import Line, Span, span, wrap

LIMIT = 2_000_000
"""Bytes of one body that are laid out; what is beyond is said, and is in the export."""


def raw_lines(sends: list[Send], form: str, width: int) -> Sequence[Line]:
    """`form`: "text" (control characters and bytes that are not UTF-8 escaped and marked) or "hex"."""
    if not sends:
        return [Line(span("Nothing has been sent for this slot.", "dim"))]
    blocks: list[Sequence[Line]] = []
    for send in sends:
        row = send.row
        blocks.append(_facts(send, width))
        blocks += _body(f"request, SHA-256 {row.body_sha256}", row.request, form, width)
        if row.headers:
            blocks.append([Line(span("response headers", "title")).fit(max(1, width)), *map(Line, wrap(row.headers, width))])
        blocks += _body("response", row.response, form, width)
    return Joined(blocks)


def _facts(send: Send, width: int) -> list[Line]:
    row = send.row
    took = "" if row.done_at is None else f", answered after {max(0.0, row.done_at - row.sent_at):.3f} s"
    state = span(row.state, "" if row.state == "ok" else "warn")
    lines = [Line(span(f"send {row.attempt}: ", "title"), state, f"  {numbers.moment(row.sent_at)}{took}").fit(max(1, width))]
    if row.origin:
        lines += [Line(span(text, "warn")) for text in wrap(f"copied from an earlier run: {row.origin}", width)]
    facts = [f"HTTP {row.http_status}" if row.http_status else "", f"model {row.model}" if row.model else "", _usage(send)]
    lines += [Line(span(text, "dim")) for text in wrap("  ".join(fact for fact in facts if fact), width) if text]
    return lines + [Line(span(text, "warn")) for text in wrap(row.message or "", width) if text]


def _usage(send: Send) -> str:
    row = send.row
    parts = []
    if row.input_tokens is not None or row.output_tokens is not None:
        parts.append(f"tokens {numbers.tokens(row.input_tokens)} in, {numbers.tokens(row.output_tokens)} out")
    if row.cost_usd is not None:
        parts.append(f"{numbers.usd(row.cost_usd)} USD")
    elif row.reserved_usd is not None:
        parts.append(f"{numbers.usd(row.reserved_usd)} USD reserved")
    return ", ".join(parts)


def _body(title: str, body: bytes | None, form: str, width: int) -> list[Sequence[Line]]:
    if body is None:
        return [[Line(span(f"{title}: none", "title")).fit(max(1, width)), Line()]]
    head = [Line(span(f"{title}, {len(body):,} bytes", "title")).fit(max(1, width))]
    shown = body[:LIMIT]
    foot = [Line(span(f"({len(body) - LIMIT:,} more bytes; e writes all of them to a file)", "warn"))] if len(body) > LIMIT else []
    return [head, HexLines(shown, width) if form == "hex" else _text(shown, width), [*foot, Line()]]


def _text(body: bytes, width: int) -> list[Line]:
    """UTF-8 with everything that is not printable escaped: `\\xNN` is one byte, `\\uNNNN` a character of several.

    Escapes are marked, since the body may hold backslashes of its own.
    """
    text = body.decode("utf-8", "surrogateescape")
    pieces: list[tuple[str, bool]] = []
    for start in range(0, len(text), 4096):
        block = text[start : start + 4096]
        pieces += [(block, False)] if block.isprintable() else map(_piece, block)
    return _flow(pieces, max(1, width))


def _piece(c: str) -> tuple[str, bool]:
    """A character as it is shown, and whether that is an escape."""
    if c.isprintable():
        return c, False
    if "\udc80" <= c <= "\udcff":
        return f"\\x{ord(c) - 0xDC00:02x}", True
    return f"\\u{ord(c):04x}" if 127 < ord(c) < 0x10000 else c.encode("unicode_escape").decode(), True


def _flow(pieces: list[tuple[str, bool]], width: int) -> list[Line]:
    """Break at the width, wherever that is: no byte is added or lost."""
    lines: list[Line] = []
    row: list[Span] = []
    used = 0

    def end() -> None:
        nonlocal row, used
        lines.append(Line(*row))
        row, used = [], 0

    for text, escaped in pieces:
        role = "mark" if escaped else ""
        if escaped:
            if row and used + len(text) > width:
                end()
            row.append(Span(text, role))
            used += len(text)
            continue
        narrow = text.isascii()
        start = 0
        while start < len(text):
            if narrow:
                take = max(0, min(len(text) - start, width - used))
                size = take
            else:
                take = size = 0
                while start + take < len(text):
                    more = cell_len(text[start + take])
                    if used + size + more > width:
                        break
                    size += more
                    take += 1
                if not take and not used:
                    take, size = 1, width
            if take:
                row.append(Span(text[start : start + take], role))
            start += take
            used += size
            if start < len(text):
                end()
    if row:
        end()
    return lines


class MadeLines(Sequence[Line]):
    """Lines that are made when they are looked at."""

    @abstractmethod
    def made(self, index: int) -> Line:
        """The line at an index from 0 to the length less 1."""

    @overload
    def __getitem__(self, index: int) -> Line: ...

    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...

    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [self.made(i) for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.made(index)


class HexLines(MadeLines):
    """`offset  hex  text`, 4 to 32 bytes a line; a line is made when it is looked at."""

    def __init__(self, body: bytes, width: int) -> None:
        self._body = body
        self._across = next((n for n in (32, 16, 8) if 11 + 4 * n <= width), 4)

    def __len__(self) -> int:
        return -(-len(self._body) // self._across)

    def made(self, index: int) -> Line:
        at = index * self._across
        chunk = self._body[at : at + self._across]
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in chunk)
        return Line(span(f"{at:08x}  ", "dim"), Span(f"{chunk.hex(' '):<{3 * self._across}} "), Span(text, "dim"))


class Joined(MadeLines):
    """Blocks of lines, one after another."""

    def __init__(self, blocks: Iterable[Sequence[Line]]) -> None:
        self._blocks = [block for block in blocks if len(block)]
        self._starts = [0, *itertools.accumulate(map(len, self._blocks))]

    def __len__(self) -> int:
        return self._starts[-1]

    def made(self, index: int) -> Line:
        block = bisect_right(self._starts, index) - 1
        return self._blocks[block][index - self._starts[block]]
