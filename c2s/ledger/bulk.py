"""Whole tables of a ledger as columns, in the order of the plan: {name: values}.

Every function takes a reader's connection. Integers that stand for true and false are 0, 1 or None.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

Values = dict[str, list[Any]]

ITEMS = ("panel", "parent", "domain", "length", "pair", "transition", "closed", "payload", "addition")
OUTCOMES = (
    "panel", "parent", "domain", "length", "pair", "arm", "replicate", "turn", "status", "output", "correct", "fidelity", "kind",
    "first_wrong", "min_confidence", "reason", "detail",
)  # fmt: skip
STEPS = ("panel", "parent", "arm", "replicate", "turn", "step", "state", "exchange", "shared", "sends")
EXCHANGES = (
    "exchange", "panel", "parent", "arm", "replicate", "turn", "step", "attempt", "state", "sent_at", "done_at", "http_status", "model",
    "input_tokens", "output_tokens", "reserved_usd", "cost_usd", "message", "origin", "response_id", "system_fingerprint", "endpoint",
    "body_sha256",
)  # fmt: skip
BODIES = ("request", "response")


def items(db: sqlite3.Connection) -> Values:
    """Parents with their frozen payloads, as JSON text, and what was added to them since (None where nothing was)."""
    return _columns(
        db,
        ITEMS,
        "SELECT panel, p.parent, domain, length, pair, transition, closed, CAST(payload AS TEXT), CAST(addition AS TEXT) FROM parents p"
        " JOIN items i ON i.id = p.item LEFT JOIN prepared a ON a.parent = p.id ORDER BY p.id",
    )


def outcomes(db: sqlite3.Connection) -> Values:
    """Outcomes with the parents they belong to; `detail` is JSON text."""
    return _columns(
        db,
        OUTCOMES,
        "SELECT panel, p.parent, domain, length, pair, arm, replicate, turn, status, output, correct, fidelity, kind, first_wrong,"
        " min_confidence, reason, detail FROM outcomes o JOIN parents p ON p.id = o.parent ORDER BY o.parent, arm, replicate, turn",
    )


def steps(db: sqlite3.Connection) -> Values:
    """Planned requests with their state, the deciding exchange, whether they receive another's response, and how often they were sent."""
    return _columns(
        db,
        STEPS,
        "SELECT panel, p.parent, arm, replicate, turn, step, state, exchange, share_of IS NOT NULL,"
        " (SELECT count(*) FROM exchanges e WHERE e.slot = s.id) FROM slots s JOIN parents p ON p.id = s.parent ORDER BY s.id",
    )


def exchanges(db: sqlite3.Connection, *, bodies: bool) -> Values:
    """Sends in the order in which they left; with `bodies`, the bytes of request and response too."""
    names = EXCHANGES + (BODIES if bodies else ())
    own = {"exchange": "e.id", "parent": "p.parent", "state": "e.state"}
    selected = ", ".join(own.get(name, name) for name in names)
    return _columns(
        db,
        names,
        f"SELECT {selected} FROM exchanges e JOIN slots s ON s.id = e.slot JOIN parents p ON p.id = s.parent ORDER BY e.id",
    )


def traces(db: sqlite3.Connection) -> Iterator[tuple[str, str, str, int, int, dict[str, Any]]]:
    """(panel, parent, arm, replicate, turn, detail) of every outcome."""
    rows = db.execute("SELECT panel, p.parent, arm, replicate, turn, detail FROM outcomes o JOIN parents p ON p.id = o.parent")
    for panel, parent, arm, replicate, turn, detail in rows:
        yield panel, parent, arm, replicate, turn, orjson.loads(detail)


def _columns(db: sqlite3.Connection, names: Sequence[str], query: str) -> Values:
    rows = db.execute(query).fetchall()
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True) if rows else ([] for _ in names), strict=True)}
