"""Following one run: every look returns a complete picture and costs what has changed since the last one."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from c2s.backends.abilities import is_simulation
from c2s.errors import LedgerError
from c2s.ledger import exchanges, journal
from c2s.ledger.counters import Count, counts, requests_by_state
from c2s.ledger.schema import SLOT_STATES
from c2s.ledger.totals import Spend, from_run
from c2s_tui.data.joint import JointMeter, JointRow
from c2s_tui.data.pace import Pace, PaceMeter
from c2s_tui.data.plan import Plan, read_plan
from c2s_tui.data.source import Source
from c2s_tui.data.state import RunState, state_of


@dataclass(frozen=True, slots=True)
class Cell:
    """Slots and outcomes of one panel, domain and arm."""

    panel: str
    domain: str
    arm: str
    slots: int
    ok: int
    error: int
    unknown: int
    blocked: int
    not_needed: int
    sent: int
    correct: int
    wrong: int
    undefined: int

    @property
    def settled(self) -> int:
        return self.ok + self.error + self.unknown + self.blocked + self.not_needed


@dataclass(frozen=True, slots=True)
class InFlight:
    """Requests under way; the slot and the sending time of the oldest."""

    count: int = 0
    slot: str | None = None
    sent_at: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    at: float
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Picture:
    """One run at one moment."""

    path: str
    model: str
    panels: tuple[str, ...]
    simulation: bool
    state: RunState
    requests: dict[str, int]
    cells: tuple[Cell, ...]
    joint: tuple[JointRow, ...]
    pace: Pace
    spend: Spend
    cap_usd: float | None
    in_flight: InFlight
    retries: int
    events: tuple[Event, ...]
    written: float | None
    looked_at: float
    missing: tuple[str, ...] = ()
    """Sentences that name panels, sources and models of the run that are not installed here."""

    @property
    def settled(self) -> int:
        return self.requests["planned"] - self.requests["open"]

    @property
    def share(self) -> float:
        return self.settled / self.requests["planned"] if self.requests["planned"] else 0.0

    @property
    def due(self) -> bool:
        """Whether a slow look would show more."""
        return any(row.due for row in self.joint)

    @property
    def eta(self) -> float | None:
        """Seconds until the last request, at the present rate."""
        if not self.state.live or not self.pace.now:
            return None
        return self.requests["open"] / self.pace.now

    @property
    def transitions(self) -> int:
        """Grows with every parent that closes: what tells the item list that there is something new."""
        return sum(row.prefix for row in self.joint)


class Follower:
    """Looks at one run again and again. Several threads may ask; they wait for each other."""

    EVENTS = 100

    def __init__(self, source: Source, clock: Callable[[], float] = time.time) -> None:
        self.source, self.clock = source, clock
        self.plan: Plan | None = None
        self._run_id: str | None = None
        self._joint: JointMeter | None = None
        self._missing: tuple[str, ...] = ()
        self._pace = PaceMeter()
        self._lock = threading.Lock()

    def known_plan(self) -> Plan:
        """The plan, which the first look reads. Raises LedgerError."""
        if self.plan is None:
            self.look()
        if self.plan is None:
            raise LedgerError(f"{self.source.path} was replaced while it was read; look again")
        return self.plan

    def look(self, *, slow: bool = False) -> Picture:
        """`slow`: also what takes a moment (`Picture.due`). Raises LedgerError where there is nothing to see (any more)."""
        with self._lock:
            return self._look(slow)

    def _look(self, slow: bool) -> Picture:
        manifest, digest = self.source.run.manifest()
        identity = manifest["identity"]
        if digest != self._run_id:
            self.plan, self._run_id = None, digest
            self._pace = PaceMeter()
        with self.source.read() as db:
            plan, joint = self.plan, self._joint
            if plan is None or joint is None:
                from c2s.planning.installed import lacking

                plan, self._missing = read_plan(db, identity["panels"]), tuple(lacking(manifest))
                self.plan, self._joint = plan, (joint := JointMeter(plan))
            counters = counts(db)
            requests = requests_by_state(counters)
            values = journal.run_values(db)
            state = state_of(self.source, values, requests)
            now = self.clock()
            return Picture(
                path=str(self.source.path),
                model=identity["model"],
                panels=tuple(identity["panels"]),
                simulation=is_simulation(identity),
                state=state,
                requests=requests,
                cells=_cells(plan, counters),
                joint=tuple(joint.look(db, counters, slow=slow)),
                pace=self._pace.look(db, now, live=state.live),
                spend=from_run(values),
                cap_usd=_cap(values, manifest),
                in_flight=_in_flight(db, requests["sent"]),
                retries=exchanges.retries(db),
                events=tuple(Event(*row) for row in journal.events(db, self.EVENTS)),
                written=self.source.written(),
                looked_at=now,
                missing=self._missing,
            )


def _cap(values: Mapping[str, str], manifest: Mapping[str, Any]) -> float | None:
    """The cap on this run in USD: as the runner noted it, else as the run was begun with."""
    if values.get("cap_usd"):
        return float(values["cap_usd"])
    return (manifest.get("provenance", {}).get("backend_options") or {}).get("cap")


def _cells(plan: Plan, counters: list[Count]) -> tuple[Cell, ...]:
    found: dict[tuple[str, str, str], dict[str, int]] = {}
    for c in counters:
        if c.arm:
            cell = found.setdefault((c.panel, c.domain, c.arm), {})
            cell[c.key] = cell.get(c.key, 0) + c.n
    rows = []
    for panel in plan.panels:
        for domain in plan.domains:
            for arm in plan.arms[panel]:
                n = found.get((panel, domain, arm))
                if n is not None:
                    rows.append(_cell(panel, domain, arm, n))
    return tuple(rows)


def _cell(panel: str, domain: str, arm: str, n: dict[str, int]) -> Cell:
    states = {key: n.get(key, 0) for key in ("ok", "error", "unknown", "blocked", "not_needed", "sent")}
    outcomes = {key: n.get(f"outcome:{key}", 0) for key in ("correct", "wrong", "undefined")}
    slots = sum(n.get(state, 0) for state in SLOT_STATES)
    return Cell(panel, domain, arm, slots, **states, **outcomes)


def _in_flight(db: sqlite3.Connection, sent: int) -> InFlight:
    oldest = exchanges.oldest_under_way(db)
    return InFlight(sent) if oldest is None else InFlight(sent, str(oldest[0]), oldest[1])
