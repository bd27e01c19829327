"""Rows of the item list, a page at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from c2s.errors import UsageError
from c2s_tui.data.filters import Pair, transition_sql
from c2s_tui.data.selection import JOINS
from c2s_tui.data.source import Source


@dataclass(frozen=True, slots=True)
class Side:
    """One arm's result as the list shows it. `status` is None while the arm is open."""

    status: str | None
    output: str | None
    correct: bool | None
    first_wrong: int | None
    min_confidence: float | None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A parent. `problem` and `target` are None where the frozen item has none."""

    id: int
    panel: str
    name: str
    domain: str
    length: int
    transition: str
    problem: str | None
    target: str | None
    first: Side
    second: Side


_SIDE = "{0}.status, {0}.output, {0}.correct, {0}.first_wrong, {0}.min_confidence"


def item_rows(db: sqlite3.Connection, pair: Pair, ids: Sequence[int]) -> dict[int, ItemRow]:
    """The rows of these parents by id; a page of a hundred at most."""
    sql = (
        f"SELECT p.id, p.panel, p.parent, p.domain, p.length, {transition_sql(pair)}, i.payload, {_SIDE.format('a')}, {_SIDE.format('b')}"
        f" FROM parents p {JOINS['i']} {JOINS['a']} {JOINS['b']} WHERE p.id IN ({', '.join(str(int(n)) for n in ids)})"
    )
    found = {}
    for row in db.execute(sql, {"first": pair.first, "second": pair.second}).fetchall():
        payload = frozen_item(row[6])
        found[row[0]] = ItemRow(*row[:6], text_of(payload, "problem"), text_of(payload, "target"), _side(row[7:12]), _side(row[12:17]))
    return found


def _side(row: tuple[Any, ...]) -> Side:
    status, output, correct, first_wrong, min_confidence = row
    return Side(status, output, None if correct is None else bool(correct), first_wrong, min_confidence)


def frozen_item(payload: bytes) -> dict[str, Any]:
    """The item's JSON object; empty where it is anything else, since a page must not fail for one row."""
    try:
        value = orjson.loads(payload)
    except (orjson.JSONDecodeError, TypeError):
        return {}
    return value if isinstance(value, dict) else {}


def text_of(payload: dict[str, Any], key: str) -> str | None:
    value = payload.get(key)
    return value if isinstance(value, str) else None


def all_rows(source: Source, pair: Pair, ids: Sequence[int], page: int = 100) -> Iterator[ItemRow]:
    """Every row in this order, read in pages, for exports and plain output. Rows that have gone are left out."""
    with source.read() as db:
        for start in range(0, len(ids), page):
            chunk = [int(n) for n in ids[start : start + page]]
            rows = item_rows(db, pair, chunk)
            yield from (rows[n] for n in chunk if n in rows)


def named_item(source: Source, name: str) -> int:
    """The ledger's number of an item: of its id, or of `panel/id` where several panels have it. Raises UsageError."""
    panel, _, item = name.rpartition("/")
    with source.read() as db:
        rows = db.execute("SELECT id FROM parents WHERE parent = ? AND (? = '' OR panel = ?) ORDER BY id", (item, panel, panel)).fetchall()
        rows = rows or db.execute("SELECT id FROM parents WHERE parent = ? ORDER BY id", (name,)).fetchall()
    if not rows:
        raise UsageError(f"{source.path} has no item {name!r}; --screen items lists them")
    return rows[0][0]
