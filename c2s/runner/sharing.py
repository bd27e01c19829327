"""Slots that receive the response to another slot's request: they wait for it, and never send one of their own."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from c2s.errors import LedgerError
from c2s.ledger import reader
from c2s.ledger.schema import TERMINAL
from c2s.ledger.writer import ExchangeRow, SlotRow

if TYPE_CHECKING:
    from c2s.runner.execute import Waiting


class Sharing:
    """Who waits for whom. An owner's end is kept for the receivers whose parents are opened later."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._owners = {n for (n,) in db.execute("SELECT DISTINCT share_of FROM slots WHERE share_of IS NOT NULL")}
        self._ended: dict[int, tuple[str, ExchangeRow]] = {}
        self._waiting: dict[int, list[Waiting]] = {}

    def ended(self, row: SlotRow, exchange: ExchangeRow) -> list[Waiting]:
        """A slot has come to its end with this exchange; returns those that wait for it."""
        if row.id not in self._owners:
            return []
        self._ended[row.id] = (row.state, exchange)
        return self._waiting.pop(row.id, [])

    def outcome(self, waiting: Waiting) -> tuple[str, ExchangeRow] | None:
        """The state and exchange that a receiving slot takes over; None while its owner is open: it is then remembered."""
        owner = waiting.row.share_of
        if owner not in self._ended:
            state, exchange = self._db.execute("SELECT state, exchange FROM slots WHERE id = ?", (owner,)).fetchone()
            if state not in TERMINAL:
                self._waiting.setdefault(owner, []).append(waiting)
                return None
            self._ended[owner] = (state, reader.exchange(self._db, exchange))
        state, exchange = self._ended[owner]
        if exchange.body_sha256 != waiting.body_sha256:
            raise LedgerError(
                f"{waiting.row.slot} was planned to share a response, but the request differs from that one's; "
                "finish the run with the version named in its manifest"
            )
        return state, exchange
