"""Which items a filter leaves, in which order: their ids as one array, and how many there are of each transition.

The parents are gone through in id ranges, each a short read of its own, so a writer is never held up; the ids of a range come back
as one text that SQLite has joined, since a Python object for each of 150,000 rows would cost more than the search.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from c2s_tui.data.filters import TRANSITIONS, Filter, Pair, Where, pair_of, transition_sql, where
from c2s_tui.data.plan import IdRanges, Plan
from c2s_tui.data.source import Source

JOINS = {
    "a": "LEFT JOIN outcomes a ON a.parent = p.id AND a.arm = :first AND a.replicate = 0",
    "b": "LEFT JOIN outcomes b ON b.parent = p.id AND b.arm = :second AND b.replicate = 0",
    "i": "JOIN items i ON i.id = p.item",
}


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
    "domain": ("p.domain", set()),
    "target": ("json_extract(CAST(i.payload AS TEXT), '$.target')", {"i"}),
    "native": ("a.output", {"a"}),
    "serial": ("b.output", {"b"}),
}


def select(
    source: Source, plan: Plan, chosen: Filter, sort: Sort = Sort(), *, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[Selection]:
    """The selection; in the order of the plan also, every 0.1 s or so, what has been found of it. Raises LedgerError."""
    began = shown = time.perf_counter()
    pair = pair_of(chosen, plan)
    condition = where(chosen, plan, pair)
    query = _Query(chosen, sort, pair, condition)
    ranges = IdRanges(plan.last)
    with source.read() as db:
        for low, high in ranges:
            if cancelled():
                return
            now = time.perf_counter()
            query.take(db, low, high)
            ranges.took(time.perf_counter() - now)
            if query.ordered and now - shown > 0.1 and high < plan.last:
                shown = now
                yield query.selection(high, False, now - began)
    yield query.selection(plan.last, True, time.perf_counter() - began)


class _Query:
    """Gathers what the id ranges leave."""

    def __init__(self, chosen: Filter, sort: Sort, pair: Pair, condition: Where) -> None:
        self.chosen, self.sort, self.pair = chosen, sort, pair
        self.ids: list[NDArray[np.int64]] = []
        self.keys: list[NDArray[np.float64]] = []
        self.texts: list[tuple[str | None, int]] = []
        self.counts = dict.fromkeys(TRANSITIONS, 0)
        transition = transition_sql(pair)
        if sort.by == "transition":
            order = " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(TRANSITIONS))
            key, needs = f"CASE {transition} {order} ELSE 9 END", set()
        else:
            key, needs = (_NUMBERS | _TEXTS).get(sort.by, ("", set()))
        self.textual = sort.by in _TEXTS
        self.ordered = not key and not sort.descending
        tables = condition.tables | needs
        joins = " ".join(JOINS[name] for name in ("a", "b", "i") if name in tables)
        counting = ", ".join(f"count(*) FILTER (WHERE {transition} = '{name}')" for name in TRANSITIONS)
        numbered, self.named = _named(condition, pair)
        tail = f"FROM parents p {joins} WHERE p.id > :low AND p.id <= :high AND {numbered}"
        self.summary = f"SELECT {counting}, group_concat(p.id){f', group_concat({key})' if key and not self.textual else ''} {tail}"
        self.texts_query = f"SELECT {key}, p.id {tail}" if self.textual else None

    def take(self, db: sqlite3.Connection, low: int, high: int) -> None:
        values = self.named | {"low": low, "high": high}
        db.execute("BEGIN")
        *counts, ids, keys = (*db.execute(self.summary, values).fetchone(), None)[: len(TRANSITIONS) + 2]
        rows = db.execute(self.texts_query, values).fetchall() if self.texts_query else []
        db.execute("COMMIT")
        for name, n in zip(TRANSITIONS, counts):
            self.counts[name] += n
        if ids is not None:
            self.ids.append(np.fromstring(ids, dtype=np.int64, sep=","))
            if keys is not None:
                self.keys.append(np.fromstring(keys, dtype=np.float64, sep=","))
            self.texts += rows

    def selection(self, of: int, complete: bool, seconds: float) -> Selection:
        ids = np.concatenate(self.ids) if self.ids else np.empty(0, np.int64)
        ids = self._sorted(ids)
        return Selection(self.chosen, self.sort, self.pair, ids, dict(self.counts), of, complete, seconds)

    def _sorted(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.textual:
            present = sorted((row for row in self.texts if row[0] is not None), key=lambda row: row[0], reverse=self.sort.descending)
            absent = [row for row in self.texts if row[0] is None]
            return np.array([number for _, number in [*present, *absent]], dtype=np.int64)
        if not self.keys:
            order = np.argsort(ids, kind="stable")
            return ids[order[::-1] if self.sort.descending else order]
        keys = np.concatenate(self.keys)
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
