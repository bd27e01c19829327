"""The smallest pair of requests of the same content whose verdicts differ."""

from __future__ import annotations

import sqlite3

from c2s.ledger import reader
from c2s.ledger.exchanges import exchange
from c2s.ledger.rows import SlotRow
from c2s.panels.base import Panel
from c2s.records import Outcome, Slot
from c2s.reports.section import Row

Outcomes = dict[tuple[str, int], Outcome]


def smallest_pair(db: sqlite3.Connection, panel: Panel, contract: str) -> Row | None:
    """The pair under both orders of keys with the fewest bytes whose verdicts differ; one that repeats bear out goes before one that they
    do not. `repeated`: whether both verdicts came back on the repeats, None where there are none. None without such a pair."""
    partners = _partners(panel, contract)
    best: tuple[tuple[bool, int, str, str], Row] | None = None
    for row in reader.parents(db, panel.name):
        outcomes = {(o.arm, o.replicate): o for o in reader.outcomes_of(db, row.id) if o.status == "ok"}
        slots: dict[Slot, SlotRow] = {}
        for insertion, by_key, condition in partners:
            first, second = outcomes.get((insertion, 0)), outcomes.get((by_key, 0))
            if first is None or second is None or first.output == second.output:
                continue
            slots = slots or reader.slots_of(db, row)
            deciding = [slots[Slot(panel.name, row.parent.id, arm, 0, 1)].exchange for arm in (insertion, by_key)]
            requests = [exchange(db, number).request for number in deciding if number is not None]
            repeated = _repeated(outcomes, insertion, by_key)
            rank = (repeated is not True, sum(map(len, requests)), row.parent.id, condition)
            if best is None or rank < best[0]:
                best = (
                    rank,
                    {
                        "parent": row.parent.id,
                        "condition": condition,
                        "insertion": requests[0].decode(),
                        "insertion_verdict": first.output or "",
                        "sorted": requests[1].decode(),
                        "sorted_verdict": second.output or "",
                        "repeated": repeated,
                    },
                )
    return None if best is None else best[1]


def _partners(panel: Panel, contract: str) -> list[tuple[str, str, str]]:
    """(arm under insertion, arm under sorted keys, condition) of every condition of a grading rule."""
    found = []
    for arm in panel.arms_where(contract=contract, presentation="insertion"):
        condition = str(arm.factors["condition"])
        (other,) = panel.arms_where(contract=contract, presentation="sorted", condition=condition)
        found.append((arm.name, other.name, condition))
    return found


def _repeated(outcomes: Outcomes, first: str, second: str) -> bool | None:
    a, b = outcomes.get((first, 1)), outcomes.get((second, 1))
    if a is None or b is None:
        return None
    return (a.output, b.output) == (outcomes[first, 0].output, outcomes[second, 0].output)
