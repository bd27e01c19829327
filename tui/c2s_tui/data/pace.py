"""How fast requests leave: a history from exchange times, so that a run that is opened late has a past too."""

from __future__ import annotations

import itertools
import sqlite3
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

from c2s.ledger import exchanges

BINS = 60
SHORTEST = 0.25
"""Seconds a bin lasts at least: a batch that leaves at once is no rate."""


@dataclass(frozen=True, slots=True)
class Pace:
    """`history`: requests a second in equal bins of `seconds` each, oldest first. `now` is the rate of the last half minute, None
    where nothing has left; `started` and `ended` bound the sends, seconds since the epoch."""

    history: tuple[float, ...] = ()
    seconds: float = 0.0
    now: float | None = None
    started: float | None = None
    ended: float | None = None


class PaceMeter:
    """Follows the exchange ids of one run: they grow in the order of sending."""

    WINDOW = 120.0

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()
        self._whole: tuple[int, Pace] | None = None

    def look(self, db: sqlite3.Connection, now: float, *, live: bool) -> Pace:
        newest = exchanges.newest(db)
        started, ended = exchanges.sent_at(db, 1), exchanges.sent_at(db, newest)
        if started is None or ended is None:
            return Pace()
        return self._live(db, now, newest, started, ended) if live else self._over_all(db, newest, started, ended)

    def _over_all(self, db: sqlite3.Connection, newest: int, started: float, ended: float) -> Pace:
        """Bins over everything that was sent; computed again only when there is more."""
        if self._whole is None or self._whole[0] != newest:
            bins = max(1, min(BINS, int((ended - started) / SHORTEST)))
            width = max(1e-3, ended - started) / bins
            edges = [started + i * width for i in range(bins)]
            ids = [exchanges.sends_before(db, edge, newest) for edge in edges] + [newest]
            history = tuple((b - a) / width for a, b in itertools.pairwise(ids))
            average = newest / max(1e-3, ended - started)
            self._whole = (newest, Pace(history, width, average, started, ended))
        return self._whole[1]

    def _live(self, db: sqlite3.Connection, now: float, newest: int, started: float, ended: float) -> Pace:
        width = self.WINDOW / BINS
        if not self._samples or self._samples[-1][1] > newest:
            past = [now - self.WINDOW + i * width for i in range(BINS)]
            self._samples = deque((at, exchanges.sends_before(db, at, newest)) for at in past)
        self._samples.append((now, newest))
        while len(self._samples) > 2 and self._samples[1][0] <= now - self.WINDOW:
            self._samples.popleft()
        edges = [now - self.WINDOW + i * width for i in range(BINS + 1)]
        times = [at for at, _ in self._samples]
        ids = [self._at(times, edge) for edge in edges]
        history = tuple(max(0.0, b - a) / width for a, b in itertools.pairwise(ids))
        span = max(0.5, min(30.0, now - started))
        return Pace(history, width, max(0.0, newest - self._at(times, now - span)) / span, started, ended)

    def _at(self, times: list[float], moment: float) -> float:
        """Sends up to a moment, between samples (taken at `times`) by proportion."""
        i = bisect_right(times, moment)
        if i == 0:
            return self._samples[0][1]
        if i == len(times):
            return self._samples[-1][1]
        (t0, n0), (t1, n1) = self._samples[i - 1], self._samples[i]
        return n0 + (n1 - n0) * (moment - t0) / max(1e-9, t1 - t0)
