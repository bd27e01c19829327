"""`--retry-errors` and `--replay-unknown`: put slots back to planned before an ordinary resume, as one transaction.

The old exchanges stay in the ledger, and what they cost stays counted.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Sequence

from c2s.ledger import reader, sqlite
from c2s.ledger.writer import LedgerWriter, outcome_key, write_counters
from c2s.panels.base import Panel


def replan(writer: LedgerWriter, panels: Sequence[Panel], *, errors: bool, unknown: bool) -> int:
    """Reopen every slot in the named states, the slots they blocked, and the arms that needed them; returns how many will be sent again."""
    db = writer.connection
    states = [state for state, wanted in (("error", errors), ("unknown", unknown)) if wanted]
    marks = ", ".join("?" * len(states))
    arms = {panel.name: panel.arms for panel in panels}
    touched: set[str] = set()
    again = 0
    with sqlite.translated(writer.path):
        numbers = [n for (n,) in db.execute(f"SELECT DISTINCT parent FROM slots WHERE state IN ({marks}) ORDER BY parent", states)]
        db.execute("BEGIN IMMEDIATE")
        deltas: Counter[tuple[str, str, int, str, str]] = Counter()
        for number in numbers:
            parent = reader.parent(db, number)
            touched.add(parent.panel)
            place = (parent.panel, parent.parent.domain, parent.parent.length)
            slots = reader.slots_of(db, parent).values()
            reopened = {s.slot.arm for s in slots if s.state in states}
            for arm in arms[parent.panel]:  # declared in an order in which needs come first
                if reopened & set(arm.needs):
                    reopened.add(arm.name)
            for s in slots:
                if s.slot.arm in reopened and s.state in (*states, "blocked", "not_needed"):
                    again += s.state in states and s.share_of is None
                    deltas[*place, s.slot.arm, s.state] -= 1
                    deltas[*place, s.slot.arm, "planned"] += 1
                    db.execute("UPDATE slots SET state = 'planned', exchange = NULL WHERE id = ?", (s.id,))
            for outcome in reader.outcomes_of(db, number):
                if outcome.arm in reopened:
                    deltas[*place, outcome.arm, f"outcome:{outcome_key(outcome)}"] -= 1
                    db.execute("DELETE FROM outcomes WHERE (parent, arm, replicate, turn) = (?, ?, ?, ?)", (number, *outcome.key))
            (transition,) = db.execute("SELECT transition FROM parents WHERE id = ?", (number,)).fetchone()
            if transition is not None:
                deltas[*place, "", f"transition:{transition}"] -= 1
            db.execute("UPDATE parents SET closed = 0, transition = NULL WHERE id = ?", (number,))
        for panel in panels:
            if panel.prepare is not None and touched & set(panel.uses):
                _unprepare(db, panel.name, deltas)
        write_counters(db, deltas)
        db.execute(
            "INSERT INTO events (at, level, message) VALUES (?, 'warning', ?)",
            (
                time.time(),
                f"{again} requests in state {' or '.join(states)} were put back to be sent again",
            ),
        )
        db.execute("COMMIT")
    return again


def _unprepare(db: sqlite3.Connection, panel: str, deltas: Counter[tuple[str, str, int, str, str]]) -> None:
    """Let parents of a prepared panel be prepared again, from the answers to come, where nothing was asked about them yet, or where all
    that was prepared is which arms are skipped: that changes no request of the others.

    The rest keep what was prepared: it follows from answers that stay.
    """
    additions = reader.additions(db, panel)
    for number in [n for (n,) in db.execute("SELECT id FROM parents WHERE panel = ?", (panel,)).fetchall()]:
        parent = reader.parent(db, number)
        place = (panel, parent.parent.domain, parent.parent.length)
        slots = list(reader.slots_of(db, parent).values())
        asked = {(s.slot.arm, s.slot.replicate, s.slot.turn) for s in slots if s.exchange is not None}
        if asked and not set(additions.get(parent.parent.id, {})) <= {"skip"}:
            continue
        for s in slots:
            if (s.slot.arm, s.slot.replicate, s.slot.turn) not in asked and s.state != "planned":
                deltas[*place, s.slot.arm, s.state] -= 1
                deltas[*place, s.slot.arm, "planned"] += 1
                db.execute("UPDATE slots SET state = 'planned' WHERE id = ?", (s.id,))
        for outcome in reader.outcomes_of(db, number):
            if outcome.key not in asked:
                deltas[*place, outcome.arm, f"outcome:{outcome_key(outcome)}"] -= 1
                db.execute("DELETE FROM outcomes WHERE (parent, arm, replicate, turn) = (?, ?, ?, ?)", (number, *outcome.key))
        (transition,) = db.execute("SELECT transition FROM parents WHERE id = ?", (number,)).fetchone()
        if transition is not None:
            deltas[*place, "", f"transition:{transition}"] -= 1
        db.execute("DELETE FROM prepared WHERE parent = ?", (number,))
        db.execute("UPDATE parents SET closed = 0, transition = NULL WHERE id = ?", (number,))
