"""How a judge run was executed: its windows, its order, and whether conditions were mixed over time (judge paper, 4.3, A.4).

It reads the clock of the exchanges, which no report does: a report follows from outcomes alone.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from c2s.controllers.judge import CUES
from c2s.errors import UsageError
from c2s.ledger import sqlite
from c2s.ledger.counters import counts, requests_by_state
from c2s.ledger.directory import RunDirectory
from c2s.ledger.exchanges import FirstSend, first_sends
from c2s.panels.registry import panel
from c2s.reports.tables import Table
from c2s.runner.schedule import slot_key

QUARTILES = 4


@dataclass(frozen=True, slots=True)
class Stream:
    """The requests of one panel to one model, in the order in which they were first sent.

    `quartiles[cell]` counts a primary cell's requests in each quarter of the stream by number of calls; `moved` is the number of neighbours
    that left in another order than the schedule's (some do where several workers share it).
    """

    run: str
    panel: str
    model: str
    sent: int
    planned: int
    first: float
    last: float
    moved: int
    duplicates_first: int
    quartiles: Mapping[str, tuple[int, ...]]

    @property
    def mixed(self) -> bool:
        """Whether every primary cell occurs in every quartile."""
        return bool(self.quartiles) and all(all(counts) for counts in self.quartiles.values())


def execution(path: Path | str) -> list[Stream]:
    """One stream per judge panel of a run. UsageError where it has none, or has sent nothing yet."""
    run = RunDirectory.open(path)
    identity = run.manifest()[0]["identity"]
    found = []
    with sqlite.reading(run.ledger_path) as db:
        for place, name in enumerate(identity["panels"]):
            if not panel(name).schedule.startswith("hash:"):
                continue
            sends = first_sends(db, name)
            if sends:
                planned = requests_by_state(counts(db), name)["planned"]
                found.append(_stream(str(path), name, identity["model"], place, planned, sends))
    if not found:
        raise UsageError(f"{path} has sent no request of a judge panel")
    return found


def _stream(run: str, name: str, model: str, place: int, planned: int, sends: Sequence[FirstSend]) -> Stream:
    keys = [slot_key(panel(name).schedule, place, send.parent, send.slot) for send in sends]
    position = {send.slot: i for i, send in enumerate(sends)}
    early = sum(slot.replicate == 1 and i < position.get(slot._replace(replicate=0), -1) for slot, i in position.items())
    cells: dict[str, Counter[int]] = {}
    for slot, i in position.items():
        if slot.replicate == 0 and re.search(rf"\.({'|'.join(CUES)})$", slot.arm):
            cells.setdefault(slot.arm, Counter())[i * QUARTILES // len(sends)] += 1
    quartiles = {arm: tuple(counts[q] for q in range(QUARTILES)) for arm, counts in sorted(cells.items())}
    moved = sum(a > b for a, b in zip(keys, keys[1:]))
    return Stream(run, name, model, len(sends), planned, sends[0].at, max(send.at for send in sends), moved, early, quartiles)


def tables(streams: Sequence[Stream]) -> list[Table]:
    windows = [[s.panel, f"{s.sent}/{s.planned}", _clock(s.first), _clock(s.last), str(s.moved), str(s.duplicates_first)] for s in streams]
    notes = [
        "Times in UTC, of the first send of each request. Moved: neighbours that left against the schedule's order. Early repeats: "
        "duplicates that left before their primary, which stays the planned one."
    ]
    title = "When the requests left: " + ", ".join(dict.fromkeys(s.model for s in streams))
    found = [Table(title, ["panel", "sent", "first", "last", "moved", "early repeats"], windows, notes)]
    for s in streams:
        if s.quartiles:
            rows = [[arm, *map(str, counts)] for arm, counts in s.quartiles.items()]
            said = "Every primary cell occurs in every quartile." if s.mixed else "NOT MIXED: a primary cell is absent from a quartile."
            found.append(
                Table(f"{s.panel}, {s.model}: primary cells by quartile of calls", ["cell", "1st", "2nd", "3rd", "4th"], rows, [said])
            )
    return found


def _clock(seconds: float) -> str:
    return time.strftime("%m-%d %H:%M:%S", time.gmtime(seconds))
