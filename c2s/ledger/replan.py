"""`--retry-errors` and `--replay-unknown`: put slots back to planned before an ordinary resume, as one transaction.

The old exchanges stay in the ledger, and what they cost stays counted.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Sequence

from c2s.ledger import reader, sqlite
from c2s.ledger.counters import CounterKey, outcome_counter, transition_counter, write_counters
from c2s.ledger.rows import ParentRow, SlotRow
from c2s.ledger.writer import LedgerWriter
from c2s.panels.base import Panel
from c2s.records import Outcome


def replan(writer: LedgerWriter, panels: Sequence[Panel], *, errors: bool, unknown: bool) -> int:
    """Reopen every slot in the named states, the slots they blocked, and the arms that needed them; returns how many will be sent again."""
    states = [state for state, wanted in (("error", errors), ("unknown", unknown)) if wanted]
    with sqlite.translated(writer.path):
        return _Reopening(writer.connection).run(panels, states)


class _Reopening:
    """One transaction: `deltas` gathers what the counters change by."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.deltas: Counter[CounterKey] = Counter()

    def run(self, panels: Sequence[Panel], states: Sequence[str]) -> int:
        db, again, touched = self.db, 0, set()
        by_name = {panel.name: panel for panel in panels}
        db.execute("BEGIN IMMEDIATE")
        marks = ", ".join("?" * len(states))
        for (number,) in db.execute(f"SELECT DISTINCT parent FROM slots WHERE state IN ({marks}) ORDER BY parent", states).fetchall():
            row = reader.parent(db, number)
            touched.add(row.panel)
            slots = reader.slots_of(db, row).values()
            arms = {s.slot.arm for s in slots if s.state in states}
            for arm in by_name[row.panel].arms:  # declared in an order in which needs come first
                if arms & set(arm.needs):
                    arms.add(arm.name)
            reopened = [s for s in slots if s.slot.arm in arms and s.state in (*states, "blocked", "not_needed")]
            again += sum(s.state in states and s.share_of is None for s in reopened)
            self._reopen(row, reopened, [outcome for outcome in reader.outcomes_of(db, number) if outcome.arm in arms])
        for panel in panels:
            if panel.prepare is not None and touched & set(panel.uses):
                self._unprepare(panel.name)
        write_counters(db, self.deltas)
        message = f"{again} requests in state {' or '.join(states)} were put back to be sent again"
        db.execute("INSERT INTO events (at, level, message) VALUES (?, 'warning', ?)", (time.time(), message))
        db.execute("COMMIT")
        return again

    def _unprepare(self, panel: str) -> None:
        """Let parents of a prepared panel be prepared again, from the answers to come, where nothing was asked about them yet, or where all
        that was prepared is which arms are skipped: that changes no request of the others.

        The rest keep what was prepared: it follows from answers that stay.
        """
        prepared = reader.additions(self.db, panel)
        for row in list(reader.parents(self.db, panel)):
            slots = reader.slots_of(self.db, row).values()
            asked = {s.slot.outcome_key for s in slots if s.exchange is not None}
            if asked and not set(prepared.get(row.parent.id, {})) <= {"skip"}:
                continue
            reopened = [s for s in slots if s.slot.outcome_key not in asked and s.state != "planned"]
            self._reopen(row, reopened, [outcome for outcome in reader.outcomes_of(self.db, row.id) if outcome.key not in asked])
            self.db.execute("DELETE FROM prepared WHERE parent = ?", (row.id,))

    def _reopen(self, row: ParentRow, slots: Sequence[SlotRow], outcomes: Sequence[Outcome]) -> None:
        """Put these slots of one parent back to planned, take these of its outcomes back, and mark the parent open."""
        place = (row.panel, row.parent.domain, row.parent.length)
        for s in slots:
            self.deltas[*place, s.slot.arm, s.state] -= 1
            self.deltas[*place, s.slot.arm, "planned"] += 1
        self.db.executemany("UPDATE slots SET state = 'planned', exchange = NULL WHERE id = ?", [(s.id,) for s in slots])
        for outcome in outcomes:
            self.deltas[*place, outcome.arm, outcome_counter(outcome)] -= 1
            self.db.execute("DELETE FROM outcomes WHERE (parent, arm, replicate, turn) = (?, ?, ?, ?)", (row.id, *outcome.key))
        if row.transition is not None:
            self.deltas[*place, "", transition_counter(row.transition)] -= 1
        self.db.execute("UPDATE parents SET closed = 0, transition = NULL WHERE id = ?", (row.id,))
