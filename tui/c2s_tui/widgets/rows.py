"""A list of any length whose rows are read a page at a time, by a thread, when they come into sight."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from textual.message import Message

from c2s_tui.data.source import Trouble, guarded
from c2s_tui.text import Line, span
from c2s_tui.widgets.lines import LineView

PAGE = 64
KEPT = 60
"""Pages that stay in memory: 3,840 rows."""

R = TypeVar("R")
Fetch = Callable[[int, int], Sequence[R | None]]


class Rows(LineView, Generic[R]):
    """`show(count, fetch, draw)`: `fetch(start, stop)` reads rows in a thread, None for one that has gone; `draw(row)` makes its line."""

    class Page(Message):
        """Rows that a thread has read."""

        def __init__(self, serial: int, page: int, rows: Sequence[Any] | Trouble) -> None:
            super().__init__()
            self.serial, self.page, self.rows = serial, page, rows

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._count = 0
        self._fetch: Fetch[R] | None = None
        self._draw: Callable[[R], Line] = lambda row: Line(str(row))
        self._pages: OrderedDict[int, Sequence[R | None]] = OrderedDict()
        self._stale: set[int] = set()
        self._failed: set[int] = set()
        self._serial = 0
        self._wanted: list[int] = []
        self._reading = False
        self.trouble: str | None = None

    @property
    def total(self) -> int:
        return self._count

    @property
    def stops(self) -> Sequence[int] | None:
        return range(self._count)

    def show(self, count: int, fetch: Fetch[R], draw: Callable[[R], Line], *, cursor: int | None = None, same: bool = False) -> None:
        """Show another list. `same`: the rows stand where they stood; what is in memory stays on the screen until it is read again."""
        self._count, self._fetch, self._draw = count, fetch, draw
        self._serial += 1
        self._reading = False
        self._failed.clear()
        self.trouble = None
        if same:
            self._stale = set(self._pages)
        else:
            self._pages.clear()
            self._stale.clear()
        self.resized()
        self.cursor = self.cursor if cursor is None else cursor
        self.show_cursor()

    def drawn(self, draw: Callable[[R], Line]) -> None:
        """Draw the rows otherwise, after a change of width."""
        self._draw = draw
        self.refresh()

    @property
    def reading(self) -> bool:
        """Whether a page is on its way."""
        return self._reading

    def row(self, index: int) -> R | None:
        """A row that is in memory, else None."""
        page = self._pages.get(index // PAGE)
        at = index % PAGE
        return page[at] if page is not None and at < len(page) else None

    def line(self, y: int) -> Line:
        page = y // PAGE
        if page not in self._pages or page in self._stale:
            self._want(page)
        row = self.row(y)
        if row is not None:
            return self._draw(row)
        return Line(span(f" {self.trouble}" if self.trouble else " …", "bad" if self.trouble else "dim"))

    def _want(self, page: int) -> None:
        if page in self._failed:
            return
        if page not in self._wanted:
            self._wanted = [*self._wanted, page][-4:]  # what has been scrolled past is not read any more
        if not self._reading:
            self._read()

    def _read(self) -> None:
        if not self._wanted or self._fetch is None:
            return
        page = self._wanted.pop()
        if page in self._pages and page not in self._stale:
            self._read()
            return
        self._reading = True
        serial, fetch = self._serial, self._fetch
        start, stop = page * PAGE, min(self._count, (page + 1) * PAGE)

        def read() -> None:
            self.post_message(self.Page(serial, page, guarded(fetch, start, stop)))

        self.run_worker(read, thread=True, group="pages", exit_on_error=False)

    def on_rows_page(self, message: Page) -> None:
        message.stop()
        if message.serial != self._serial:
            return
        self._reading = False
        if isinstance(message.rows, Trouble):
            self.trouble = message.rows.message
            self._failed.add(message.page)
        else:
            self.trouble = None
            self._pages[message.page] = message.rows
            self._pages.move_to_end(message.page)
            self._stale.discard(message.page)
            while len(self._pages) > KEPT:
                self._pages.popitem(last=False)
            self._read()
        self.refresh()
