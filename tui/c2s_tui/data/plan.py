"""What is fixed when a run begins: its parents by panel, domain and length, its arms, and the pair that makes the joint table."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from c2s.errors import UsageError
from c2s.ledger import reader

CHUNK_SECONDS = 0.015
"""How long one read transaction aims to last: far below the 50 ms that would hinder a writer's checkpoints."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`parents[panel, domain, length]` is a number of parents; ids run from 1 to `last`; `first[panel]` is the panel's first id."""

    parents: dict[tuple[str, str, int], int]
    first: dict[str, int]
    last: int
    arms: dict[str, tuple[str, ...]]
    pairs: dict[str, tuple[str, str] | None]

    @property
    def panels(self) -> list[str]:
        return sorted(self.first, key=self.first.__getitem__)

    @property
    def domains(self) -> list[str]:
        return sorted({domain for _, domain, _ in self.parents}, reverse=True)

    def total(self, panel: str, domain: str) -> int:
        return sum(n for (p, d, _), n in self.parents.items() if (p, d) == (panel, domain))


class IdRanges:
    """Consecutive id ranges (low, high], each as long as the time that the ones before took allows."""

    def __init__(self, last: int, first: int = 1) -> None:
        self.low, self.last, self._size = first - 1, last, 4096

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while self.low < self.last:
            high = min(self.last, self.low + self._size)
            yield self.low, high
            self.low = high

    def took(self, seconds: float) -> None:
        """How long the read of the present range lasted."""
        self._size = int(min(50_000, max(512, self._size * min(4.0, CHUNK_SECONDS / max(1e-4, seconds)))))

    def timed(self) -> Iterator[tuple[int, int]]:
        """The ranges for a loop whose body is nothing but the read."""
        for span in self:
            began = time.perf_counter()
            yield span
            self.took(time.perf_counter() - began)


def read_plan(db: sqlite3.Connection, panels: Sequence[str]) -> Plan:
    """Count the parents once; they do not change afterwards. `panels` is the manifest's list, which gives their order."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM parents").fetchone()
    parents: Counter[tuple[str, str, int]] = Counter()
    first: dict[str, int] = {}
    for low, high in IdRanges(last).timed():
        rows = db.execute(
            "SELECT panel, domain, length, count(*), min(id) FROM parents WHERE id > ? AND id <= ? GROUP BY panel, domain, length",
            (low, high),
        ).fetchall()
        for panel, domain, length, n, lowest in rows:
            parents[panel, domain, length] += n
            first[panel] = min(first.get(panel, lowest), lowest)
    return Plan(dict(parents), first, last, *_arms(reader.counts(db), [p for p in panels if p in first] + [p for p in first if p not in panels]))


def _arms(
    counters: list[reader.Count], panels: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, str] | None]]:
    """Arms of each panel in the order it declares, and its pair; for a panel this c2s does not know, what the counters suggest."""
    arms, pairs = {}, {}
    for name in panels:
        found = sorted({count.arm for count in counters if count.panel == name and count.arm})
        declared = _declared(name)
        if declared is None:
            arms[name] = tuple(found)
            pairs[name] = ("native", "serial") if {"native", "serial"} <= set(found) else None
        else:
            order = [arm.name for arm in declared.arms]
            arms[name] = tuple(sorted(found, key=lambda arm: order.index(arm) if arm in order else len(order)))
            pairs[name] = declared.pair
    return arms, pairs


def _declared(name: str):
    from c2s.panels.registry import panel

    try:
        return panel(name)
    except UsageError:
        return None
