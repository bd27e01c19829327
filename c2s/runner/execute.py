"""The runner: one thread that owns the programs and the ledger.

It opens parents in plan order, hands encoded asks to the workers, feeds answers back into the programs, and commits.
What it decides (retry, stop, reuse) is written to the ledger before it matters.
"""

from __future__ import annotations

import heapq
import itertools
import random
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from c2s.backends.base import Backend, Call, Exchange
from c2s.controllers.program import ParentProgram
from c2s.dialects import Malformed, dialect
from c2s.errors import LedgerError
from c2s.ledger import reader
from c2s.ledger.writer import ExchangeRow, LedgerWriter, ParentRow, SlotRow
from c2s.panels.base import Panel
from c2s.presentation.encode import body_hash, content_hash
from c2s.records import Answer, Ask, Slot
from c2s.runner.gate import Gate
from c2s.runner.reuse import Reuse
from c2s.runner.workers import workers

COMMIT_SECONDS = 0.25
"""How long a safe backend's answers may wait in memory: what a kill can cost is asked again."""

MAX_ATTEMPTS = 6
"""Sends of one request, where each earlier one was provably not processed (or the backend is safe)."""


@dataclass(slots=True)
class Waiting:
    """An ask that may leave: its parent's program, its slot and its exact bytes."""

    open: Open
    row: SlotRow
    ask: Ask
    body: bytes
    body_sha256: str
    sends: int = 0


@dataclass(slots=True)
class Open:
    """A parent on its way."""

    row: ParentRow
    panel: Panel
    program: ParentProgram
    slots: dict[Slot, SlotRow]
    stored: set[tuple[str, int]] = field(default_factory=set)


@dataclass(slots=True)
class Tally:
    """Running totals for the progress line; `states` counts slots, `transitions` parents by (panel, domain, transition)."""

    states: Counter[str] = field(default_factory=Counter)
    transitions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    asked: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def open(self) -> int:
        return self.states["planned"] + self.states["sent"] + self.states["reserved"]


class Runner:
    """Drives one ledger to its end. `stop()` may be called from a signal handler; `run()` then returns False."""

    def __init__(
        self,
        writer: LedgerWriter,
        backend: Backend,
        panels: Sequence[Panel],
        settings: Mapping[str, Any],
        *,
        reuse: Reuse | None = None,
        watch: Any = None,
    ) -> None:
        self.writer, self.backend, self.settings = writer, backend, settings
        self.panels = {panel.name: panel for panel in panels}
        self.dialect = dialect(backend.dialect)
        self.reuse, self.watch = reuse, watch
        self.tally = Tally()
        self.stopping = 0
        self._safe = backend.resend == "safe"
        self._workers = workers(backend)
        self._heap: list[tuple[float, int, int, Waiting]] = []  # (not before, parent, tie, what)
        self._tie = itertools.count()
        self._flying: dict[int, tuple[Waiting, ExchangeRow]] = {}
        self._unopened: deque[tuple[int, str]] = deque()
        self._gate = Gate(writer, self.panels, settings)
        self._committed = time.monotonic()

    def stop(self) -> None:
        """Ask for an orderly end: nothing new leaves. A second call gives up what is still under way."""
        self.stopping += 1

    def run(self) -> bool:
        """Returns True when every slot is terminal, False when stopped before."""
        self._recover()
        self._load_totals()
        db = self.writer.connection
        self._unopened = deque(db.execute("SELECT id, panel FROM parents WHERE closed = 0 ORDER BY id").fetchall())
        exhausted = False
        while True:
            if not self.stopping:
                exhausted = self._fill(exhausted)
                self._dispatch()
            if not self._flying and (self.stopping or (exhausted and not self._heap)):
                break
            if self.stopping and (self._safe or self.stopping > 1):
                break
            for waiting, exchange in self._workers.results(self._patience()):
                self._arrived(waiting, exchange)
            self._tick()
        self._abandon()
        self.writer.commit()
        self._tick(final=True)
        return self.tally.open == 0

    # --- before the first request -------------------------------------------------------------------------------

    def _recover(self) -> None:
        """Settle what an earlier runner left under way: unknown if paid, planned again if safe."""
        db = self.writer.connection
        left = db.execute("SELECT id, slot FROM exchanges WHERE state = 'sent'").fetchall()
        if not left:
            return
        by_parent = {slot: parent for slot, parent in db.execute("SELECT id, parent FROM slots WHERE state = 'sent'")}
        for number, slot in left:
            parent = reader.parent(db, by_parent[slot])
            row = next(r for r in reader.slots_of(db, parent).values() if r.id == slot)
            self._lose(row, reader.exchange(db, number), "the runner ended before a response came")
        self.writer.event("warning", f"{len(left)} requests were under way when the last runner ended")
        self.writer.commit()

    def _lose(self, row: SlotRow, exchange: ExchangeRow, message: str) -> None:
        exchange.message = message
        self.writer.end_exchange(exchange, "unknown")
        if self._safe:
            row.exchange = None
        self.writer.set_state(row, "planned" if self._safe else "unknown")

    def _load_totals(self) -> None:
        for count in reader.counts(self.writer.connection):
            if count.key.startswith("transition:"):
                self.tally.transitions[count.panel, count.domain, count.key[11:]] += count.n
            elif not count.key.startswith("outcome:"):
                self.tally.states[count.key] += count.n

    # --- asks ---------------------------------------------------------------------------------------------------

    def _fill(self, exhausted: bool) -> bool:
        """Open parents until the workers could all be kept busy; True when there is none left."""
        wanted = self.backend.max_batch * max(1, self.backend.workers)
        while not exhausted and len(self._heap) < wanted:
            if not self._unopened:
                return True
            if not self._gate.passes(self.panels[self._unopened[0][1]]):
                return False
            self._open(self._unopened.popleft()[0])
            self._tick()
        return exhausted

    def _open(self, number: int) -> None:
        """Start a parent's program and replay into it whatever the ledger already knows."""
        db = self.writer.connection
        row = reader.parent(db, number)
        panel = self.panels[row.panel]
        program = ParentProgram(panel.name, panel.arms, row.parent, self.settings)
        stored = {(o.arm, o.replicate) for o in reader.outcomes_of(db, number)}
        opened = Open(row, panel, program, reader.slots_of(db, row), stored)
        self._take(opened, program.start())

    def _take(self, opened: Open, asks: list[tuple[Slot, Ask]]) -> None:
        """Queue new asks, answering from the ledger or from an earlier run those that can be; then settle closed arms."""
        asks = list(asks)
        while asks:
            slot, ask = asks.pop()
            row = opened.slots.get(slot)
            if row is None:
                raise LedgerError(f"{self.writer.path} holds no slot {slot}; it belongs to another plan")
            body = self.dialect.encode(ask, self.backend.model)
            waiting = Waiting(opened, row, ask, body, body_hash(body))
            if row.state == "planned":
                answer = self._reused(waiting)
                if answer is None:
                    heapq.heappush(self._heap, (0.0, opened.row.id, next(self._tie), waiting))
                    continue
                asks += opened.program.receive(slot, answer)
            else:
                asks += self._replayed(waiting)
        self._settle(opened)

    def _replayed(self, waiting: Waiting) -> list[tuple[Slot, Ask]]:
        """The recorded answer of a slot that is already terminal."""
        row = waiting.row
        recorded = reader.exchange(self.writer.connection, row.exchange)
        if recorded.body_sha256 != waiting.body_sha256:
            raise LedgerError(
                f"{self.writer.path}: the recorded request of {row.slot} is not the one that this version of c2s would send; "
                "finish the run with the version named in its manifest"
            )
        if row.state == "ok":
            return waiting.open.program.receive(row.slot, self.dialect.decode(waiting.ask, recorded.response))
        return waiting.open.program.receive(row.slot, None, f"{row.state}: {recorded.message}")

    def _reused(self, waiting: Waiting) -> Answer | None:
        """An earlier run's answer to the same slot and bytes, copied with its origin."""
        found = self.reuse.find(waiting.row.slot, waiting.body_sha256) if self.reuse else None
        if found is None:
            return None
        answer = self.dialect.decode(waiting.ask, found.response)
        exchange = self._begin(waiting, origin=found.origin)
        exchange.response, exchange.http_status, exchange.headers = found.response, found.http_status, found.headers
        exchange.sent_at, exchange.done_at = found.sent_at, found.done_at
        self._note_usage(exchange, answer)
        self.writer.end_exchange(exchange, "ok")
        self._state(waiting.row, "ok")
        return answer

    def _begin(self, waiting: Waiting, origin: str | None = None) -> ExchangeRow:
        self.tally.states[waiting.row.state] -= 1
        exchange = self.writer.begin_exchange(
            waiting.row, body=waiting.body, body_sha256=waiting.body_sha256, content_sha256=content_hash(waiting.body), origin=origin
        )
        self.tally.states["sent"] += 1
        return exchange

    def _dispatch(self) -> None:
        """Hand out what may leave now. For a paid backend its reservation is durable before any byte does."""
        batches = []
        now = time.monotonic()
        idle = self._workers.idle
        while self._heap and self._heap[0][0] <= now and len(batches) < idle:
            batch = []
            while self._heap and self._heap[0][0] <= now and len(batch) < self.backend.max_batch:
                waiting = heapq.heappop(self._heap)[3]
                exchange = self._begin(waiting)
                waiting.sends += 1
                self._flying[exchange.id] = (waiting, exchange)
                batch.append((exchange.id, Call(waiting.row.slot, waiting.open.row.parent, waiting.ask, waiting.body)))
            batches.append(batch)
        if batches and not self._safe:
            self._commit()
        for batch in batches:
            self._workers.submit(batch)

    # --- answers ------------------------------------------------------------------------------------------------

    def _arrived(self, number: int, came: Exchange) -> None:
        waiting, exchange = self._flying.pop(number)
        self.tally.asked += 1
        exchange.response, exchange.http_status, exchange.message = came.raw, came.http_status, came.message
        if came.headers:
            exchange.headers = orjson.dumps(dict(came.headers)).decode()
        answer = None
        state = came.verdict
        if state == "ok":
            try:
                answer = self.dialect.decode(waiting.ask, came.raw)
                self._note_usage(exchange, answer)
            except Malformed as error:
                state, exchange.message = "malformed", str(error)
        if state == "lost":
            state = "unknown"
        self.writer.end_exchange(exchange, state)
        if state == "not_processed" or (state == "unknown" and self._safe):
            if waiting.sends < MAX_ATTEMPTS:
                self._again(waiting, came)
                return
            state = "error"
            exchange.message = f"gave up after {MAX_ATTEMPTS} attempts: {came.message}"
        slot_state = {"ok": "ok", "unknown": "unknown"}.get(state, "error")
        self._state(waiting.row, slot_state)
        if answer is not None:
            asks = waiting.open.program.receive(waiting.row.slot, answer)
        else:
            self.writer.event("warning", f"{waiting.row.slot}: {slot_state}: {exchange.message}")
            asks = waiting.open.program.receive(waiting.row.slot, None, f"{slot_state}: {exchange.message}")
        self._take(waiting.open, asks)

    def _again(self, waiting: Waiting, came: Exchange) -> None:
        """Send it once more, never sooner than asked."""
        attempt = waiting.sends
        wait = came.wait if came.wait is not None else min(30.0, 0.5 * 2**attempt) * (0.5 + random.random() / 2)
        waiting.row.exchange = None
        self._state(waiting.row, "planned")
        self.writer.event("info", f"{waiting.row.slot}: attempt {attempt} not processed ({came.message}); again in {wait:.1f} s")
        heapq.heappush(self._heap, (time.monotonic() + wait, waiting.open.row.id, next(self._tie), waiting))

    def _note_usage(self, exchange: ExchangeRow, answer: Answer) -> None:
        exchange.model = answer.model
        exchange.input_tokens, exchange.output_tokens = answer.input_tokens, answer.output_tokens

    def _settle(self, opened: Open) -> None:
        """Write the outcomes of arms that have closed, in the transaction of the exchange that closed them."""
        for outcome in opened.program.outcomes:
            if (outcome.arm, outcome.replicate) not in opened.stored:
                opened.stored.add((outcome.arm, outcome.replicate))
                self.writer.add_outcome(opened.row, outcome)
        for slot, state in opened.program.skipped.items():
            if opened.slots[slot].state == "planned":
                self._state(opened.slots[slot], state)
        if opened.program.closed and not opened.row.closed:
            transition = opened.panel.transition(opened.program.outcomes)
            self.writer.close_parent(opened.row, transition)
            self._gate.closed(opened.row.panel)
            if transition is not None:
                self.tally.transitions[opened.row.panel, opened.row.parent.domain, transition] += 1

    def _state(self, row: SlotRow, state: str) -> None:
        self.tally.states[row.state] -= 1
        self.writer.set_state(row, state)
        self.tally.states[state] += 1

    # --- time ---------------------------------------------------------------------------------------------------

    def _patience(self) -> float:
        if self._flying:
            return 0.1
        return min(0.1, max(0.001, self._heap[0][0] - time.monotonic())) if self._heap else 0.0

    def _tick(self, final: bool = False) -> None:
        if time.monotonic() - self._committed >= COMMIT_SECONDS:
            self._commit()
        if self.watch is not None:
            self.watch(self.tally, final)

    def _commit(self) -> None:
        self.writer.commit()
        self._committed = time.monotonic()

    def _abandon(self) -> None:
        """What is still under way when the runner gives up."""
        for waiting, exchange in self._flying.values():
            self.tally.states[waiting.row.state] -= 1
            self._lose(waiting.row, exchange, "given up when the run was stopped")
            self.tally.states[waiting.row.state] += 1
        self._flying.clear()
