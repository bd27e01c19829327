"""What a person sees while a run goes on: one live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

from c2s.records import TRANSITIONS

LIVE_SECONDS = 0.2
PLAIN_SECONDS = 10.0
NAMED = 5
"""How many different failures are named; the others are events of the run."""


@dataclass(slots=True)
class Tally:
    """Running totals; `states` counts slots, `transitions` parents by (panel, domain, transition), `usd` is settled and held money.

    `phase` says why nothing leaves just now, or is empty. `failures` are the messages of requests that ended without an answer, each once.
    """

    states: Counter[str] = field(default_factory=Counter)
    transitions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    asked: int = 0
    usd: float = 0.0
    phase: str = ""
    failures: dict[str | None, None] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def open(self) -> int:
        return self.states["planned"] + self.states["sent"] + self.states["reserved"]


def describe(tally: Tally, panels: Sequence[str]) -> str:
    """Done of all, rate of this sitting, time left, money, records in trouble, and both/lost/gained/neither so far."""
    done = tally.total - tally.open
    elapsed = max(1e-9, time.monotonic() - tally.started)
    rate = tally.asked / elapsed
    left = f"{_clock(tally.open / rate)} left" if rate > 0 and tally.open else ""
    trouble = [f"{tally.states[state]} {state}" for state in ("error", "unknown", "blocked") if tally.states[state]]
    money = f"${tally.usd:.4f}" if tally.usd else ""
    parts = [f"{done}/{tally.total}", tally.phase, f"{rate:.0f}/s" if tally.asked else "", left, money, *trouble]
    for domain in sorted({key[1] for key in tally.transitions}, reverse=True):
        counts = [
            sum(n for (p, d, t), n in tally.transitions.items() if d == domain and t == name and p in panels) for name in TRANSITIONS[:4]
        ]
        parts.append(f"{domain} {'/'.join(map(str, counts))}")
    return "  ".join(part for part in parts if part)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Progress:
    """Called after every batch; writes to `stream` (stderr) at its own pace. On a terminal the line is rewritten in place."""

    def __init__(self, panels: Sequence[str], stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty()
        self.panels = panels
        self._last = time.monotonic() if not self.live else 0.0
        self._said = ""
        self._named = 0

    def __call__(self, tally: Tally, final: bool = False) -> None:
        now = time.monotonic()
        self._name(tally)
        if not final and tally.phase == self._said and now - self._last < (LIVE_SECONDS if self.live else PLAIN_SECONDS):
            return
        self._last, self._said = now, tally.phase
        line = describe(tally, self.panels)
        if self.live:
            import shutil

            columns = shutil.get_terminal_size().columns
            self.stream.write(f"\r{line[: columns - 1]:<{columns - 1}}" + ("\n" if final else ""))
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def _name(self, tally: Tally) -> None:
        """Name every new failure on a line of its own, without characters that could act on a terminal."""
        while self._named < min(NAMED, len(tally.failures)):
            message = list(tally.failures)[self._named] or "no reason is known"
            plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
            self.stream.write(("\n" if self.live and self._last else "") + f"c2s: failed: {plain}\n")
            self._named += 1
