"""Reading the sends of a run: bodies one at a time, times and costs without touching the bodies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from c2s.ledger.rows import EXCHANGE_COLUMNS, ExchangeRow
from c2s.ledger.totals import Sent
from c2s.records import Slot

_ALL = f"SELECT {', '.join(EXCHANGE_COLUMNS)} FROM exchanges"


def exchange(db: sqlite3.Connection, number: int) -> ExchangeRow:
    """One send, bodies included."""
    return ExchangeRow(**dict(zip(EXCHANGE_COLUMNS, db.execute(f"{_ALL} WHERE id = ?", (number,)).fetchone(), strict=True)))


def sends_of(db: sqlite3.Connection, slot: int) -> list[ExchangeRow]:
    """The sends of a slot by its number, first to last."""
    rows = db.execute(f"{_ALL} WHERE slot = ? ORDER BY attempt, id", (slot,)).fetchall()
    return [ExchangeRow(**dict(zip(EXCHANGE_COLUMNS, row, strict=True))) for row in rows]


def sends_for(db: sqlite3.Connection, slot: int) -> list[ExchangeRow]:
    """The sends that decided a slot: its own, or those of the slot whose response it receives."""
    (owner,) = db.execute("SELECT coalesce((SELECT share_of FROM slots WHERE id = ?), ?)", (slot, slot)).fetchone()
    return sends_of(db, owner)


def message_of(db: sqlite3.Connection, number: int) -> str | None:
    """What a send says of its trouble, without reading its bodies."""
    row = db.execute("SELECT message FROM exchanges WHERE id = ?", (number,)).fetchone()
    return None if row is None else row[0]


# --- under way ------------------------------------------------------------------------------------------------------


class UnderWay(NamedTuple):
    """A send without an end: its number, its slot's and its parent's."""

    exchange: int
    slot: int
    parent: int


def under_way(db: sqlite3.Connection) -> list[UnderWay]:
    """The sends that an earlier runner left without an end."""
    rows = db.execute("SELECT e.id, s.id, s.parent FROM exchanges e JOIN slots s ON s.id = e.slot WHERE e.state = 'sent'")
    return [UnderWay(*row) for row in rows.fetchall()]


def oldest_under_way(db: sqlite3.Connection) -> tuple[Slot, float] | None:
    """The slot that has waited longest for its answer, and since when (seconds since the epoch)."""
    row = db.execute(
        "SELECT p.panel, p.parent, s.arm, s.replicate, s.step, s.turn, e.sent_at FROM exchanges e JOIN slots s ON s.id = e.slot"
        " JOIN parents p ON p.id = s.parent WHERE e.state = 'sent' ORDER BY e.sent_at LIMIT 1"
    ).fetchone()
    return None if row is None else (Slot(*row[:6]), row[6])


# --- time -----------------------------------------------------------------------------------------------------------


def retries(db: sqlite3.Connection) -> int:
    """How many sends were not the first of their slot."""
    (n,) = db.execute("SELECT count(*) FROM exchanges WHERE attempt > 1").fetchone()
    return int(n)


def newest(db: sqlite3.Connection) -> int:
    """The number of the latest send, 0 without one. Numbers grow in the order of sending."""
    (n,) = db.execute("SELECT coalesce(max(id), 0) FROM exchanges").fetchone()
    return int(n)


def sent_at(db: sqlite3.Connection, number: int) -> float | None:
    """When a send left, seconds since the epoch; None where there is no such send."""
    row = db.execute("SELECT sent_at FROM exchanges WHERE id = ?", (number,)).fetchone()
    return None if row is None else row[0]


def sends_before(db: sqlite3.Connection, moment: float, latest: int) -> int:
    """How many of the first `latest` requests had left before a moment: a search in the numbers, twenty rows for a million."""
    low, high = 0, latest
    while low < high:
        middle = (low + high + 1) // 2
        row = db.execute("SELECT sent_at FROM exchanges WHERE id >= ? ORDER BY id LIMIT 1", (middle,)).fetchone()
        if row is None or row[0] >= moment:
            high = middle - 1
        else:
            low = middle
    return low


class FirstSend(NamedTuple):
    """When the request of a slot first left; `parent` is its parent's number in the ledger."""

    parent: int
    slot: Slot
    at: float


def first_sends(db: sqlite3.Connection, panel: str) -> list[FirstSend]:
    """The requests of a panel that were sent from here, in the order in which they first left."""
    rows = db.execute(
        "SELECT p.id, p.panel, p.parent, s.arm, s.replicate, s.step, s.turn, min(e.sent_at), min(e.id) FROM exchanges e"
        " JOIN slots s ON s.id = e.slot JOIN parents p ON p.id = s.parent WHERE p.panel = ? AND e.origin IS NULL GROUP BY s.id ORDER BY "
        "8, 9",
        (panel,),
    )
    return [FirstSend(number, Slot(*identity), at) for number, *identity, at, _ in rows]


# --- cost -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ArmCost:
    """What the answered requests of one arm cost, retries not counted.

    Each sum stands beside the number of answers that reported it; `forwards` counts passes of local weights, None where none were reported.
    `seconds` is the summed time from sending to answer.
    """

    panel: str
    domain: str
    arm: str
    requests: int
    request_bytes: int
    input_reported: int
    input_tokens: int | None
    output_reported: int
    output_tokens: int | None
    usd_reported: int
    usd: float | None
    seconds: float
    parents: int
    forwards: int | None


def cost_by_arm(db: sqlite3.Connection) -> list[ArmCost]:
    """One row a panel, domain and arm, sorted by these names."""
    rows = db.execute(
        "SELECT p.panel, p.domain, s.arm, count(*), sum(length(e.request)), count(e.input_tokens), sum(e.input_tokens),"
        " count(e.output_tokens), sum(e.output_tokens), count(e.cost_usd), sum(e.cost_usd), sum(e.done_at - e.sent_at),"
        " count(DISTINCT s.parent),"
        " sum(CASE WHEN instr(e.response, CAST('\"c2s\"' AS BLOB)) AND json_valid(CAST(e.response AS TEXT))"
        " THEN json_extract(CAST(e.response AS TEXT), '$.c2s.forwards') END)"
        " FROM slots s JOIN parents p ON p.id = s.parent JOIN exchanges e ON e.id = s.exchange"
        " WHERE s.state = 'ok' GROUP BY 1, 2, 3"
    )
    return [ArmCost(*row) for row in rows]


# --- checks ---------------------------------------------------------------------------------------------------------


def damage(db: sqlite3.Connection) -> str | None:
    """The first fault that SQLite finds in the file; None where it is sound."""
    (result,) = db.execute("PRAGMA quick_check(1)").fetchone()
    return None if result == "ok" else str(result)


def orphans(db: sqlite3.Connection) -> int:
    """Sends that belong to no slot."""
    (n,) = db.execute("SELECT count(*) FROM exchanges e LEFT JOIN slots s ON s.id = e.slot WHERE s.id IS NULL").fetchone()
    return int(n)


def unexplained(db: sqlite3.Connection) -> list[str]:
    """A sentence for each kind of entry that no run makes yet: observations, and parts and servers of a divided run."""
    queries = {
        "observations": "SELECT count(*) FROM observations",
        "slots with a shard": "SELECT count(*) FROM slots WHERE shard IS NOT NULL",
        "exchanges with a shard or an endpoint": "SELECT count(*) FROM exchanges WHERE shard IS NOT NULL OR endpoint IS NOT NULL",
    }
    counted = {what: db.execute(query).fetchone()[0] for what, query in queries.items()}
    return [f"the ledger has {n} {what}, which nothing writes" for what, n in counted.items() if n]


def repeated_attempts(db: sqlite3.Connection) -> int:
    """Attempts of a slot that are recorded more than once."""
    (n,) = db.execute("SELECT count(*) FROM (SELECT 1 FROM exchanges GROUP BY slot, attempt HAVING count(*) > 1)").fetchone()
    return int(n)


def weights(db: sqlite3.Connection) -> Iterator[tuple[Sent, str | None]]:
    """(what a send counts for in the totals, the model that answered) of every send."""
    columns = "state, origin, input_tokens, output_tokens, reserved_usd, cost_usd, model"
    for *counted, model in db.execute(f"SELECT {columns} FROM exchanges"):
        yield Sent(*counted), model
