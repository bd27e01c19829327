"""Reading a ledger. Every function takes a connection, so the runner, the reports, verify and the TUI share them.

Counts come from counters, results from outcome rows; bodies are read one exchange at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson

from c2s.ledger.schema import SLOT_STATES
from c2s.ledger.writer import EXCHANGE_COLUMNS, ExchangeRow, ParentRow, SlotRow
from c2s.records import Outcome, Parent, Slot


@dataclass(frozen=True, slots=True)
class Count:
    """One counter: `key` is a slot state, `outcome:...` or (with an empty arm) `transition:...`."""

    panel: str
    domain: str
    length: int
    arm: str
    key: str
    n: int


def run_values(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM run"))


def counts(db: sqlite3.Connection) -> list[Count]:
    rows = db.execute("SELECT panel, domain, length, arm, key, n FROM counters WHERE n <> 0 ORDER BY 1, 2, 3, 4, 5")
    return [Count(*row) for row in rows]


def requests_by_state(counters: list[Count], panel: str | None = None) -> dict[str, int]:
    """Slots by state, all states present, and `planned` as the number of all slots of the plan."""
    totals = dict.fromkeys(SLOT_STATES, 0)
    for count in counters:
        if count.key in totals and panel in (None, count.panel):
            totals[count.key] += count.n
    return totals | {"planned": sum(totals.values()), "open": totals["planned"] + totals["reserved"] + totals["sent"]}


def run_state(running: bool, failure: str | None, requests: dict[str, int]) -> str:
    """`running`, `failed`, `done` or `interrupted`; `requests` as `requests_by_state` gives them."""
    return "running" if running else "failed" if failure else "done" if not requests["open"] else "interrupted"


_PARENT = (
    "SELECT p.id, panel, p.parent, domain, length, pair, closed, payload, addition"
    " FROM parents p JOIN items i ON i.id = p.item LEFT JOIN prepared a ON a.parent = p.id"
)


def parents(db: sqlite3.Connection, panel: str | None = None) -> Iterator[ParentRow]:
    """Parents in the order of the plan, with their frozen items and what was added to them since."""
    for row in db.execute(f"{_PARENT} WHERE ? IS NULL OR panel = ? ORDER BY p.id", (panel, panel)):
        yield _parent(row)


def parent(db: sqlite3.Connection, number: int) -> ParentRow:
    """One parent by its number in the ledger."""
    return _parent(db.execute(f"{_PARENT} WHERE p.id = ?", (number,)).fetchone())


def _parent(row: tuple) -> ParentRow:
    number, panel, name, domain, length, pair, closed, payload, addition = row
    parent = Parent(name, domain, length, orjson.loads(payload), pair)
    if addition is None:
        return ParentRow(number, panel, parent, bool(closed))
    prepared = replace(parent, payload={**parent.payload, **orjson.loads(addition)})
    return ParentRow(number, panel, prepared, bool(closed), frozen=parent)


def additions(db: sqlite3.Connection, panel: str) -> dict[str, dict[str, Any]]:
    """{parent: addition} of a panel's prepared parents; empty where it was not prepared yet."""
    rows = db.execute("SELECT p.parent, addition FROM prepared a JOIN parents p ON p.id = a.parent WHERE panel = ?", (panel,))
    return {name: orjson.loads(addition) for name, addition in rows}


def outcomes_by_parent(db: sqlite3.Connection, panel: str) -> dict[str, list[Outcome]]:
    """{parent: its outcomes} of a panel, parents in the order of the plan."""
    names = {number: name for number, name in db.execute("SELECT id, parent FROM parents WHERE panel = ? ORDER BY id", (panel,))}
    found: dict[str, list[Outcome]] = {name: [] for name in names.values()}
    for number, outcome in outcomes(db, panel):
        found[names[number]].append(outcome)
    return found


def slots_of(db: sqlite3.Connection, parent: ParentRow) -> dict[Slot, SlotRow]:
    """The slots of one parent with the number of sends each has had."""
    rows = db.execute(
        "SELECT s.id, arm, replicate, step, turn, state, exchange, (SELECT count(*) FROM exchanges e WHERE e.slot = s.id), share_of"
        " FROM slots s WHERE parent = ? ORDER BY s.id",
        (parent.id,),
    )
    result = {}
    for number, arm, replicate, step, turn, state, exchange, attempts, share_of in rows:
        slot = Slot(parent.panel, parent.parent.id, arm, replicate, step, turn)
        result[slot] = SlotRow(number, slot, parent, state, exchange, attempts, share_of)
    return result


def shared(db: sqlite3.Connection, panel: str) -> list[tuple[Slot, Slot]]:
    """(receiving slot, the slot whose response it receives) of a panel, in the order of the plan."""
    rows = db.execute(
        "SELECT p.panel, p.parent, s.arm, s.replicate, s.step, s.turn, q.panel, q.parent, o.arm, o.replicate, o.step, o.turn FROM slots s"
        " JOIN slots o ON o.id = s.share_of JOIN parents p ON p.id = s.parent JOIN parents q ON q.id = o.parent WHERE p.panel = ? ORDER BY s.id",
        (panel,),
    )
    return [(Slot(*row[:6]), Slot(*row[6:])) for row in rows]


def exchange(db: sqlite3.Connection, number: int) -> ExchangeRow:
    """One send, bodies included."""
    row = db.execute(f"SELECT {', '.join(EXCHANGE_COLUMNS)} FROM exchanges WHERE id = ?", (number,)).fetchone()
    return ExchangeRow(**dict(zip(EXCHANGE_COLUMNS, row)))


def outcomes_of(db: sqlite3.Connection, parent: int) -> list[Outcome]:
    return [outcome for _, outcome in _outcomes(db, "WHERE o.parent = ?", (parent,))]


def outcomes(db: sqlite3.Connection, panel: str) -> Iterator[tuple[int, Outcome]]:
    """(parent's ledger id, outcome) of a panel, in the order of the plan."""
    return _outcomes(db, "JOIN parents p ON p.id = o.parent WHERE p.panel = ?", (panel,))


def _outcomes(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> Iterator[tuple[int, Outcome]]:
    rows = db.execute(
        "SELECT o.parent, arm, replicate, turn, status, output, correct, fidelity, kind, first_wrong, min_confidence, reason, detail"
        f" FROM outcomes o {where} ORDER BY o.parent, arm, replicate, turn",
        values,
    )
    for parent, arm, replicate, turn, status, output, correct, fidelity, kind, first_wrong, min_confidence, reason, detail in rows:
        yield (
            parent,
            Outcome(
                arm,
                replicate,
                status,
                output,
                None if correct is None else bool(correct),
                None if fidelity is None else bool(fidelity),
                kind,
                first_wrong,
                min_confidence,
                reason,
                orjson.loads(detail),
                turn,
            ),
        )


def events(db: sqlite3.Connection, last: int = 20) -> list[tuple[float, str, str]]:
    """The latest events (time, level, message), oldest first."""
    rows = db.execute("SELECT at, level, message FROM events ORDER BY id DESC LIMIT ?", (last,)).fetchall()
    return rows[::-1]
