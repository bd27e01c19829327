"""A new ledger: the whole plan, written beside its place and put there when it is complete."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from c2s.controllers.arm_factors import Factors
from c2s.ledger import sqlite
from c2s.ledger.counters import CounterKey, write_counters
from c2s.ledger.directory import RunDirectory, sync_folder
from c2s.records import Parent, Slot


@dataclass(frozen=True, slots=True)
class PlannedParent:
    """A parent of the plan with the slots that its arms may ask."""

    panel: str
    parent: Parent
    item_sha256: str
    payload: bytes
    slots: tuple[Slot, ...]
    shared: Mapping[Slot, Slot] = field(default_factory=dict)
    """Those of its slots that receive the response to an earlier slot of the plan."""


def create_ledger(
    run: RunDirectory,
    parents: Iterable[PlannedParent],
    values: Mapping[str, str],
    arms: Mapping[tuple[str, str], Factors],
) -> None:
    """Write the whole plan to a new ledger and put it in its place. Killed before that, the directory holds no ledger.

    `arms` are the factors of each (panel, arm), in the order in which the panels declare them.
    """
    temporary = run.ledger_path.with_name(run.ledger_path.name + ".tmp")
    with sqlite.translated(temporary):
        db = sqlite.create(temporary)
        counters: Counter[CounterKey] = Counter()
        items: dict[str, int] = {}
        shared: list[tuple[Slot, Slot]] = []
        db.execute("BEGIN")
        for number, planned in enumerate(parents, start=1):
            p = planned.parent
            item = items.setdefault(planned.item_sha256, len(items) + 1)
            if item == len(items):
                db.execute("INSERT OR IGNORE INTO items VALUES (?, ?, ?)", (item, planned.item_sha256, planned.payload))
            db.execute(
                "INSERT INTO parents (id, panel, parent, domain, length, pair, item) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (number, planned.panel, p.id, p.domain, p.length, p.pair, item),
            )
            db.executemany(
                "INSERT INTO slots (parent, arm, replicate, step, turn) VALUES (?, ?, ?, ?, ?)", [(number, *s[2:]) for s in planned.slots]
            )
            shared += [(owner, slot) for slot, owner in planned.shared.items()]
            counters.update((planned.panel, p.domain, p.length, slot.arm, "planned") for slot in planned.slots)
        number_of = (
            "SELECT s.id FROM slots s JOIN parents p ON p.id = s.parent"
            " WHERE (panel, p.parent, arm, replicate, step, turn) = (?, ?, ?, ?, ?, ?)"
        )
        db.executemany(f"UPDATE slots SET share_of = ({number_of}) WHERE id = ({number_of})", [(*owner, *slot) for owner, slot in shared])
        write_counters(db, counters)
        db.executemany(
            "INSERT INTO arms VALUES (?, ?, ?, ?)",
            [
                (panel, arm, place, orjson.dumps(dict(factors), option=orjson.OPT_SORT_KEYS).decode())
                for place, ((panel, arm), factors) in enumerate(arms.items())
            ],
        )
        db.executemany("INSERT INTO run VALUES (?, ?)", values.items())
        db.execute("COMMIT")
        db.close()
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, run.ledger_path)
    sync_folder(run.path)
