"""Reading a ledger: the plan, its state and its outcomes. Counts are in `counters`, bodies in `exchanges`.

Every function takes a connection (`sqlite.reading`), so the runner, the reports, verify and the terminal UI share them.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from c2s.controllers.arm_factors import Factors
from c2s.errors import LedgerError
from c2s.ledger.rows import ParentRow, SlotRow
from c2s.records import Outcome, Parent, Slot

# --- parents and arms ---------------------------------------------------------------------------------------------

_PARENT = (
    "SELECT p.id, panel, p.parent, domain, length, pair, closed, transition, payload, addition"
    " FROM parents p JOIN items i ON i.id = p.item LEFT JOIN prepared a ON a.parent = p.id"
)


def parents(db: sqlite3.Connection, panel: str | None = None) -> Iterator[ParentRow]:
    """Parents in the order of the plan, with their frozen items and what was added to them since."""
    for row in db.execute(f"{_PARENT} WHERE ? IS NULL OR panel = ? ORDER BY p.id", (panel, panel)):
        yield _parent(row)


def parent(db: sqlite3.Connection, number: int) -> ParentRow:
    """One parent by its number in the ledger. Raises LedgerError where there is none."""
    row = db.execute(f"{_PARENT} WHERE p.id = ?", (number,)).fetchone()
    if row is None:
        raise LedgerError(f"the ledger has no parent {number}")
    return _parent(row)


def _parent(row: tuple[Any, ...]) -> ParentRow:
    number, panel, name, domain, length, pair, closed, transition, payload, addition = row
    frozen = Parent(name, domain, length, orjson.loads(payload), pair)
    if addition is None:
        return ParentRow(number, panel, frozen, bool(closed), transition)
    prepared = replace(frozen, payload={**frozen.payload, **orjson.loads(addition)})
    return ParentRow(number, panel, prepared, bool(closed), transition, frozen=frozen)


def open_parents(db: sqlite3.Connection) -> dict[str, int]:
    """{panel: how many of its parents are not closed}; panels without any are left out."""
    return dict(db.execute("SELECT panel, count(*) FROM parents WHERE closed = 0 GROUP BY panel").fetchall())


def additions(db: sqlite3.Connection, panel: str) -> dict[str, dict[str, Any]]:
    """{parent: addition} of a panel's prepared parents; empty where it was not prepared yet."""
    rows = db.execute("SELECT p.parent, addition FROM prepared a JOIN parents p ON p.id = a.parent WHERE panel = ?", (panel,))
    return {name: orjson.loads(addition) for name, addition in rows}


def arms(db: sqlite3.Connection) -> dict[tuple[str, str], Factors]:
    """{(panel, arm): its factors}, in the order of declaration; empty factors where schema 1 recorded the run."""
    rows = db.execute("SELECT panel, arm, factors FROM arms ORDER BY ordinal")
    return {(panel, arm): orjson.loads(factors) for panel, arm, factors in rows}


# --- slots ----------------------------------------------------------------------------------------------------------

_SLOT = "p.panel, p.parent, s.arm, s.replicate, s.step, s.turn"


@dataclass(frozen=True, slots=True)
class OpenSlot:
    """A slot that is still to be asked; `slot` is None for an open parent that has none left."""

    parent: int
    panel: str
    name: str
    slot: Slot | None


def slots_of(db: sqlite3.Connection, parent: ParentRow) -> dict[Slot, SlotRow]:
    """The slots of one parent with the number of sends each has had."""
    rows = db.execute(
        f"SELECT {_SLOT}, s.id, s.state, s.exchange, (SELECT count(*) FROM exchanges e WHERE e.slot = s.id), s.share_of"
        " FROM slots s JOIN parents p ON p.id = s.parent WHERE s.parent = ? ORDER BY s.id",
        (parent.id,),
    )
    found = {}
    for *identity, number, state, exchange, attempts, share_of in rows:
        slot = Slot(*identity)
        found[slot] = SlotRow(number, slot, parent, state, exchange, attempts, share_of)
    return found


def slot(db: sqlite3.Connection, number: int) -> Slot | None:
    """A slot by its number in the ledger."""
    row = db.execute(f"SELECT {_SLOT} FROM slots s JOIN parents p ON p.id = s.parent WHERE s.id = ?", (number,)).fetchone()
    return None if row is None else Slot(*row)


def open_slots(db: sqlite3.Connection) -> Iterator[OpenSlot]:
    """The planned slots of every parent that is not closed."""
    rows = db.execute(
        f"SELECT p.id, {_SLOT} FROM parents p LEFT JOIN slots s ON s.parent = p.id AND s.state = 'planned' WHERE p.closed = 0"
    )
    for number, *identity in rows:
        yield OpenSlot(number, identity[0], identity[1], None if identity[2] is None else Slot(*identity))


def shared(db: sqlite3.Connection, panel: str) -> list[tuple[Slot, Slot]]:
    """(receiving slot, the slot whose response it receives) of a panel, in the order of the plan."""
    rows = db.execute(
        f"SELECT {_SLOT}, q.panel, q.parent, o.arm, o.replicate, o.step, o.turn FROM slots s"
        " JOIN slots o ON o.id = s.share_of JOIN parents p ON p.id = s.parent JOIN parents q ON q.id = o.parent WHERE p.panel = ? ORDER "
        "BY s.id",
        (panel,),
    )
    return [(Slot(*row[:6]), Slot(*row[6:])) for row in rows]


def sharing_slots(db: sqlite3.Connection) -> set[int]:
    """Numbers of the slots whose response others receive too."""
    return {n for (n,) in db.execute("SELECT DISTINCT share_of FROM slots WHERE share_of IS NOT NULL")}


def end_of(db: sqlite3.Connection, number: int) -> tuple[str, int | None]:
    """(state, deciding exchange) of a slot by its number."""
    state, exchange = db.execute("SELECT state, exchange FROM slots WHERE id = ?", (number,)).fetchone()
    return state, exchange


def answer_to(db: sqlite3.Connection, slot: Slot) -> int | None:
    """The exchange that answered this slot, where its state is ok."""
    row = db.execute(
        "SELECT exchange FROM slots WHERE parent = (SELECT id FROM parents WHERE panel = ? AND parent = ?)"
        " AND arm = ? AND replicate = ? AND step = ? AND turn = ? AND state = 'ok'",
        slot,
    ).fetchone()
    return None if row is None else row[0]


# --- outcomes -------------------------------------------------------------------------------------------------------


def outcomes(db: sqlite3.Connection, panel: str) -> Iterator[tuple[int, Outcome]]:
    """(parent's number in the ledger, outcome) of a panel, in the order of the plan."""
    return _outcomes(db, "JOIN parents p ON p.id = o.parent WHERE p.panel = ?", (panel,))


def outcomes_of(db: sqlite3.Connection, parent: int) -> list[Outcome]:
    """The outcomes of one parent by its number in the ledger."""
    return [outcome for _, outcome in _outcomes(db, "WHERE o.parent = ?", (parent,))]


def outcomes_by_parent(db: sqlite3.Connection, panel: str) -> Mapping[str, list[Outcome]]:
    """{parent: its outcomes} of a panel, parents in the order of the plan."""
    by_number: dict[int, list[Outcome]] = defaultdict(list)
    for number, outcome in outcomes(db, panel):
        by_number[number].append(outcome)
    names = db.execute("SELECT id, parent FROM parents WHERE panel = ? ORDER BY id", (panel,))
    return {name: by_number[number] for number, name in names}


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
                arm=arm,
                replicate=replicate,
                turn=turn,
                status=status,
                output=output,
                correct=None if correct is None else bool(correct),
                fidelity=None if fidelity is None else bool(fidelity),
                kind=kind,
                first_wrong=first_wrong,
                min_confidence=min_confidence,
                reason=reason,
                detail=orjson.loads(detail),
            ),
        )
