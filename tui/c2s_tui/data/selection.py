"""Which items a filter leaves, in which order: their ids as one array, and how many there are of each transition.

The parents are gone through in id ranges, each a short read of its own, so a writer is never held up.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from c2s.ledger.pairs import TRANSITIONS, Pair
from c2s.ledger.ranges import IdRanges
from c2s.ledger.search import LAST, Part, Search
from c2s_tui.data.filters import Filter, condition_of, pair_of
from c2s_tui.data.plan import Plan
from c2s_tui.data.source import Source


@dataclass(frozen=True, slots=True)
class Sort:
    """By one of `c2s.ledger.search.SORTS`; what has no value comes last either way, ties keep the order of the plan."""

    by: str = "order"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """`ids` in display order; `counts[transition]` sum to `len(ids)`. `of`: parents looked at; `complete` once that is all."""

    chosen: Filter
    sort: Sort
    pair: Pair
    ids: NDArray[np.int64]
    counts: dict[str, int]
    of: int
    complete: bool
    seconds: float

    def place(self, number: int) -> int | None:
        """Where a parent stands in the list."""
        found = np.flatnonzero(self.ids == number)
        return int(found[0]) if len(found) else None


THREADS = 2
"""Readers of one search, each with a connection of its own. SQLite works outside the interpreter's lock, so two cores help."""


def select(
    source: Source, plan: Plan, chosen: Filter, sort: Sort = Sort(), *, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[Selection]:
    """The selection; in the order of the plan also, every 0.1 s or so, what has been found of it. Raises LedgerError."""
    began = time.perf_counter()
    pair = pair_of(chosen, plan)
    query = _Query(chosen, sort, pair, Search(condition_of(chosen, plan), pair, sort.by, sorted(plan.domains)))
    ranges = _Shared(IdRanges(plan.last), cancelled)
    with ThreadPoolExecutor(THREADS) as pool:
        readers = [pool.submit(_read, source, query, ranges) for _ in range(THREADS if plan.last > 10_000 else 1)]
        try:
            while wait(readers, timeout=0.1).not_done:
                if query.ordered and query.of:
                    yield query.selection(False, time.perf_counter() - began)
        finally:
            ranges.stop()
        for reader in readers:
            reader.result()
    if not cancelled():
        yield query.selection(True, time.perf_counter() - began)


class _Shared:
    """Id ranges handed to several readers."""

    def __init__(self, ranges: IdRanges, cancelled: Callable[[], bool]) -> None:
        self._ranges, self._cancelled = ranges, cancelled
        self._next = iter(ranges)
        self._lock = threading.Lock()
        self._stopped = False

    def take(self) -> tuple[int, int] | None:
        with self._lock:
            return None if self._stopped or self._cancelled() else next(self._next, None)

    def took(self, seconds: float) -> None:
        with self._lock:
            self._ranges.took(seconds)

    def stop(self) -> None:
        self._stopped = True


def _read(source: Source, query: _Query, ranges: _Shared) -> None:
    """One reader: ranges until there is none left."""
    with source.read() as db:
        while (span := ranges.take()) is not None:
            began = time.perf_counter()
            query.take(db, *span)
            ranges.took(time.perf_counter() - began)


class _Query:
    """Gathers what the ranges leave. Several threads may hand in ranges, in any order."""

    def __init__(self, chosen: Filter, sort: Sort, pair: Pair, search: Search) -> None:
        self.chosen, self.sort, self.pair, self.search = chosen, sort, pair, search
        self.ordered = not search.keyed and not sort.descending
        self.of = 0
        self._parts: list[Part] = []
        self._texts: list[str | None] = []
        self._numbers: list[int] = []
        self._counts = dict.fromkeys(TRANSITIONS, 0)
        self._lock = threading.Lock()

    def take(self, db: sqlite3.Connection, low: int, high: int) -> None:
        part = self.search.take(db, low, high)
        with self._lock:
            self.of += high - low
            for name, n in zip(TRANSITIONS, part.counts, strict=True):
                self._counts[name] += n
            if len(part.numbers):
                self._parts.append(part)
            for text, number in part.texts:  # two lists hold a third of what a list of pairs would
                self._texts.append(text)
                self._numbers.append(number)

    def selection(self, complete: bool, seconds: float) -> Selection:
        with self._lock:
            parts, counts, of = list(self._parts), dict(self._counts), self.of
        ids = np.concatenate([part.numbers for part in parts]) if parts else np.empty(0, np.int64)
        keys = [part.keys for part in parts if part.keys is not None]
        ordered = self._sorted(ids, np.concatenate(keys) if keys else None)
        return Selection(self.chosen, self.sort, self.pair, ordered, counts, of, complete, seconds)

    def _sorted(self, ids: NDArray[np.int64], keys: NDArray[np.float64] | None) -> NDArray[np.int64]:
        if self.search.textual:
            texts, numbers = self._texts, np.array(self._numbers, dtype=np.int64)
            order = np.argsort(numbers, kind="stable").tolist()
            present = [(text, i) for i in order if (text := texts[i]) is not None]
            present.sort(key=lambda pair: pair[0], reverse=self.sort.descending)
            return numbers[[*(i for _, i in present), *(i for i in order if texts[i] is None)]] if order else numbers
        if keys is None:
            ids = np.sort(ids)
            return ids[::-1] if self.sort.descending else ids
        if self.sort.descending:
            keys = np.where(keys >= LAST, keys, -keys)
        return ids[np.lexsort((ids, keys))]
