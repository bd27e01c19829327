"""Slots that receive the response to another slot's request: they wait for it, and never send one of their own."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from c2s.ledger.writer import SlotRow
from c2s.records import Answer
from c2s.runner.queue import Waiting


@dataclass(frozen=True, slots=True)
class Given:
    """How an owning slot ended in this sitting: what its receivers take over."""

    state: str
    exchange: int
    body_sha256: str
    answer: Answer | None
    reason: str | None


class Sharing:
    """Who waits for whom. What an owner was given is kept for the receivers whose parents are opened later."""

    def __init__(self) -> None:
        self._owners: set[int] = set()
        self._given: dict[int, Given] = {}
        self._waiting: dict[int, list[Waiting]] = {}

    def load(self, db: sqlite3.Connection) -> None:
        self._owners = {n for (n,) in db.execute("SELECT DISTINCT share_of FROM slots WHERE share_of IS NOT NULL")}

    def owns(self, row: SlotRow) -> bool:
        """Whether others receive the response to this slot's request."""
        return row.id in self._owners

    def end(self, row: SlotRow, given: Given) -> list[Waiting]:
        """An owner has come to its end; returns those that wait for it."""
        self._given[row.id] = given
        return self._waiting.pop(row.id, [])

    def given(self, waiting: Waiting) -> Given | None:
        """What the owner was given in this sitting."""
        return self._given.get(waiting.row.share_of)

    def wait(self, waiting: Waiting) -> None:
        """The owner is still open: remember who asks."""
        self._waiting.setdefault(waiting.row.share_of, []).append(waiting)
