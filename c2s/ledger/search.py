"""Searching the parents of a run: which of them meet a condition, in which order, with how many of each transition.

A search takes ranges of the parents' numbers (`ranges.IdRanges`), each in one short read. Their numbers come back as one text that SQLite
has joined, since a Python object for each of 150,000 rows would cost more than the search.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from c2s.ledger.pairs import TRANSITIONS, Pair, joins, transition_sql

SORTS = ("order", "item", "domain", "length", "target", "transition", "native", "serial", "first_wrong", "min_confidence")
"""What can be sorted by; `native` and `serial` are the outputs of the first and the second arm, the last two are the second arm's."""

LAST = 1e9
"""Key of what has no value: it comes last either way."""

_NUMBERS: dict[str, tuple[str, frozenset[str]]] = {
    "length": ("p.length", frozenset()),
    "first_wrong": (f"coalesce(b.first_wrong, {LAST:.0f})", frozenset("b")),
    "min_confidence": (f"coalesce(b.min_confidence, {LAST:.0f})", frozenset("b")),
}
_TEXTS: dict[str, tuple[str, frozenset[str]]] = {
    "item": ("p.parent", frozenset()),
    "target": ("json_extract(CAST(i.payload AS TEXT), '$.target')", frozenset("i")),
    "native": ("a.output", frozenset("a")),
    "serial": ("b.output", frozenset("b")),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What a parent must meet; None and empty tuples restrict nothing. Each of `words` must occur in its id, problem, target or outputs."""

    panels: tuple[str, ...] | None = None
    domain: str | None = None
    lengths: tuple[int, int] | None = None
    transitions: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What a range holds: the numbers of its parents with their sort keys (None: no key, or a text), and how many of each transition.

    `texts` are (key, number), where the key is a text.
    """

    numbers: NDArray[np.int64]
    keys: NDArray[np.float64] | None
    counts: tuple[int, ...]
    texts: list[tuple[str | None, int]]


class Search:
    """One condition and one order (of SORTS), as statements made once. Several threads may use it, each with its own connection."""

    def __init__(self, condition: Condition, pair: Pair, sort: str = "order", domains: Sequence[str] = ()) -> None:
        self.textual = sort in _TEXTS
        self.values: dict[str, object] = {"first": pair.first, "second": pair.second}
        key, needed = self._key(sort, pair, domains)
        self.keyed = bool(key)
        where = self._where(condition, pair)
        self._by_words = bool(condition.words)
        if not pair.declared:
            needed |= {"a", "b"}
        joined = " ".join(text for name, text in joins(pair, "o.parent > :low AND o.parent <= :high").items() if name in needed)
        tail = f"FROM parents p {joined} WHERE p.id > :low AND p.id <= :high AND {where}"
        counting = ", ".join(f"count(*) FILTER (WHERE {transition_sql(pair)} = '{name}')" for name in TRANSITIONS)
        keys = f"group_concat({key})" if key and not self.textual else "NULL"
        self._summary = f"SELECT {counting}, group_concat(p.id), {keys} {tail}"
        self._texts = f"SELECT {key}, p.id {tail}" if self.textual else None

    def take(self, db: sqlite3.Connection, low: int, high: int) -> Part:
        """The parents with low < number <= high that meet the condition, in one read transaction."""
        values = self.values | {"low": low, "high": high}
        db.execute("BEGIN")
        if self._by_words:
            items = db.execute("SELECT min(item), max(item) FROM parents WHERE id > :low AND id <= :high", values).fetchone()
            values |= dict(zip(("lowest", "highest"), items, strict=True))
        *counts, numbers, keys = db.execute(self._summary, values).fetchone()
        texts = db.execute(self._texts, values).fetchall() if self._texts else []
        db.execute("COMMIT")
        return Part(
            np.fromstring(numbers or "", dtype=np.int64, sep=","),
            None if keys is None else np.fromstring(keys, dtype=np.float64, sep=","),
            tuple(counts),
            texts,
        )

    def _value(self, value: object) -> str:
        """The placeholder of a value of the condition."""
        name = f"v{len(self.values)}"
        self.values[name] = value
        return ":" + name

    def _key(self, sort: str, pair: Pair, domains: Sequence[str]) -> tuple[str, set[str]]:
        """The sort key, empty for the order of the plan, and the joins that it needs."""
        if sort == "transition":
            order = " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(TRANSITIONS))
            return f"CASE {transition_sql(pair)} {order} ELSE 9 END", set()
        if sort == "domain":
            order = " ".join(f"WHEN {self._value(domain)} THEN {n}" for n, domain in enumerate(domains))
            return f"CASE p.domain {order} ELSE {len(domains)} END" if domains else "0", set()
        key, needed = (_NUMBERS | _TEXTS).get(sort, ("", frozenset()))
        return key, set(needed)

    def _where(self, condition: Condition, pair: Pair) -> str:
        parts = []
        if condition.panels is not None:
            parts.append(f"+p.panel IN ({', '.join(map(self._value, condition.panels))})")
        if condition.domain is not None:
            parts.append(f"p.domain = {self._value(condition.domain)}")
        if condition.lengths is not None:
            low, high = condition.lengths
            parts.append(f"p.length BETWEEN {self._value(low)} AND {self._value(high)}")
        if condition.transitions:
            parts.append(f"{transition_sql(pair)} IN ({', '.join(map(self._value, condition.transitions))})")
        parts += [self._holds(word) for word in condition.words]
        return " AND ".join(parts) or "1"

    def _holds(self, word: str) -> str:
        """Whether a word occurs in a parent's id, in an output of the two arms, or in the problem or target of its item."""
        like, inside = self._value(_like(word)), self._value(_like(orjson.dumps(word).decode()[1:-1]))
        payload = "CAST(payload AS TEXT)"
        return (
            f"(p.parent LIKE {like} ESCAPE '~' OR p.id IN (SELECT parent FROM outcomes WHERE parent > :low AND parent <= :high"
            f" AND arm IN (:first, :second) AND replicate = 0 AND output LIKE {like} ESCAPE '~')"
            f" OR p.item IN (SELECT id FROM items WHERE id BETWEEN :lowest AND :highest AND {payload} LIKE {inside} ESCAPE '~'"
            f" AND (json_extract({payload}, '$.problem') LIKE {like} ESCAPE '~'"
            f" OR json_extract({payload}, '$.target') LIKE {like} ESCAPE '~')))"
        )


def _like(text: str) -> str:
    return "%" + re.sub(r"([%_~])", r"~\1", text) + "%"
