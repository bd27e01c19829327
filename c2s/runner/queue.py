"""What waits to leave: asks in the order of their keys, and those that may not leave before a certain time."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field

from c2s.controllers.program import ParentProgram
from c2s.ledger.rows import ParentRow, SlotRow
from c2s.panels.base import Panel
from c2s.records import Ask, Slot
from c2s.runner.schedule import Key


@dataclass(slots=True)
class Open:
    """A parent on its way, with its place in the plan; `stored` names the outcomes that the ledger has."""

    row: ParentRow
    panel: Panel
    place: int
    program: ParentProgram
    slots: dict[Slot, SlotRow]
    stored: set[tuple[str, int, int]] = field(default_factory=set)


@dataclass(slots=True)
class Waiting:
    """An ask that may leave. Its bytes are made when it does: a long schedule then costs little memory.

    `refusals` counts sends that were not processed, `malformed` responses that broke the protocol, in this sitting.
    """

    open: Open
    row: SlotRow
    ask: Ask
    key: Key
    refusals: int = 0
    malformed: int = 0


class Queue:
    def __init__(self) -> None:
        self._ready: list[tuple[Key, int, Waiting]] = []
        self._later: list[tuple[float, int, Waiting]] = []
        self._tie = itertools.count()

    def __len__(self) -> int:
        return len(self._ready) + len(self._later)

    def push(self, waiting: Waiting, not_before: float | None = None) -> None:
        if not_before is None:
            heapq.heappush(self._ready, (waiting.key, next(self._tie), waiting))
        else:
            heapq.heappush(self._later, (not_before, next(self._tie), waiting))

    def wake(self, now: float) -> None:
        """Move what may leave now among what is ready."""
        while self._later and self._later[0][0] <= now:
            self.push(heapq.heappop(self._later)[2])

    def first(self) -> Key | None:
        """The smallest key that is ready."""
        return self._ready[0][0] if self._ready else None

    def pop(self) -> Waiting:
        return heapq.heappop(self._ready)[2]

    def next_wake(self) -> float | None:
        return self._later[0][0] if self._later else None
