"""What a run notes about itself: single values (why it stopped, what it has spent) and events."""

from __future__ import annotations

import sqlite3


def run_values(db: sqlite3.Connection) -> dict[str, str]:
    """Everything in the run table."""
    return dict(db.execute("SELECT key, value FROM run"))


def events(db: sqlite3.Connection, last: int = 20) -> list[tuple[float, str, str]]:
    """The latest events (time, level, message), oldest first."""
    rows = db.execute("SELECT at, level, message FROM events ORDER BY id DESC LIMIT ?", (last,)).fetchall()
    return rows[::-1]
