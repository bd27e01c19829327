"""The one writer of a ledger. Changes gather in memory and go to the file as whole transactions.

A slot that starts and ends between two commits is written once. `commit()` is the only place where rows are written,
so an outcome always lies in the transaction of the exchange that completed it.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson

from c2s.ledger import sqlite
from c2s.ledger.counters import CounterKey, outcome_counter, transition_counter, write_counters
from c2s.ledger.directory import RunDirectory
from c2s.ledger.rows import EXCHANGE_COLUMNS, ExchangeRow, ParentRow, SlotRow
from c2s.ledger.totals import Spend, read_models, read_spend, stored, weigh
from c2s.records import Outcome, Transition

_EXCHANGE_VALUES = attrgetter(*EXCHANGE_COLUMNS)
_PUT_EXCHANGE = f"INSERT OR REPLACE INTO exchanges ({', '.join(EXCHANGE_COLUMNS)}) VALUES ({', '.join('?' * len(EXCHANGE_COLUMNS))})"


class LedgerWriter:
    def __init__(self, run: RunDirectory, *, durable: bool) -> None:
        self.path: Path = run.ledger_path
        self.durable = durable
        self._db = sqlite.open_writer(self.path, durable=durable, manifest_sha256=run.manifest()[1])
        with sqlite.translated(self.path):
            (last,) = self._db.execute("SELECT coalesce(max(id), 0) FROM exchanges").fetchone()
            self.spend: Spend = read_spend(self._db)
            self.models: dict[str, int] = read_models(self._db)
        self._next_exchange = last + 1
        self._weights: dict[int, Spend] = {}
        self._run: dict[str, str] = {}
        self._slots: dict[int, SlotRow] = {}
        self._exchanges: dict[int, ExchangeRow] = {}
        self._outcomes: list[tuple[Any, ...]] = []
        self._parents: dict[int, tuple[Transition | None, bool]] = {}
        self._counters: Counter[CounterKey] = Counter()
        self._events: list[tuple[float, str, str]] = []

    @property
    def connection(self) -> sqlite3.Connection:
        """For reads by the runner itself; rows that wait for the next commit are not in it."""
        return self._db

    def begin_exchange(
        self,
        row: SlotRow,
        *,
        body: bytes,
        body_sha256: str,
        content_sha256: str,
        reserved_usd: float | None = None,
        origin: str | None = None,
    ) -> ExchangeRow:
        """Note that the request of this slot may leave. Durable only after the next `commit()`."""
        row.attempts += 1
        exchange = ExchangeRow(
            self._next_exchange,
            row.id,
            row.attempts,
            body_sha256,
            content_sha256,
            body,
            time.time(),
            reserved_usd=reserved_usd,
            origin=origin,
        )
        self._next_exchange += 1
        self._exchanges[exchange.id] = exchange
        self.adopt(exchange)
        self.spend.add(self._weights[exchange.id])
        row.exchange = exchange.id
        self.set_state(row, "sent")
        return exchange

    def adopt(self, exchange: ExchangeRow) -> None:
        """Take up a send as it stands, also one that an earlier runner left, so that its end can be weighed against it."""
        self._weights[exchange.id] = weigh(exchange)

    def end_exchange(self, exchange: ExchangeRow, state: str) -> None:
        """Note how it ended; the caller has filled in what came back."""
        exchange.state = state
        if exchange.done_at is None:
            exchange.done_at = time.time()
        self.spend.add(self._weights.pop(exchange.id), -1)
        self.spend.add(weigh(exchange))
        if state == "ok" and exchange.origin is None and exchange.model is not None:
            self.models[exchange.model] = self.models.get(exchange.model, 0) + 1
        self._exchanges[exchange.id] = exchange

    def withdraw_exchange(self, row: SlotRow, exchange: ExchangeRow) -> None:
        """Take back a send that never left and was never committed, since the commit before it failed."""
        del self._exchanges[exchange.id]
        self.spend.add(self._weights.pop(exchange.id), -1)
        row.attempts -= 1
        row.exchange = None
        self.set_state(row, "planned")

    def set_state(self, row: SlotRow, state: str) -> None:
        if row.state == state:
            return
        self.count(row.parent, row.slot.arm, row.state, -1)
        self.count(row.parent, row.slot.arm, state)
        row.state = state
        self._slots[row.id] = row

    def add_outcome(self, parent: ParentRow, outcome: Outcome) -> None:
        o = outcome
        self._outcomes.append(
            (
                parent.id,
                o.arm,
                o.replicate,
                o.turn,
                o.status,
                o.output,
                o.correct,
                o.fidelity,
                o.kind,
                o.first_wrong,
                o.min_confidence,
                o.reason,
                orjson.dumps(dict(o.detail)).decode(),
            )
        )
        self.count(parent, o.arm, outcome_counter(o))

    def close_parent(self, parent: ParentRow, transition: Transition | None) -> None:
        parent.closed, parent.transition = True, transition
        self._parents[parent.id] = (transition, True)
        if transition is not None:
            self.count(parent, "", transition_counter(transition))

    def count(self, parent: ParentRow, arm: str, key: str, by: int = 1) -> None:
        self._counters[parent.panel, parent.parent.domain, parent.parent.length, arm, key] += by

    def event(self, level: str, message: str) -> None:
        self._events.append((time.time(), level, message))

    def prepare(self, additions: Mapping[int, Mapping[str, Any]]) -> None:
        """Freeze what is added to parents' payloads ({ledger id: addition}), as one transaction, after what has gathered."""
        self.commit()
        with sqlite.translated(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(
                "INSERT INTO prepared VALUES (?, ?)",
                [(number, orjson.dumps(dict(addition), option=orjson.OPT_SORT_KEYS)) for number, addition in additions.items()],
            )
            self._db.execute("COMMIT")

    def note(self, key: str, value: str) -> None:
        """A value of the run table, in the next transaction."""
        self._run[key] = value

    def set_run(self, values: Mapping[str, str]) -> None:
        with sqlite.translated(self.path):
            self._db.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", values.items())

    @property
    def dirty(self) -> bool:
        """Whether something waits for the next commit."""
        return bool(self._slots or self._exchanges or self._outcomes or self._parents or self._events or self._run)

    def commit(self) -> None:
        """Write everything that has gathered, as one transaction; on return it is durable if the ledger is.

        Raises LedgerError where it cannot be written; what has gathered is then kept, and may be tried again.
        """
        if not self.dirty:
            return
        db = self._db
        if self._exchanges:
            self._run["spend"] = stored(self.spend)
            self._run["models"] = orjson.dumps(self.models).decode()
        with sqlite.translated(self.path):
            db.execute("BEGIN IMMEDIATE")
            try:
                for statement, values in (
                    (_PUT_EXCHANGE, map(_EXCHANGE_VALUES, self._exchanges.values()) if self._exchanges else ()),
                    ("UPDATE slots SET state = ?, exchange = ? WHERE id = ?", [(s.state, s.exchange, s.id) for s in self._slots.values()]),
                    ("INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._outcomes),
                    ("UPDATE parents SET transition = ?, closed = ? WHERE id = ?", [(t, c, p) for p, (t, c) in self._parents.items()]),
                    ("INSERT INTO events (at, level, message) VALUES (?, ?, ?)", self._events),
                    ("INSERT OR REPLACE INTO run VALUES (?, ?)", self._run.items()),
                ):
                    if values:
                        db.executemany(statement, values)
                write_counters(db, self._counters)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        for gathered in (self._slots, self._exchanges, self._outcomes, self._parents, self._counters, self._events, self._run):
            gathered.clear()

    def close(self) -> None:
        sqlite.close_writer(self._db, self.path)
