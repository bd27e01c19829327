"""The head of a report: which runs it shows, what was asked of which model, and what the numbers rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.ledger.journal import ALTERED
from c2s.reports.data import REQUEST_STATES, RunData
from c2s.reports.section import Column, Row, Section

SHOWN_SETTINGS = ("seed", "limit", "domain", "template")


def letter(place: int) -> str:
    """The letter of a run among several: A to Z, then AA, BB, ..."""
    return chr(ord("A") + place % 26) * (place // 26 + 1)


def head(runs: Sequence[RunData]) -> Section:
    """One row for each run: identity, requests by state; its run id and directory under `clock`, since equal runs have other ones."""
    rows = [_row(letter(place), run) for place, run in enumerate(runs)]
    several = len(rows) > 1
    title = "\n".join((f"{row['run']}: " if several else "") + _title(row) for row in rows)
    columns = (
        *((Column("run", "run"),) if several else ()),
        Column("clock.run_id", "run id"),
        Column("requests.planned", "requests", "int"),
        *(Column(f"requests.{state}", state.replace("_", " "), "int") for state in REQUEST_STATES[1:]),
    )
    notes: dict[str, list[str]] = {}
    for row in rows:
        for note in _notes(row):
            notes.setdefault(note, []).append(row["run"])
    told = [note if len(letters) == len(rows) else f"{', '.join(letters)}: {note}" for note, letters in notes.items()]
    return Section("head", title, "ours", columns, rows, told)


def _row(name: str, run: RunData) -> Row:
    identity = run.identity
    return {
        "run": name,
        "model": identity["model"],
        "simulation": run.simulation,
        "panels": list(run.asked),
        "used": [panel for panel in identity["panels"] if panel not in run.asked],
        "settings": dict(identity["settings"]),
        "items_sha256": identity["items_sha256"],
        "requests": run.requests,
        "manifest_altered": run.altered,
        "clock": {"run_id": run.provenance.get("run_id"), "directory": run.directory},
    }


def _title(row: Row) -> str:
    names = row["panels"]
    kind = "SIMULATION, not a measurement; " if row["simulation"] else ""
    which = f"panel {names[0]}" if len(names) == 1 else f"{len(names)} panels"
    return f"{row['model']} ({kind}{which})"


def _setting(key: str, value: Any) -> str:
    """`seed 1`, `domain math`, `domains math, lexical`."""
    if isinstance(value, list | tuple):
        return f"{key}{'s' * (len(value) > 1)} {', '.join(map(str, value))}"
    return f"{key} {value}"


def _notes(row: Row) -> list[str]:
    """What the numbers of a run rest on, in a sentence or two."""
    settings: Mapping[str, Any] = row["settings"]
    chosen = ", ".join(_setting(key, settings[key]) for key in SHOWN_SETTINGS if settings.get(key) is not None)
    notes = [f"Settings: {chosen}. Items: {row['items_sha256'][:12]}."]
    if row["manifest_altered"]:
        notes.append(f"WARNING: {ALTERED}; c2s verify tells more.")
    requests = row["requests"]
    lost = requests["error"] + requests["unknown"]
    if lost:
        notes.append(f"{lost} requests ended in error or unknown: what needed them is undefined and never scored.")
    if requests["open"]:
        notes.append(f"NOT FINISHED: {requests['open']} of {requests['planned']} requests are open.")
    return notes
