"""When the next request may start: rates, an adaptive number under way, and what a busy or absent server asks for.

One rule for "busy" (429, and 503 or 529 with Retry-After): the number under way is halved, at most once a second, and grows
back by one per round of answers; nothing starts before the time that the server asked for, or before a growing wait of our
own where it asked for none. A wait above the cap is the same pause, announced.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

RETRY_CAP = 120.0
"""A longer wait is announced (CASES.md, 9)."""

LONGEST_PAUSE = 24 * 3600.0
"""A server that asks for more has stopped serving: the run stops, resumable."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests under way at once, and starts and tokens per second (None: as fast as they are answered).

    `unreachable` is how long, in seconds, a server may be out of reach before the run stops; a server that never
    answered in this sitting gets `first_contact`.
    """

    workers: int = 1
    starts_per_second: float | None = None
    tokens_per_second: float | None = None
    unreachable: float = 1800.0
    first_contact: float = 15.0


class Pace:
    """All times are seconds of one monotonic clock, given by the caller."""

    def __init__(self, limits: Limits, seed: int | None = None) -> None:
        self.limits = limits
        self.limit = float(limits.workers)
        self.held_until = 0.0
        self._next_start = 0.0
        self._next_tokens = 0.0
        self._cut_at = float("-inf")
        self._busy_in_a_row = 0
        self._misses = 0
        self._missing_since: float | None = None
        self._answered = False
        self._random = random.Random(seed)

    def room(self, flying: int) -> int:
        """How many more may be under way now; one at a time while the server cannot be reached."""
        return max(0, (1 if self._misses else int(self.limit)) - flying)

    def due(self) -> float:
        """When the next request may start."""
        return max(self.held_until, self._next_start, self._next_tokens)

    def started(self, now: float, tokens: int) -> None:
        """Note a start. A late start is caught up with for ten milliseconds at most, so no window holds more than the rate allows."""
        late = now - 0.01
        if self.limits.starts_per_second:
            self._next_start = max(self._next_start, late) + 1 / self.limits.starts_per_second
        if self.limits.tokens_per_second:
            self._next_tokens = max(self._next_tokens, late) + tokens / self.limits.tokens_per_second

    def answered(self) -> None:
        """A response of any kind has arrived: the server is reachable."""
        self._answered = True
        self._misses, self._missing_since, self._busy_in_a_row = 0, None, 0
        self.limit = min(float(self.limits.workers), self.limit + 1 / self.limit)

    def busy(self, now: float, wait: float | None) -> float:
        """The server was busy; returns the seconds that nothing may start for."""
        self._answered = True
        self._misses, self._missing_since = 0, None
        if now - self._cut_at >= 1.0:
            self._cut_at = now
            self._busy_in_a_row += 1
            self.limit = max(1.0, self.limit / 2)
        if wait is None:
            wait = self._backoff(self._busy_in_a_row - 1, 0.5, 30.0)
        self.held_until = max(self.held_until, now + wait)
        return wait

    def unreachable(self, now: float) -> float:
        """No connection; returns the wait before the one next try."""
        if self._missing_since is None:
            self._missing_since = now
        if now >= self.held_until or not self._misses:
            self._misses += 1
            self.held_until = max(self.held_until, now + self._backoff(self._misses - 1, 0.25, 60.0))
        return self.held_until - now

    def given_up(self, now: float) -> float | None:
        """How long the server has been out of reach, once that is too long."""
        if self._missing_since is None:
            return None
        away = now - self._missing_since
        return away if away >= (self.limits.unreachable if self._answered else self.limits.first_contact) else None

    def _backoff(self, n: int, first: float, most: float) -> float:
        return min(most, first * 2.0 ** min(n, 30)) * (0.5 + self._random.random() / 2)
