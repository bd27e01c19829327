"""Joint counts while a run goes on: over the completed prefix of the random parent order, and over everything once it is done.

Which parents have closed depends on how fast they were answered; the longest prefix of the frozen order whose parents have all
closed does not. Only the prefix may therefore stand under an interval that is looked at again and again.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from c2s.errors import InputError
from c2s.ledger.counters import Count
from c2s.ledger.ranges import IdRanges, closed_transitions, first_open
from c2s_tui.data import apart
from c2s_tui.data.plan import Plan
from c2s_tui.text import arm_title

if TYPE_CHECKING:
    from c2s.stats import JointCounts

CONFIDENCE = 0.95
SLOW = 5_000
"""Pairs from which on the interval of a finished run takes so long that it is left to a second look."""


@dataclass(frozen=True, slots=True)
class JointRow:
    """Counts of one panel and domain. `pairs` are the defined ones; `prefix` of `parents` parents have been looked at.

    `low` and `high` are None where there is no interval; `method` then says why. `due`: it takes a moment and has not been asked for.
    `whole`: the two arms are compared by whole trajectories, so the share that stays right is not called SCR.
    """

    panel: str
    domain: str
    pair: tuple[str, str]
    prefix: int
    parents: int
    both: int
    lost: int
    gained: int
    neither: int
    undefined: int
    complete: bool
    low: float | None = None
    high: float | None = None
    method: str = ""
    due: bool = False
    whole: bool = False

    @property
    def share(self) -> str:
        """What `both / (both + lost)` is called."""
        return "kept" if self.whole else "SCR"

    @property
    def counts(self) -> JointCounts:
        from c2s.stats import JointCounts  # here and below: the statistics take a tenth of a second to load, the item list needs none

        return JointCounts(self.both, self.lost, self.gained, self.neither)


class JointMeter:
    """Follows the closed prefix of every panel of one run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._intervals: dict[tuple[object, ...], tuple[float | None, float | None, str]] = {}
        self._slow = False
        self._reset()

    def _reset(self) -> None:
        self._at = {panel: first - 1 for panel, first in self.plan.first.items()}
        self._found: Counter[tuple[str, str, str]] = Counter()
        self._closed: dict[str, int] = {}

    def look(self, db: sqlite3.Connection, counters: Iterable[Count], *, slow: bool = False) -> list[JointRow]:
        """`slow`: also intervals that take a moment."""
        self._slow = slow
        counters = [c for c in counters if c.transition is not None]
        closed: Counter[str] = Counter()
        for c in counters:
            closed[c.panel] += c.n
        if any(closed[panel] < n for panel, n in self._closed.items()):
            self._reset()  # parents were opened again (--retry-errors)
        rows = []
        for panel in self.plan.panels:
            pair = self.plan.pairs[panel]
            if pair is None:
                continue
            everything = closed[panel] == sum(n for (p, _, _), n in self.plan.parents.items() if p == panel)
            if not everything:
                if closed[panel] != self._closed.get(panel):
                    self._advance(db, panel)
                rows += self._rows(panel, pair, self._found, counters, complete=False)
            else:
                found: Counter[tuple[str, str, str]] = Counter()
                for c in counters:
                    if c.panel == panel and c.transition is not None:
                        found[panel, c.domain, c.transition] += c.n
                rows += self._rows(panel, pair, found, counters, complete=True)
            self._closed[panel] = closed[panel]
        return rows

    def _advance(self, db: sqlite3.Connection, panel: str) -> None:
        """Count the parents between where the prefix ended and where it ends now."""
        stop = first_open(db, panel, self._at[panel])
        if stop is None:
            return
        for low, high in IdRanges(stop - 1, self._at[panel] + 1).timed():
            for (domain, transition), n in closed_transitions(db, panel, low, high).items():
                self._found[panel, domain, transition] += n
            self._at[panel] = high

    def _rows(
        self, panel: str, pair: tuple[str, str], found: Mapping[tuple[str, str, str], int], counters: list[Count], *, complete: bool
    ) -> list[JointRow]:
        rows = []
        for domain in self.plan.domains:
            total = self.plan.total(panel, domain)
            if not total:
                continue
            n = {key: found.get((panel, domain, key), 0) for key in ("both", "lost", "gained", "neither", "undefined")}
            found_interval = self._interval(panel, domain, pair[0], n, counters, complete)
            low, high, method = found_interval or (None, None, "")
            due, whole = found_interval is None, panel in self.plan.whole
            rows.append(
                JointRow(
                    panel,
                    domain,
                    pair,
                    sum(n.values()),
                    total,
                    **n,
                    complete=complete,
                    low=low,
                    high=high,
                    method=method,
                    due=due,
                    whole=whole,
                )
            )
        return rows

    def _interval(
        self, panel: str, domain: str, first: str, n: Mapping[str, int], counters: list[Count], complete: bool
    ) -> tuple[float | None, float | None, str] | None:
        """None where it is left to a slow look."""
        retained, correct = n["both"], n["both"] + n["lost"]
        key = (panel, domain, complete, *n.values())
        if key not in self._intervals:
            found: tuple[float | None, float | None, str]
            if correct == 0:
                found = (None, None, f"no {arm_title(first)} success" + ("" if complete else " yet"))
            elif complete and sum(n.values()) > SLOW and not self._slow:
                return None
            elif complete:
                found = complete_interval([c for c in counters if (c.panel, c.domain) == (panel, domain)])
            else:
                found = anytime(retained, correct)
            self._intervals = {k: v for k, v in self._intervals.items() if k[:2] != (panel, domain)} | {key: found}
        return self._intervals[key]


def anytime(retained: int, correct: int) -> tuple[float | None, float | None, str]:
    """An interval for SCR that stays valid however often it is looked at, on the prefix of a random order."""
    from c2s import stats

    interval = stats.anytime_interval(retained, correct, CONFIDENCE)
    return interval.low, interval.high, interval.method


def complete_interval(transitions: list[Count]) -> tuple[float | None, float | None, str]:
    """The report's interval, from the counters of one finished domain: by length, since items are resampled within length."""
    from c2s import stats

    cells: Counter[tuple[int, str]] = Counter()
    for c in transitions:
        if c.transition is not None:
            cells[c.length, c.transition] += c.n
    native, serial, strata = [], [], []
    for (length, key), n in sorted(cells.items()):
        if key != "undefined":
            native += [np.full(n, key in ("both", "lost"))]
            serial += [np.full(n, key in ("both", "gained"))]
            strata += [np.full(n, length)]
    a, b, s = np.concatenate(native), np.concatenate(serial), np.concatenate(strata)
    retained, correct = int((a & b).sum()), int(a.sum())
    if retained in (0, correct):
        interval = stats.clopper_pearson(retained, correct, CONFIDENCE)
        return interval.low, interval.high, "Clopper-Pearson"
    try:
        interval = apart.interval("bootstrap_scr", a, b, s, confidence=CONFIDENCE)
    except InputError as error:
        return None, None, str(error)
    if interval.degenerate:  # for instance one parent per length: nothing to redraw
        interval = stats.clopper_pearson(retained, correct, CONFIDENCE)
        return interval.low, interval.high, "Clopper-Pearson"
    return interval.low, interval.high, f"{interval.method} stratified bootstrap"
