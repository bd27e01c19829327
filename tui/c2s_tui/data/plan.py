"""What is fixed when a run begins: its parents by panel, domain and length, its arms, and the pair that makes the joint table."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from c2s.errors import UsageError
from c2s.ledger import reader

if TYPE_CHECKING:
    from c2s.panels.base import Panel

CHUNK_SECONDS = 0.01
"""How long one read transaction aims to last: far below the 50 ms that would hinder a writer's checkpoints."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`parents[panel, domain, length]` is a number of parents; ids run from 1 to `last`; those of a panel begin at `first[panel]` or later.

    `turned`: (panel, arm) of arms that have one instance a turn; `whole`: panels whose transition is that of whole trajectories, so that
    what stays right of it is no SCR.
    """

    parents: dict[tuple[str, str, int], int]
    first: dict[str, int]
    last: int
    arms: dict[str, tuple[str, ...]]
    pairs: dict[str, tuple[str, str] | None]
    turned: frozenset[tuple[str, str]] = frozenset()
    whole: frozenset[str] = frozenset()

    @property
    def panels(self) -> list[str]:
        return list(self.arms)

    @property
    def domains(self) -> list[str]:
        return sorted({domain for _, domain, _ in self.parents}, reverse=True)

    def total(self, panel: str, domain: str) -> int:
        return sum(n for (p, d, _), n in self.parents.items() if (p, d) == (panel, domain))


class IdRanges:
    """Consecutive id ranges (low, high], each as long as the time that the ones before took allows."""

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


def read_plan(db: sqlite3.Connection, panels: Sequence[str]) -> Plan:
    """Count the parents once; they do not change afterwards. `panels` is the manifest's list, which gives their order.

    SQLite would sort to group; it is faster to let it number the combinations that the counters know, and to count the numbers.
    """
    counters = reader.counts(db)
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM parents").fetchone()
    names = list(dict.fromkeys([*panels, *(c.panel for c in counters)]))
    domains = list(dict.fromkeys(c.domain for c in counters))
    numbered = f"(({_number('panel', len(names), 'p')}) * {len(domains) + 1} + ({_number('domain', len(domains), 'd')})) * 100000 + min(length, 99999)"
    values = {f"p{i}": name for i, name in enumerate(names)} | {f"d{i}": name for i, name in enumerate(domains)}
    parents: Counter[tuple[str, str, int]] = Counter()
    first: dict[str, int] = {}
    for low, high in IdRanges(last).timed():
        (text,) = db.execute(
            f"SELECT group_concat({numbered}) FROM parents WHERE id > :low AND id <= :high", values | {"low": low, "high": high}
        ).fetchone()
        codes, counts = np.unique(np.fromstring(text or "", dtype=np.int64, sep=","), return_counts=True)
        for code, n in zip(codes.tolist(), counts.tolist()):
            panel, domain = divmod(code // 100_000, len(domains) + 1)
            if panel < len(names) and domain < len(domains):
                parents[names[panel], domains[domain], code % 100_000] += n
                first.setdefault(names[panel], low + 1)
    found = sorted(first, key=lambda name: (first[name], names.index(name)))
    declared = {name: _declared(name) for name in found}
    arms = {name: _arms(counters, name, declared[name]) for name in found}
    pairs = {name: _pair(arms[name]) if panel is None else panel.pair for name, panel in declared.items()}
    known = [panel for panel in declared.values() if panel is not None]
    turned = frozenset((panel.name, arm.name) for panel in known for arm in panel.arms if arm.turns is not None)
    return Plan(dict(parents), first, last, arms, pairs, turned, frozenset(panel for panel, _ in turned))


def _number(column: str, n: int, name: str) -> str:
    whens = " ".join(f"WHEN :{name}{i} THEN {i}" for i in range(n))
    return f"CASE {column} {whens} ELSE {n} END" if whens else "0"


def _arms(counters: list[reader.Count], name: str, declared: Panel | None) -> tuple[str, ...]:
    """The arms of a panel in the order it declares; for one that this c2s does not know, by name."""
    found = sorted({count.arm for count in counters if count.panel == name and count.arm})
    if declared is None:
        return tuple(found)
    order = [arm.name for arm in declared.arms]
    return tuple(sorted(found, key=lambda arm: order.index(arm) if arm in order else len(order)))


def _pair(arms: Sequence[str]) -> tuple[str, str] | None:
    """What the arms of an unknown panel suggest."""
    return ("native", "serial") if {"native", "serial"} <= set(arms) else None


def _declared(name: str) -> Panel | None:
    from c2s.panels.registry import panel

    try:
        return panel(name)
    except UsageError:
        return None
