"""Rows of the item list, a page at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from c2s.errors import UsageError
from c2s.ledger.pairs import Pair, PairRow, pair_rows, parents_named, turn_results
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


def item_rows(db: sqlite3.Connection, pair: Pair, ids: Sequence[int]) -> dict[int, ItemRow]:
    """The rows of these parents by id; a page of a hundred at most."""
    rows = {}
    for row in pair_rows(db, pair, ids):
        payload = frozen_item(row.payload)
        first, second = Side(*row.first), Side(*row.second)
        if isinstance(payload.get("turns"), list):
            first, second = (
                _with_turns(db, row, arm, row.panel in turned, side)
                for arm, turned, side in zip((pair.first, pair.second), pair.turned, (first, second), strict=True)
            )
        target, problem = text_of(payload, "target"), text_of(payload, "problem")
        rows[row.id] = ItemRow(row.id, row.panel, row.name, row.domain, row.length, row.transition, problem, target, first, second)
    return rows


def _with_turns(db: sqlite3.Connection, row: PairRow, arm: str, turned: bool, side: Side) -> Side:
    """A dialogue's side, with its turns counted and, where each turn has an outcome of its own, all outputs as one list."""
    results = turn_results(db, row.id, arm)
    if side.status is None or not results:
        return side
    if turned:
        output = f"[{','.join(result.output or 'null' for result in results)}]" if side.output else None
        return replace(side, output=output, turns=f"{sum(result.correct is True for result in results)} of {row.length}")
    records = frozen_item(results[0].detail).get("turns")
    marks = [record.get("right") for record in records if isinstance(record, dict)] if isinstance(records, list) else []
    return replace(side, turns=f"{sum(isinstance(m, list) and all(m) for m in marks)} of {row.length}") if marks else side


def frozen_item(payload: bytes | str) -> dict[str, Any]:
    """The item's JSON object; empty where it is anything else, since a page must not fail for one row."""
    try:
        value = orjson.loads(payload)
    except (orjson.JSONDecodeError, TypeError):
        return {}
    return value if isinstance(value, dict) else {}


def text_of(payload: Mapping[str, Any], key: str) -> str | None:
    value = payload.get(key)
    return value if isinstance(value, str) else None


def all_rows(source: Source, pair: Pair, ids: Sequence[int] | NDArray[np.int64], page: int = 100) -> Iterator[ItemRow]:
    """Every row in this order, read in pages, for exports and plain output. Rows that have gone are left out."""
    with source.read() as db:
        for start in range(0, len(ids), page):
            chunk = [int(n) for n in ids[start : start + page]]
            rows = item_rows(db, pair, chunk)
            yield from (rows[n] for n in chunk if n in rows)


def named_item(source: Source, name: str) -> int:
    """The ledger's number of an item: of its id, or of `panel/id` where several panels have it. Raises UsageError."""
    with source.read() as db:
        numbers = parents_named(db, name)
    if not numbers:
        raise UsageError(f"{source.path} has no item {name!r}; --screen items lists them")
    return numbers[0]
