"""Which items a filter leaves, in which order: their ids as one array, and how many there are of each transition.

The parents are gone through in id ranges, each a short read of its own, so a writer is never held up; the ids of a range come back
as one text that SQLite has joined, since a Python object for each of 150,000 rows would cost more than the search.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from c2s_tui.data.filters import TRANSITIONS, Filter, Pair, Where, outcome_join, pair_of, transition_sql, where
from c2s_tui.data.plan import IdRanges, Plan
from c2s_tui.data.source import Source

ITEMS = "JOIN items i ON i.id = p.item"


def joins(pair: Pair, scope: str) -> dict[str, str]:
    """The tables that a condition may need beside the parents: the outcomes of the two arms, and the items."""
    sides = ((":first", pair.turned[0]), (":second", pair.turned[1]))
    return {alias: outcome_join(alias, arm, turned, scope) for alias, (arm, turned) in zip("ab", sides)} | {"i": ITEMS}


@dataclass(frozen=True, slots=True)
class Sort:
    """By one of `filters.SORTS`; what has no value comes last either way, ties keep the order of the plan."""

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


_NUMBERS = {
    "length": ("p.length", set()),
    "first_wrong": ("coalesce(b.first_wrong, 1e9)", {"b"}),
    "min_confidence": ("coalesce(b.min_confidence, 1e9)", {"b"}),
}
_TEXTS = {
    "item": ("p.parent", set()),
    "target": ("json_extract(CAST(i.payload AS TEXT), '$.target')", {"i"}),
    "native": ("a.output", {"a"}),
    "serial": ("b.output", {"b"}),
}


THREADS = 2
"""Readers of one search, each with a connection of its own. SQLite works outside the interpreter's lock, so two cores help."""


_ITEMS = "SELECT min(item), max(item) FROM parents WHERE id > :low AND id <= :high"


def select(
    source: Source, plan: Plan, chosen: Filter, sort: Sort = Sort(), *, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[Selection]:
    """The selection; in the order of the plan also, every 0.1 s or so, what has been found of it. Raises LedgerError."""
    began = time.perf_counter()
    pair = pair_of(chosen, plan)
    query = _Query(chosen, sort, pair, where(chosen, plan, pair), sorted(plan.domains))
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
    """Gathers what the id ranges leave. Several threads may hand in ranges, in any order."""

    def __init__(self, chosen: Filter, sort: Sort, pair: Pair, condition: Where, domains: Sequence[str] = ()) -> None:
        self.chosen, self.sort, self.pair = chosen, sort, pair
        self.of = 0
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.float64] | None]] = []
        self._texts: list[str | None] = []
        self._numbers: list[int] = []
        self._counts = dict.fromkeys(TRANSITIONS, 0)
        self._lock = threading.Lock()
        transition = transition_sql(pair)
        if sort.by == "transition":
            order = " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(TRANSITIONS))
            key, needs = f"CASE {transition} {order} ELSE 9 END", set()
        elif sort.by == "domain":
            order = " ".join(f"WHEN :d{n} THEN {n}" for n in range(len(domains)))
            key, needs = f"CASE p.domain {order} ELSE {len(domains)} END" if domains else "0", set()
        else:
            key, needs = (_NUMBERS | _TEXTS).get(sort.by, ("", set()))
        self.textual = sort.by in _TEXTS
        self.ordered = not key and not sort.descending
        tables = condition.tables | needs
        self.items = "items" in condition.tables
        available = joins(pair, "o.parent > :low AND o.parent <= :high")
        joined = " ".join(text for name, text in available.items() if name in tables)
        counting = ", ".join(f"count(*) FILTER (WHERE {transition} = '{name}')" for name in TRANSITIONS)
        numbered, self.named = _named(condition, pair)
        self.named |= {f"d{n}": domain for n, domain in enumerate(domains)}
        tail = f"FROM parents p {joined} WHERE p.id > :low AND p.id <= :high AND {numbered}"
        self.summary = f"SELECT {counting}, group_concat(p.id){f', group_concat({key})' if key and not self.textual else ''} {tail}"
        self.texts_query = f"SELECT {key}, p.id {tail}" if self.textual else None

    def take(self, db: sqlite3.Connection, low: int, high: int) -> None:
        values = self.named | {"low": low, "high": high}
        db.execute("BEGIN")
        if self.items:
            values |= dict(zip(("lowest", "highest"), db.execute(_ITEMS, values).fetchone()))
        *counts, ids, keys = (*db.execute(self.summary, values).fetchone(), None)[: len(TRANSITIONS) + 2]
        rows = db.execute(self.texts_query, values).fetchall() if self.texts_query else ()
        db.execute("COMMIT")
        part = None
        if ids is not None:
            part = np.fromstring(ids, dtype=np.int64, sep=","), None if keys is None else np.fromstring(keys, dtype=np.float64, sep=",")
        with self._lock:
            self.of += high - low
            for name, n in zip(TRANSITIONS, counts):
                self._counts[name] += n
            if part is not None:
                self._parts.append(part)
            for text, number in rows:  # two lists hold a third of what a list of pairs would
                self._texts.append(text)
                self._numbers.append(number)

    def selection(self, complete: bool, seconds: float) -> Selection:
        with self._lock:
            parts, counts, of = list(self._parts), dict(self._counts), self.of
        ids = np.concatenate([ids for ids, _ in parts]) if parts else np.empty(0, np.int64)
        keys = np.concatenate([keys for _, keys in parts]) if parts and parts[0][1] is not None else None
        return Selection(self.chosen, self.sort, self.pair, self._sorted(ids, keys), counts, of, complete, seconds)

    def _sorted(self, ids: NDArray[np.int64], keys: NDArray[np.float64] | None) -> NDArray[np.int64]:
        if self.textual:
            texts, numbers = self._texts, np.array(self._numbers, dtype=np.int64)
            order = np.argsort(numbers, kind="stable").tolist()
            present = sorted((i for i in order if texts[i] is not None), key=texts.__getitem__, reverse=self.sort.descending)
            return numbers[[*present, *(i for i in order if texts[i] is None)]] if order else numbers
        if keys is None:
            ids = np.sort(ids)
            return ids[::-1] if self.sort.descending else ids
        if self.sort.descending:
            keys = np.where(keys >= 1e9, keys, -keys)
        return ids[np.lexsort((ids, keys))]


def _named(condition: Where, pair: Pair) -> tuple[str, dict[str, object]]:
    """The condition with named instead of positional values, since the ranges bring names of their own."""
    values: dict[str, object] = {"first": pair.first, "second": pair.second}
    pieces = condition.sql.split("?")
    sql = pieces[0]
    for n, (value, piece) in enumerate(zip(condition.values, pieces[1:])):
        values[f"v{n}"] = value
        sql += f":v{n}{piece}"
    return sql, values
