"""Parents on their way: opened in schedule order, fed from the ledger or an earlier run where it has the answer, and settled."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from c2s.controllers.program import ParentProgram
from c2s.dialects import Dialect, Malformed
from c2s.errors import LedgerError
from c2s.ledger import reader
from c2s.ledger.schema import TERMINAL
from c2s.ledger.writer import ExchangeRow, LedgerWriter, SlotRow
from c2s.panels.base import Panel
from c2s.presentation.encode import body_hash, content_hash
from c2s.records import Answer, Ask, Slot
from c2s.runner.preparation import Gate
from c2s.runner.progress import Tally
from c2s.runner.queue import Open, Queue, Waiting
from c2s.runner.reuse import EarlierRuns
from c2s.runner.schedule import Key, slot_key
from c2s.runner.sharing import Given, Sharing
from c2s.settings import Settings


class Parents:
    """Turns parents of the plan into waiting asks, and answers into further asks and outcomes."""

    def __init__(
        self,
        writer: LedgerWriter,
        wire: Dialect,
        model: str,
        panels: Mapping[str, Panel],
        settings: Settings,
        queue: Queue,
        tally: Tally,
        reuse: EarlierRuns | None,
    ) -> None:
        self._writer, self._wire, self._model = writer, wire, model
        self._panels, self._settings, self._queue, self._tally, self._reuse = panels, settings, queue, tally, reuse
        self._places = {name: place for place, name in enumerate(panels)}
        self._unopened: list[tuple[Key, int, str]] = []
        self._gate = Gate(writer, panels, settings)
        self._sharing = Sharing()

    def load(self) -> None:
        """List the parents that are not closed by the first key that any of their open slots has."""
        db = self._writer.connection
        first: dict[int, tuple[Key, str]] = {}
        rows = db.execute(
            "SELECT p.id, p.panel, p.parent, s.arm, s.replicate, s.step, s.turn FROM parents p LEFT JOIN slots s"
            " ON s.parent = p.id AND s.state = 'planned' WHERE p.closed = 0"
        )
        for number, panel, parent, arm, replicate, step, turn in rows:
            key = self._key(number, Slot(panel, parent, arm or "", replicate or 0, step or 0, turn or 0))
            if number not in first or key < first[number][0]:
                first[number] = key, panel
        self._unopened = [(key, number, panel) for number, (key, panel) in first.items()]
        heapq.heapify(self._unopened)
        self._gate.load()
        self._sharing.load(db)

    def _key(self, number: int, slot: Slot) -> Key:
        return slot_key(self._panels[slot.panel].schedule, self._places[slot.panel], number, slot)

    def next_key(self) -> Key | None:
        """The first key of the parents that have not been opened; None where all have, or where its panel waits for others to close."""
        if not self._unopened or not self._gate.passes(self._panels[self._unopened[0][2]]):
            return None
        return self._unopened[0][0]

    def open_next(self) -> None:
        """Start a parent's program and replay into it whatever the ledger already knows."""
        _, number, _ = heapq.heappop(self._unopened)
        db = self._writer.connection
        row = reader.parent(db, number)
        panel = self._panels[row.panel]
        program = ParentProgram(panel.name, panel.arms, row.parent, self._settings)
        stored = {o.key for o in reader.outcomes_of(db, number)}
        opened = Open(row, panel, self._places[row.panel], program, reader.slots_of(db, row), stored)
        self._take(opened, program.start())

    def answered(self, waiting: Waiting, answer: Answer | None, reason: str | None = None) -> None:
        """Give a program its answer (None: error or unknown), queue what that released and settle what it closed."""
        self._take(waiting.open, waiting.open.program.receive(waiting.row.slot, answer, reason))
        self._hand_on(waiting, answer, reason)

    def encode(self, waiting: Waiting) -> bytes:
        return self._wire.encode(waiting.ask, self._model)

    def begin(self, waiting: Waiting, body: bytes, *, reserved_usd: float | None = None, origin: str | None = None) -> ExchangeRow:
        """Note a send in the ledger's memory."""
        self._tally.states[waiting.row.state] -= 1
        exchange = self._writer.begin_exchange(
            waiting.row, body=body, body_sha256=body_hash(body), content_sha256=content_hash(body), reserved_usd=reserved_usd, origin=origin
        )
        self._tally.states["sent"] += 1
        return exchange

    def set_state(self, row: SlotRow, state: str) -> None:
        self._tally.states[row.state] -= 1
        self._writer.set_state(row, state)
        self._tally.states[state] += 1

    def _take(self, opened: Open, asks: list[tuple[Slot, Ask]]) -> None:
        """Queue new asks, answering those that can be from the ledger or from an earlier run; then settle closed arms."""
        asks = list(asks)
        while asks:
            slot, ask = asks.pop()
            row = opened.slots.get(slot)
            if row is None:
                raise LedgerError(f"{self._writer.path} holds no slot {slot}; it belongs to another plan")
            waiting = Waiting(opened, row, ask, self._key(opened.row.id, slot))
            if row.state == "planned" and row.share_of is not None:
                asks += self._shared(waiting)
            elif row.state == "planned":
                answer = self._reused(waiting) if self._reuse else None
                if answer is None:
                    self._queue.push(waiting)
                    continue
                asks += opened.program.receive(slot, answer)
                self._hand_on(waiting, answer, None)
            else:
                asks += self._replayed(waiting)
        self._settle(opened)

    def _hand_on(self, waiting: Waiting, answer: Answer | None, reason: str | None) -> None:
        """Give a settled slot's answer to those that share it."""
        row = waiting.row
        if self._sharing.owns(row):
            given = Given(row.state, row.exchange, body_hash(self.encode(waiting)), answer, reason)
            for receiver in self._sharing.end(row, given):
                self._take(receiver.open, self._shared(receiver))

    def _shared(self, waiting: Waiting) -> list[tuple[Slot, Ask]]:
        """The answer to the equal request of another slot, if that one has come to its end; else it will come later."""
        row, given = waiting.row, self._sharing.given(waiting)
        if given is None:
            state, exchange = self._writer.connection.execute("SELECT state, exchange FROM slots WHERE id = ?", (row.share_of,)).fetchone()
            if state not in TERMINAL:
                self._sharing.wait(waiting)
                return []
            row.exchange = exchange
            self.set_state(row, state)
            return self._replayed(waiting)
        if given.body_sha256 != body_hash(self.encode(waiting)):
            raise LedgerError(
                f"{self._writer.path}: {row.slot} was planned to share a response, but its request is not the one that was sent; "
                "finish the run with the version named in its manifest"
            )
        row.exchange = given.exchange
        self.set_state(row, given.state)
        return waiting.open.program.receive(row.slot, given.answer, given.reason)

    def _replayed(self, waiting: Waiting) -> list[tuple[Slot, Ask]]:
        """The recorded answer of a slot that is already terminal."""
        row = waiting.row
        if row.exchange is None:
            raise LedgerError(
                f"{self._writer.path}: {row.slot} is {row.state}, but no exchange says why; see c2s verify {self._writer.path.parent}"
            )
        recorded = reader.exchange(self._writer.connection, row.exchange)
        if recorded.body_sha256 != body_hash(self.encode(waiting)):
            raise LedgerError(
                f"{self._writer.path}: the recorded request of {row.slot} is not the one that this version of c2s would send; "
                "finish the run with the version named in its manifest"
            )
        if row.state != "ok":
            return waiting.open.program.receive(row.slot, None, f"{row.state}: {recorded.message}")
        try:
            return waiting.open.program.receive(row.slot, self._wire.decode(waiting.ask, recorded.response))
        except Malformed as error:
            raise LedgerError(f"{self._writer.path}: the recorded answer of {row.slot} does not read: {error}") from None

    def _reused(self, waiting: Waiting) -> Answer | None:
        """An earlier run's answer to the same slot and bytes, copied with its origin."""
        body = self.encode(waiting)
        found = self._reuse.find(waiting.row.slot, body_hash(body))
        if found is None:
            return None
        answer = self._wire.decode(waiting.ask, found.response)
        exchange = self.begin(waiting, body, origin=found.origin)
        exchange.response, exchange.http_status, exchange.headers = found.response, found.http_status, found.headers
        exchange.sent_at, exchange.done_at = found.sent_at, found.done_at
        exchange.model, exchange.input_tokens, exchange.output_tokens = answer.model, answer.input_tokens, answer.output_tokens
        self._writer.end_exchange(exchange, "ok")
        self.set_state(waiting.row, "ok")
        return answer

    def _settle(self, opened: Open) -> None:
        """Write the outcomes of arms that have closed, in the transaction of the exchange that closed them."""
        for outcome in opened.program.outcomes:
            if outcome.key not in opened.stored:
                opened.stored.add(outcome.key)
                self._writer.add_outcome(opened.row, outcome)
        for slot, state in opened.program.skipped.items():
            if opened.slots[slot].state == "planned":
                self.set_state(opened.slots[slot], state)
        if opened.program.closed and not opened.row.closed:
            transition = opened.panel.transition(opened.program.outcomes)
            self._writer.close_parent(opened.row, transition)
            self._gate.closed(opened.row.panel)
            if transition is not None:
                self._tally.transitions[opened.row.panel, opened.row.parent.domain, transition] += 1
