"""Rows of the item list, a page at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from c2s.errors import UsageError
from c2s_tui.data.filters import Pair, transition_sql
from c2s_tui.data.selection import joins
from c2s_tui.data.source import Source


@dataclass(frozen=True, slots=True)
class Side:
    """One arm's result as the list shows it. `status` is None while the arm is open.

    `turns`: of a dialogue, "3 of 4": in how many turns the whole state is right; `first_wrong` is then a turn.
    """

    status: str | None
    output: str | None
    correct: bool | None
    first_wrong: int | None
    min_confidence: float | None
    turns: str | None = None


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
    listed = ", ".join(str(int(n)) for n in ids)
    sql = (
        f"SELECT p.id, p.panel, p.parent, p.domain, p.length, {transition_sql(pair)}, i.payload, {_SIDE.format('a')}, {_SIDE.format('b')}"
        f" FROM parents p {' '.join(joins(pair, f'o.parent IN ({listed})').values())} WHERE p.id IN ({listed})"
    )
    found = {}
    for row in db.execute(sql, {"first": pair.first, "second": pair.second}).fetchall():
        payload = frozen_item(row[6])
        sides = _side(row[7:12]), _side(row[12:17])
        if isinstance(payload.get("turns"), list):
            turned = (row[1] in panels for panels in pair.turned)
            sides = tuple(_with_turns(db, row[0], row[4], *each) for each in zip((pair.first, pair.second), turned, sides))
        found[row[0]] = ItemRow(*row[:6], text_of(payload, "problem"), text_of(payload, "target"), *sides)
    return found


def _with_turns(db: sqlite3.Connection, parent: int, length: int, arm: str, turned: bool, side: Side) -> Side:
    """A dialogue's side, with its turns counted and, where each turn has an outcome of its own, all outputs as one list."""
    rows = db.execute(
        "SELECT output, correct, detail FROM outcomes WHERE parent = ? AND arm = ? ORDER BY replicate, turn", (parent, arm)
    ).fetchall()
    if side.status is None or not rows:
        return side
    if turned:
        marks, outputs = [row[1] for row in rows], [row[0] or "null" for row in rows]
        return replace(side, output=f"[{','.join(outputs)}]" if side.output else None, turns=f"{sum(m == 1 for m in marks)} of {length}")
    records = frozen_item(rows[0][2]).get("turns")
    marks = [r.get("right") for r in records if isinstance(r, dict)] if isinstance(records, list) else []
    return replace(side, turns=f"{sum(isinstance(m, list) and all(m) for m in marks)} of {length}") if marks else side


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
