"""What a run notes about itself: single values (why it stopped, what it has spent) and events."""

from __future__ import annotations

import sqlite3

ALTERED = "the manifest is not the one that the ledger was planned with"
"""What is said of a run whose manifest was edited."""


def run_values(db: sqlite3.Connection) -> dict[str, str]:
    """Everything in the run table."""
    return dict(db.execute("SELECT key, value FROM run"))


def planned_with(values: dict[str, str], manifest_sha256: str) -> bool:
    """Whether the manifest with this hash is the one that the ledger was planned with; `values` are those of the run table."""
    return values.get("manifest_sha256") == manifest_sha256


def events(db: sqlite3.Connection, last: int = 20) -> list[tuple[float, str, str]]:
    """The latest events (time, level, message), oldest first."""
    rows = db.execute("SELECT at, level, message FROM events ORDER BY id DESC LIMIT ?", (last,)).fetchall()
    return rows[::-1]
