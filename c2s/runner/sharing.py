"""Slots that receive the response to another slot's request: they wait for it, and never send one of their own."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from c2s.controllers.replay import Reply
from c2s.ledger import reader
from c2s.ledger.rows import SlotRow
from c2s.runner.queue import Waiting


@dataclass(frozen=True, slots=True)
class End:
    """How a slot with receivers ended in this sitting: its state, its exchange, its request's hash and its reply."""

    state: str
    exchange: int
    body_sha256: str
    reply: Reply


class Sharing:
    """Who waits for whom. Ends are kept for receivers whose parents are opened later."""

    def __init__(self) -> None:
        self._shared: set[int] = set()
        self._ends: dict[int, End] = {}
        self._waiting: dict[int, list[Waiting]] = {}

    def load(self, db: sqlite3.Connection) -> None:
        self._shared = reader.sharing_slots(db)

    def has_receivers(self, row: SlotRow) -> bool:
        """Whether others receive the response to this slot's request."""
        return row.id in self._shared

    def end(self, row: SlotRow, end: End) -> list[Waiting]:
        """A slot with receivers has ended; returns the receivers that wait for it."""
        self._ends[row.id] = end
        return self._waiting.pop(row.id, [])

    def end_of(self, slot: int) -> End | None:
        """How a slot ended in this sitting."""
        return self._ends.get(slot)

    def wait(self, waiting: Waiting) -> None:
        """The slot whose response this one receives is still open: remember it."""
        assert waiting.row.share_of is not None
        self._waiting.setdefault(waiting.row.share_of, []).append(waiting)
