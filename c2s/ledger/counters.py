"""Counters: how many slots, outcomes and transitions there are by panel, domain, length and arm.

The writer keeps them, verify counts them again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from c2s.ledger.schema import SLOT_STATES

if TYPE_CHECKING:
    from c2s.records import Outcome, Transition

CounterKey = tuple[str, str, int, str, str]
"""(panel, domain, length, arm, key); the arm is empty for a transition."""

_TRANSITION = "transition:"


def transition_counter(transition: Transition) -> str:
    """The key of the counter of a transition."""
    return _TRANSITION + transition


@dataclass(frozen=True, slots=True)
class Count:
    """One counter: `key` is a slot state, `outcome:...` or (with an empty arm) `transition:...`."""

    panel: str
    domain: str
    length: int
    arm: str
    key: str
    n: int

    @property
    def transition(self) -> Transition | None:
        """The transition that it counts, if it counts one."""
        return cast("Transition", self.key.removeprefix(_TRANSITION)) if self.key.startswith(_TRANSITION) else None

    @property
    def state(self) -> str | None:
        """The state of slots that it counts, if it counts slots."""
        return self.key if self.key in SLOT_STATES else None


def outcome_counter(outcome: Outcome) -> str:
    """`outcome:` with `correct`, `wrong`, `unscored` (defined, but its endpoint is another one) or `undefined`: the key of its counter."""
    if outcome.status != "ok":
        return "outcome:undefined"
    return "outcome:unscored" if outcome.correct is None else "outcome:correct" if outcome.correct else "outcome:wrong"


def write_counters(db: sqlite3.Connection, deltas: Mapping[CounterKey, int]) -> None:
    db.executemany(
        "INSERT INTO counters VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
        [(*key, n) for key, n in deltas.items() if n],
    )


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


def run_state(running: bool, failure: str | None, requests: Mapping[str, int]) -> str:
    """`running`, `failed`, `done` or `interrupted`; `requests` as `requests_by_state` gives them."""
    return "running" if running else "failed" if failure else "done" if not requests["open"] else "interrupted"
