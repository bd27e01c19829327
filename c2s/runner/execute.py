"""The runner: one thread that owns the programs and the ledger.

It opens parents in schedule order, hands encoded asks to the workers, feeds answers back into the programs, and commits.
What it decides (retry, stop, reuse) is written to the ledger before it matters.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import orjson

from c2s.backends.base import Backend, Call, Exchange
from c2s.controllers.replay import Reply
from c2s.dialects import dialect
from c2s.errors import C2SError, LedgerError, described
from c2s.ledger import exchanges, reader
from c2s.ledger.counters import counts
from c2s.ledger.rows import ExchangeRow, SlotRow
from c2s.ledger.writer import LedgerWriter
from c2s.panels.base import Panel
from c2s.records import Answer
from c2s.runner.collection import collected_seldom
from c2s.runner.control import Control
from c2s.runner.pace import LONGEST_PAUSE, RETRY_CAP, Limits, Pace
from c2s.runner.parents import Parents
from c2s.runner.policy import DEFAULT_POLICY, Policy
from c2s.runner.progress import Tally
from c2s.runner.queue import Queue, Waiting
from c2s.runner.recording import read_response
from c2s.runner.reuse import EarlierRuns
from c2s.runner.workers import workers
from c2s.settings import Settings
from c2s.spending.budget import Budget
from c2s.spending.prices import tokens_expected

COMMIT_SECONDS = 0.25
"""How long a safe backend's answers may wait in memory: what a kill can cost is asked again."""

LOOK_SECONDS = 0.1
"""How long the runner may sleep before it looks at its stop flag, its control file and its clock."""


class Runner:
    """Drives one ledger to its end. `stop()` may be called from a signal handler; `run()` then returns False."""

    def __init__(
        self,
        writer: LedgerWriter,
        backend: Backend,
        panels: Sequence[Panel],
        settings: Settings,
        *,
        reuse: EarlierRuns | None = None,
        watch: Any = None,
        policy: Policy = DEFAULT_POLICY,
        limits: Limits | None = None,
        budget: Budget | None = None,
        control: Control | None = None,
    ) -> None:
        self.writer, self.backend, self.watch, self.policy = writer, backend, watch, policy
        self.tally = Tally()
        self.stopping = 0
        self.finished = False
        self.reason: str | None = None
        self._safe = backend.resend == "safe"
        self._wire = dialect(backend.dialect)
        self._workers = workers(backend)
        self._pace = Pace(limits or Limits(workers=max(1, backend.workers)))
        self._budget = budget or Budget(None)
        self._control = control
        self._paused = False
        self._queue = Queue()
        by_name = {panel.name: panel for panel in panels}
        self._parents = Parents(writer, self._wire, backend.model, by_name, settings, self._queue, self.tally, reuse)
        self._under_way: dict[int, tuple[Waiting, ExchangeRow]] = {}
        self._results: deque[tuple[int, Exchange]] = deque()
        self._committed = time.monotonic()
        self._failures = 0
        self._answers = 0

    def stop(self) -> None:
        """Ask for an orderly end: nothing new leaves. What is under way is waited for if it is paid for; else it is given up, and asked
        again by resume. A second call gives up all."""
        self.stopping += 1

    def run(self) -> bool:
        """Returns True when every slot is terminal, False when stopped before; `reason` then says why, if not by `stop()`."""
        try:
            with collected_seldom():
                return self._run()
        finally:
            self._workers.close()

    def _run(self) -> bool:
        self._recover()
        self._load()
        try:
            self._loop()
        except (Exception, SystemExit) as error:  # also a fault in somebody else's package, which may call sys.exit
            self._rescue()
            if isinstance(error, SystemExit):
                raise C2SError(f"the run was ended by code of a package: {described(error)}") from error
            raise
        self._abandon()
        self.finished = self.tally.open == 0
        self.writer.note("stopped", "" if self.finished else self.reason or "stopped by its user")
        self.writer.note("phase", "")
        self._commit()
        self.tally.phase = ""
        self._tick(final=True)
        return self.finished

    def _loop(self) -> None:
        while True:
            self._follow_control()
            if not self.stopping and not self._paused:
                self._fill()
                self._dispatch()
            self._tick()
            if not self._under_way and (self.stopping or not (self._paused or len(self._queue) or self._parents.next_key())):
                return
            if self.stopping and (self._safe or self.stopping > 1):
                return
            wait = self._wait()
            if not self._under_way:
                time.sleep(wait)
                continue
            self._results.extend(self._workers.results(wait))
            while self._results:
                self._take(*self._results.popleft())

    # --- before the first request -------------------------------------------------------------------------------

    def _recover(self) -> None:
        """Settle what an earlier runner left under way: unknown if paid, planned again if safe."""
        db = self.writer.connection
        left = exchanges.under_way(db)
        for number, slot, parent in left:
            rows = reader.slots_of(db, reader.parent(db, parent)).values()
            exchange = exchanges.exchange(db, number)
            self.writer.adopt(exchange)
            self._mark_lost(next(row for row in rows if row.id == slot), exchange, "the runner ended before a response result")
        if left:
            self.writer.event("warning", f"{len(left)} requests were under way when the last runner ended")
        self.writer.note("stopped", "")
        self.writer.commit()

    def _mark_lost(self, row: SlotRow, exchange: ExchangeRow, message: str) -> None:
        exchange.message = message
        self.writer.end_exchange(exchange, "unknown")
        if self._safe:
            row.exchange = None
        self.writer.set_state(row, "planned" if self._safe else "unknown")

    def _load(self) -> None:
        for count in counts(self.writer.connection):
            if count.transition is not None:
                self.tally.transitions[count.panel, count.domain, count.transition] += count.n
            elif count.state is not None:
                self.tally.states[count.state] += count.n
        self._parents.load()

    # --- sending ------------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Open parents whose turn has come, and more of them until the workers could all be kept busy."""
        wanted = self.backend.max_batch * max(1, self.backend.workers)
        while (key := self._parents.next_key()) is not None and not self.stopping:
            first = self._queue.first()
            if len(self._queue) >= wanted and first is not None and first <= key:
                return
            self._parents.open_next()
            self._tick()

    def _dispatch(self) -> None:
        """Hand out what may leave now. For a paid backend its reservation is durable before any byte does."""
        batches: list[list[tuple[int, Call]]] = []
        now = time.monotonic()
        self._queue.wake(now)
        busy = max(1, self.backend.workers) - self._workers.idle
        room = min(self._workers.idle, self._pace.room(busy))
        try:
            while len(batches) < room and self._queue.first() is not None and self._pace.due() <= now:
                batch = self._batch(now)
                if not batch:
                    break
                batches.append(batch)
            if batches and not self._safe:
                self._commit()
        except C2SError:
            for number, _ in [sent for batch in batches for sent in batch]:
                waiting, exchange = self._under_way.pop(number)
                self.writer.withdraw_exchange(waiting.row, exchange)
            raise
        for batch in batches:
            self._workers.submit(batch)

    def _next_is_ready(self) -> bool:
        """Whether an ask may leave, with every parent opened whose first key comes before it: a schedule holds across parents."""
        while (key := self._parents.next_key()) is not None and ((first := self._queue.first()) is None or key < first):
            self._parents.open_next()
        return self._queue.first() is not None

    def _batch(self, now: float) -> list[tuple[int, Call]]:
        """Up to `max_batch` sends, each with its reservation; fewer where a cap leaves no room."""
        batch: list[tuple[int, Call]] = []
        while len(batch) < self.backend.max_batch and self._next_is_ready():
            waiting = self._queue.pop()
            body = self._parents.encode(waiting)
            usd = self._budget.reservation(waiting.ask.request, body)
            cap = self._budget.exceeded(self.writer.spend, usd)
            if cap is not None:
                self._queue.push(waiting)
                if not self._under_way:  # nothing under way can give a reservation back
                    full = f"the cap of ${cap.usd:g} {cap.what} leaves no room for the next request"
                    self._halt(f"{full}; go on with {cap.option} and a higher amount")
                break
            exchange = self._parents.begin(waiting, body, reserved_usd=usd)
            self._under_way[exchange.id] = (waiting, exchange)
            batch.append((exchange.id, Call(waiting.row.slot, waiting.open.row.parent, waiting.ask, body)))
            self._pace.started(now, tokens_expected(len(body)))
        return batch

    # --- answers ------------------------------------------------------------------------------------------------

    def _take(self, number: int, result: Exchange) -> None:
        waiting, exchange = self._under_way.pop(number)
        self.tally.asked += 1
        exchange.response, exchange.http_status, exchange.message = result.raw, result.http_status, result.message
        exchange.sent_at, exchange.done_at = result.began or exchange.sent_at, result.ended
        if result.headers:
            exchange.headers = orjson.dumps(dict(result.headers)).decode()
        answer, state = self._read(waiting, exchange, result)
        self.writer.end_exchange(exchange, state)
        if state == "not_processed":
            self._refused(waiting, exchange, result)
            return
        if state != "unknown":
            self._pace.answered()
        if state == "malformed" and waiting.malformed < self.policy.retry_malformed:
            waiting.malformed += 1
            self._put_back(waiting, 0.0, f"response {waiting.malformed} was malformed ({exchange.message})")
        elif state == "unknown" and self._safe and waiting.refusals < self.policy.retries:
            waiting.refusals += 1
            self._put_back(waiting, min(30.0, 0.25 * 2.0**waiting.refusals), f"attempt {waiting.refusals} was lost ({result.message})")
        else:
            self._end(waiting, answer, {"ok": "ok", "unknown": "unknown"}.get(state, "error"), exchange.message, result.fault)

    def _read(self, waiting: Waiting, exchange: ExchangeRow, result: Exchange) -> tuple[Answer | None, str]:
        """The answer if there is one, and the exchange's state."""
        if result.verdict == "lost":
            return None, "unknown"
        if result.cause == "refused" and (result.http_status == 401 or not self._answers):
            return None, "not_processed"
        if result.verdict != "ok":
            return None, result.verdict
        answer = read_response(self._wire, self._budget, waiting.ask, exchange, result.raw or b"")
        if answer is None:
            return None, "malformed"
        self._see_model(answer.model)
        return answer, "ok"

    def _end(self, waiting: Waiting, answer: Answer | None, state: str, message: str | None, fault: str | None = None) -> None:
        """The end of a slot: give it to the parent's program."""
        self._parents.set_state(waiting.row, state)
        if answer is not None:
            self._failures = 0
            self._answers += 1
            self._parents.answered(waiting, Reply(answer))
            return
        self._failures += 1
        if (fault or message) not in self.tally.failures:  # the exchanges keep every message; a fault that comes again is no news
            self.tally.failures[fault or message] = message
            self.writer.event("warning", f"{waiting.row.slot}: {state}: {message}")
        self._parents.answered(waiting, Reply.failed(state, message))
        if 0 < self.policy.stop_after_errors <= self._failures and not self.stopping:
            self._halt(f"{self._failures} requests in a row ended in error or unknown, the last with: {message}")

    def _refused(self, waiting: Waiting, exchange: ExchangeRow, result: Exchange) -> None:
        """Not processed: it may leave again, unless that has been tried often enough."""
        now = time.monotonic()
        if result.cause in ("quota", "refused"):
            self._put_back(waiting, 0.0, None)
            if not self.stopping:
                what = "the provider's quota is used up" if result.cause == "quota" else "the server refuses the key or its use"
                self._halt(f"{what} ({result.message})")
            return
        unreached = result.cause == "connect"
        wait = self._pace.unreachable(now) if unreached else self._pace.busy(now, result.wait)
        if waiting.refusals >= self.policy.retries and (not unreached or not self.policy.retries):
            exchange.message = f"gave up after {waiting.refusals + 1} attempts: {result.message}"
            self._end(waiting, None, "error", exchange.message)
            return
        waiting.refusals += not unreached
        self._put_back(waiting, wait, f"not processed ({result.message})")
        away = self._pace.given_up(now)
        if away is not None and not self.stopping:
            self._halt(f"the server has been out of reach for {away:.0f} s ({result.message})")
        elif wait > LONGEST_PAUSE and not self.stopping:
            self._halt(f"the server asks for a pause of {wait:.0f} s")
        elif wait > RETRY_CAP:
            self.writer.event("warning", f"the server asks for a pause of {wait:.0f} s: nothing leaves before that")

    def _put_back(self, waiting: Waiting, wait: float, why: str | None) -> None:
        """Put a request back to be sent once more, never sooner than asked."""
        waiting.row.exchange = None
        self._parents.set_state(waiting.row, "planned")
        if why is not None:
            self.writer.event("info", f"{waiting.row.slot}: {why}; again in {wait:.1f} s")
        self._queue.push(waiting, time.monotonic() + wait if wait > 0 else None)

    def _see_model(self, model: str | None) -> None:
        """A second returned model id is marked, and stops the run unless the policy says otherwise."""
        seen = self.writer.models
        if model is None or not seen:
            return
        first = next(iter(seen))
        if model not in seen:
            self.writer.event("warning", f"the server now answers as {model!r}, not as {first!r}")
        if model != first and self.policy.on_model_change == "stop" and not self.stopping:
            self._halt(f"the server answers as {model!r} after {first!r}; --on-model-change mark goes on and marks them")

    # --- time and stopping --------------------------------------------------------------------------------------

    def _halt(self, reason: str) -> None:
        """An orderly stop that the runner decides: nothing new leaves; see `stop` for what is under way."""
        self.reason = reason
        self.stopping = max(1, self.stopping)
        self.writer.event("warning", f"stopping: {reason}")

    def _follow_control(self) -> None:
        command = None if self._control is None else self._control.command(time.monotonic())
        if command is None:
            return
        if command.startswith("?"):
            self.writer.event("warning", command[1:])
        elif command == "stop":
            self._halt("stopped by c2s stop")
        elif (command == "pause") != self._paused:
            self._paused = command == "pause"
            self.writer.event("info", "paused by c2s pause" if self._paused else "continued by c2s go")
            self.writer.note("phase", "paused" if self._paused else "")

    def _wait(self) -> float:
        """How long to wait for results before looking around again."""
        if self._paused or self.stopping:
            return LOOK_SECONDS
        now = time.monotonic()
        times = [self._queue.next_wake()]
        if self._queue.first() is not None and self._workers.idle:
            times.append(self._pace.due())
        soonest = min((t for t in times if t is not None), default=now + LOOK_SECONDS)
        return min(LOOK_SECONDS, max(0.0005, soonest - now))

    def _phase(self) -> str:
        held = self._pace.held_until - time.monotonic()
        return "paused" if self._paused else "stopping" if self.stopping else f"waiting {held:.0f} s" if held > 2 else ""

    def _tick(self, final: bool = False) -> None:
        """Commit when it is time (for a paid backend: whenever an answer waits) and show how things are."""
        if self.writer.dirty and (not self._safe or time.monotonic() - self._committed >= COMMIT_SECONDS):
            self._commit()
        if self.watch is not None:
            if not final:
                self.tally.phase = self._phase()
            self.tally.usd = self.writer.spend.usd
            self.watch(self.tally, final)

    def _commit(self) -> None:
        self.writer.commit()
        self._committed = time.monotonic()

    def _abandon(self) -> None:
        """What is still under way when the runner gives up."""
        for waiting, exchange in self._under_way.values():
            self.tally.states[waiting.row.state] -= 1
            self._mark_lost(waiting.row, exchange, "given up when the run was stopped")
            self.tally.states[waiting.row.state] += 1
        self._under_way.clear()

    def _rescue(self) -> None:
        """After a failure (of the ledger, of a request, of an arm): wait for what is under way and paid for, give up what is free, commit.
        Where this fails, requests under way are `sent` in the ledger and will be unknown: none is lost.
        """
        self.stopping = max(1, self.stopping)
        while self._under_way and self.stopping < 2 and not self._safe:
            self._results.extend(self._workers.results(LOOK_SECONDS))
            while self._results:
                try:
                    self._take(*self._results.popleft())
                except (Exception, SystemExit):
                    continue  # its exchange is noted; what should follow from it will follow on resume
        with suppress(LedgerError):  # the first error is raised; it says what to do
            self._abandon()
            self.writer.commit()
