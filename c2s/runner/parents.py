"""Parents on their way: opened in schedule order, fed from the ledger or an earlier run where it has the answer, and settled."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from c2s.controllers.program import ParentProgram
from c2s.controllers.replay import Reply, drive
from c2s.dialects import Dialect, Malformed
from c2s.errors import LedgerError
from c2s.ledger import reader
from c2s.ledger.exchanges import exchange
from c2s.ledger.rows import ExchangeRow, SlotRow
from c2s.ledger.schema import TERMINAL
from c2s.ledger.writer import LedgerWriter
from c2s.panels.base import Panel
from c2s.presentation.encode import body_hash, content_hash
from c2s.records import Ask, Slot
from c2s.runner.preparation import Gate
from c2s.runner.progress import Tally
from c2s.runner.queue import Open, Queue, Waiting
from c2s.runner.reuse import EarlierRuns
from c2s.runner.schedule import Key, slot_key
from c2s.runner.sharing import End, Sharing
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
        for row in reader.open_slots(db):
            key = self._key(row.parent, row.slot or Slot(row.panel, row.name, "", 0, 0))
            if row.parent not in first or key < first[row.parent][0]:
                first[row.parent] = key, row.panel
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

    def answered(self, waiting: Waiting, reply: Reply) -> None:
        """Give a program the end of a slot, queue what that released and settle what it closed."""
        self._take(waiting.open, waiting.open.program.receive(waiting.row.slot, reply.answer, reply.reason))
        self._share(waiting, reply)

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
        """Answer new asks from the ledger or from an earlier run where they have the answer, queue the others, settle closed arms."""
        copied: list[tuple[Waiting, Reply]] = []

        def known(slot: Slot, ask: Ask) -> Reply | None:
            row = opened.slots.get(slot)
            if row is None:
                raise LedgerError(f"{self._writer.path} holds no slot {slot}; it belongs to another plan")
            waiting = Waiting(opened, row, ask, self._key(opened.row.id, slot))
            if row.state != "planned":
                return self._recorded(waiting)
            if row.share_of is not None:
                return self._received(waiting)
            reply = self._copied(waiting) if self._reuse is not None else None
            if reply is None:
                self._queue.push(waiting)
            else:
                copied.append((waiting, reply))
            return reply

        drive(opened.program, known, asks)
        self._settle(opened)
        for waiting, reply in copied:
            self._share(waiting, reply)

    def _share(self, waiting: Waiting, reply: Reply) -> None:
        """Give the end of a slot to the slots that receive its response."""
        row = waiting.row
        if not self._sharing.has_receivers(row):
            return
        assert row.exchange is not None
        end = End(row.state, row.exchange, body_hash(self.encode(waiting)), reply)
        for receiver in self._sharing.end(row, end):
            received = self._received(receiver)
            assert received is not None
            self._take(receiver.open, receiver.open.program.receive(receiver.row.slot, received.answer, received.reason))

    def _received(self, waiting: Waiting) -> Reply | None:
        """The end of the slot whose response this one receives; None while that one is open: it then waits for it."""
        row, owner = waiting.row, waiting.row.share_of
        assert owner is not None
        end = self._sharing.end_of(owner)
        if end is None:
            state, exchange = reader.end_of(self._writer.connection, owner)
            if state not in TERMINAL:
                self._sharing.wait(waiting)
                return None
            row.exchange = exchange
            self.set_state(row, state)
            return self._recorded(waiting)
        if end.body_sha256 != body_hash(self.encode(waiting)):
            raise LedgerError(
                f"{self._writer.path}: {row.slot} was planned to share a response, but its request is not the one that was sent; "
                "finish the run with the version named in its manifest"
            )
        row.exchange = end.exchange
        self.set_state(row, end.state)
        return end.reply

    def _recorded(self, waiting: Waiting) -> Reply:
        """How the ledger says that a slot ended."""
        row = waiting.row
        if row.exchange is None:
            raise LedgerError(
                f"{self._writer.path}: {row.slot} is {row.state}, but no exchange says why; see c2s verify {self._writer.path.parent}"
            )
        recorded = exchange(self._writer.connection, row.exchange)
        if recorded.body_sha256 != body_hash(self.encode(waiting)):
            raise LedgerError(
                f"{self._writer.path}: the recorded request of {row.slot} is not the one that this version of c2s would send; "
                "finish the run with the version named in its manifest"
            )
        if row.state != "ok":
            return Reply.failed(row.state, recorded.message)
        try:
            return Reply(self._wire.decode(waiting.ask, recorded.response or b""))
        except Malformed as error:
            raise LedgerError(f"{self._writer.path}: the recorded answer of {row.slot} cannot be read: {error}") from None

    def _copied(self, waiting: Waiting) -> Reply | None:
        """An earlier run's answer to the same slot and bytes, copied with its origin."""
        assert self._reuse is not None
        body = self.encode(waiting)
        earlier = self._reuse.answer(waiting.row.slot, body_hash(body))
        if earlier is None:
            return None
        answer = self._wire.decode(waiting.ask, earlier.response)
        copy = self.begin(waiting, body, origin=earlier.origin)
        copy.response, copy.http_status, copy.headers = earlier.response, earlier.http_status, earlier.headers
        copy.sent_at, copy.done_at = earlier.sent_at, earlier.done_at
        copy.note(answer)
        self._writer.end_exchange(copy, "ok")
        self.set_state(waiting.row, "ok")
        return Reply(answer)

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
