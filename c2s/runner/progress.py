"""Running totals of a sitting, for whoever watches it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Running totals; `states` counts slots, `transitions` parents by (panel, domain, transition), `usd` is settled and held money.

    `phase` says why nothing leaves just now, or is empty. `failures` are the messages of requests that ended without an answer, the
    first of each fault (`Exchange.fault`, else the message itself).
    """

    states: Counter[str] = field(default_factory=Counter)
    transitions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    asked: int = 0
    usd: float = 0.0
    phase: str = ""
    failures: dict[str | None, str | None] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def open(self) -> int:
        return self.states["planned"] + self.states["sent"] + self.states["reserved"]
