"""Run directories as rows, read from manifests and counters alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from c2s.errors import C2SError
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import MANIFEST, RunDirectory
from c2s.reports.tables import Table


class RunsError(Exception):
    """The folder of run directories cannot be read."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run directory. Where it cannot be read, `state` is `unreadable` and `note` says why."""

    name: str
    state: str
    panels: str = ""
    model: str = ""
    settled: int = 0
    planned: int = 0
    errors: int = 0
    note: str = ""


def find_runs(root: Path) -> list[RunRow]:
    """The run directories in `root` (or `root` itself, if it is one), by name. RunsError if the folder cannot be read."""
    try:
        folders = [root] if (root / MANIFEST).is_file() else sorted(p for p in root.iterdir() if (p / MANIFEST).is_file())
    except FileNotFoundError:
        raise RunsError(f"no folder {root}; name the folder that holds run directories, or make one with: c2s run") from None
    except OSError as error:
        raise RunsError(f"cannot read {root}: {error.strerror}") from None
    return [read_run(folder) for folder in folders]


def read_run(folder: Path) -> RunRow:
    try:
        run = RunDirectory.open(folder)
        identity = run.manifest()[0]["identity"]
        running = run.running()
        with sqlite.reading(run.ledger_path) as db:
            requests = reader.requests_by_state(reader.counts(db))
            failure = reader.run_values(db).get("failure")
    except C2SError as error:
        return RunRow(folder.name, "unreadable", note=str(error))
    return RunRow(
        name=folder.name,
        state=reader.run_state(running, failure, requests),
        panels=", ".join(identity["panels"]),
        model=identity["model"],
        settled=requests["planned"] - requests["open"],
        planned=requests["planned"],
        errors=requests["error"] + requests["unknown"],
        note=failure or "",
    )


HEADER = ("run", "state", "panel", "model", "settled", "planned", "errors")


def cells(row: RunRow) -> list[str]:
    return [row.name, row.state, row.panels, row.model, str(row.settled), str(row.planned), str(row.errors)]


def table(root: Path, runs: list[RunRow]) -> Table:
    notes = [f"{row.name}: {row.note}" for row in runs if row.note] + ([] if runs else ["No run directory in this folder."])
    return Table(f"Runs in {root}", HEADER, [cells(row) for row in runs], notes, left=4)
