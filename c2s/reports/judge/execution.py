"""How a judge run was executed: its windows, its order, and whether conditions were mixed over time (judge paper, 4.3, A.4).

It reads the clock of the exchanges, which no report does: a report follows from outcomes alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from c2s.controllers.judge import CUES
from c2s.errors import UsageError
from c2s.ledger import sqlite
from c2s.ledger.counters import counts, requests_by_state
from c2s.ledger.directory import RunDirectory
from c2s.ledger.exchanges import FirstSend, first_sends
from c2s.panels.base import Panel
from c2s.panels.registry import PANELS
from c2s.reports.section import Column, Row, Section
from c2s.runner.schedule import slot_key

QUARTILES = 4
SOURCE = "judge paper, A.4"


def execution(paths: Sequence[Path | str]) -> list[Section]:
    """Two sections over the judge panels of some runs. UsageError for a run that has none, or that has sent nothing yet.

    `windows`: one row a panel: requests sent and planned, times of the first and last send (seconds since the epoch), `moved`, the number
    of neighbours that left in another order than the schedule's (some do where several workers share it), `repeats_first`, the repeats
    that left before their primary, and `mixed`, whether every primary cell occurs in every quartile (null without primary cells).
    `quartiles`: one row a primary cell: its requests in each quarter of the panel's sends, by number of calls.
    """
    windows: list[Row] = []
    cells: list[Row] = []
    for path in paths:
        found = _run(path)
        if not found:
            raise UsageError(f"{path} has sent no request of a judge panel")
        windows += [window for window, _ in found]
        cells += [cell for _, rows in found for cell in rows]
    return [_windows(windows), _quartiles(windows, cells)]


def _run(path: Path | str) -> list[tuple[Row, list[Row]]]:
    """(its window, its primary cells) of every judge panel of a run."""
    run = RunDirectory.open(path)
    identity = run.manifest()[0]["identity"]
    found = []
    with sqlite.reading(run.ledger_path) as db:
        for place, name in enumerate(identity["panels"]):
            panel = PANELS.get(name)
            if panel is None or not panel.schedule.startswith("hash:"):
                continue
            sends = first_sends(db, name)
            if sends:
                planned = requests_by_state(counts(db), name)["planned"]
                which = {"run": str(path), "panel": name, "model": identity["model"]}
                cells = _cells(panel, sends)
                window = which | _window(panel, place, sends) | {"sent_of": [len(sends), planned]}
                window["mixed"] = all(all(row["quartiles"]) for row in cells) if cells else None
                found.append((window, [which | cell for cell in cells]))
    return found


def _window(panel: Panel, place: int, sends: Sequence[FirstSend]) -> Row:
    keys = [slot_key(panel.schedule, place, send.parent, send.slot) for send in sends]
    position = {send.slot: i for i, send in enumerate(sends)}
    early = sum(slot.replicate == 1 and i < position.get(slot._replace(replicate=0), -1) for slot, i in position.items())
    moved = sum(a > b for a, b in pairwise(keys))
    return {"first": sends[0].at, "last": max(send.at for send in sends), "moved": moved, "repeats_first": early}


def _cells(panel: Panel, sends: Sequence[FirstSend]) -> list[Row]:
    """The primary cells: both cues under both orders of keys, planned replicate."""
    primary = {arm.name: arm.factors for arm in panel.arms if arm.factors.get("condition") in CUES and "presentation" in arm.factors}
    found: dict[str, Counter[int]] = {}
    for i, send in enumerate(sends):
        if send.slot.replicate == 0 and send.slot.arm in primary:
            found.setdefault(send.slot.arm, Counter())[i * QUARTILES // len(sends)] += 1
    return [{"cell": arm, "quartiles": [n[q] for q in range(QUARTILES)]} | _facts(primary[arm]) for arm, n in sorted(found.items())]


def _facts(factors: Any) -> Row:
    return {key: factors[key] for key in ("contract", "presentation", "condition")}


def _model(rows: Sequence[Row]) -> tuple[Column, ...]:
    """A column for the model, where there are several."""
    return (Column("model", "model"),) if len({row["model"] for row in rows}) > 1 else ()


def _windows(rows: list[Row]) -> Section:
    columns = (
        Column("panel", "panel"),
        *_model(rows),
        Column("sent_of", "sent", "of"),
        Column("first", "first", "time"),
        Column("last", "last", "time"),
        Column("moved", "moved", "int"),
        Column("repeats_first", "early repeats", "int"),
    )
    notes = [
        "Times in UTC, of the first send of each request. Moved: neighbours that left against the schedule's order. Early repeats: "
        "duplicates that left before their primary, which stays the planned one."
    ]
    title = "When the requests left: " + ", ".join(dict.fromkeys(row["model"] for row in rows))
    return Section("windows", title, SOURCE, columns, rows, notes)


def _quartiles(windows: Sequence[Row], rows: list[Row]) -> Section:
    columns = (
        Column("panel", "panel"),
        *_model(windows),
        Column("cell", "cell"),
        *(Column(f"quartiles.{q}", head, "int") for q, head in enumerate(("1st", "2nd", "3rd", "4th"))),
    )
    notes = []
    for window in windows:
        if window["mixed"] is not None:
            mixed = (
                "every primary cell occurs in every quartile."
                if window["mixed"]
                else "NOT MIXED: a primary cell is absent from a quartile."
            )
            notes.append(f"{window['panel']}, {window['model']}: {mixed}")
    return Section("quartiles", "Primary cells by quartile of calls", SOURCE, columns, rows, notes)
