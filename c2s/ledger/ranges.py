"""Going through all parents in short reads, so that a reader never holds up the writer's checkpoints."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from c2s.ledger.counters import Count

CHUNK_SECONDS = 0.01
"""How long one read transaction aims to last: far below the 50 ms that would hinder a writer's checkpoints."""


class IdRanges:
    """Consecutive ranges (low, high] of the parents' numbers, each as long as the time that the ones before took allows."""

    def __init__(self, last: int, first: int = 1) -> None:
        self.low, self.last, self._size = first - 1, last, 2048

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while self.low < self.last:
            high = min(self.last, self.low + self._size)
            yield self.low, high
            self.low = high

    def took(self, seconds: float) -> None:
        """How long the read of the present range lasted."""
        self._size = int(min(20_000, max(512, self._size * min(1.5, CHUNK_SECONDS / max(1e-4, seconds)))))

    def timed(self) -> Iterator[tuple[int, int]]:
        """The ranges for a loop whose body is nothing but the read."""
        for span in self:
            began = time.perf_counter()
            yield span
            self.took(time.perf_counter() - began)


def last_parent(db: sqlite3.Connection) -> int:
    """The number of the last parent, 0 without any."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM parents").fetchone()
    return int(last)


def count_parents(
    db: sqlite3.Connection, counters: Sequence[Count], panels: Sequence[str]
) -> tuple[Counter[tuple[str, str, int]], dict[str, int]]:
    """({(panel, domain, length): parents}, {panel: a number that none of its parents lies below}).

    SQLite would sort to group; it is faster to let it number the combinations that the counters know, and to count the numbers.
    """
    names = list(dict.fromkeys([*panels, *(c.panel for c in counters)]))
    domains = list(dict.fromkeys(c.domain for c in counters))
    panel, domain = _number("panel", len(names), "p"), _number("domain", len(domains), "d")
    numbered = f"(({panel}) * {len(domains) + 1} + ({domain})) * 100000 + min(length, 99999)"
    values: dict[str, str | int] = {f"p{i}": name for i, name in enumerate(names)}
    values |= {f"d{i}": name for i, name in enumerate(domains)}
    parents: Counter[tuple[str, str, int]] = Counter()
    first: dict[str, int] = {}
    for low, high in IdRanges(last_parent(db)).timed():
        (text,) = db.execute(
            f"SELECT group_concat({numbered}) FROM parents WHERE id > :low AND id <= :high", values | {"low": low, "high": high}
        ).fetchone()
        codes, counts = np.unique(np.fromstring(text or "", dtype=np.int64, sep=","), return_counts=True)
        for code, n in zip(codes.tolist(), counts.tolist(), strict=True):
            panel, domain = divmod(code // 100_000, len(domains) + 1)
            if panel < len(names) and domain < len(domains):
                parents[names[panel], domains[domain], code % 100_000] += n
                first.setdefault(names[panel], low + 1)
    return parents, first


def _number(column: str, n: int, name: str) -> str:
    whens = " ".join(f"WHEN :{name}{i} THEN {i}" for i in range(n))
    return f"CASE {column} {whens} ELSE {n} END" if whens else "0"


def first_open(db: sqlite3.Connection, panel: str, after: int) -> int | None:
    """The first parent of a panel behind `after` that is not closed; None where all are."""
    (number,) = db.execute("SELECT min(id) FROM parents WHERE id > ? AND +panel = ? AND closed = 0", (after, panel)).fetchone()
    return None if number is None else int(number)


def closed_transitions(db: sqlite3.Connection, panel: str, low: int, high: int) -> Counter[tuple[str, str]]:
    """{(domain, transition): closed parents} of a panel with low < number <= high."""
    rows = db.execute(
        "SELECT domain, transition, count(*) FROM parents WHERE id > ? AND id <= ? AND +panel = ? AND closed = 1 GROUP BY 1, 2",
        (low, high, panel),
    )
    return Counter({(domain, transition): n for domain, transition, n in rows})
