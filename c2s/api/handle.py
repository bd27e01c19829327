"""A run as an object: its state, its records as columns, its report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from c2s.errors import UsageError
from c2s.ledger import journal, sqlite
from c2s.ledger.counters import counts, requests_by_state, run_state
from c2s.ledger.directory import RunDirectory
from c2s.ledger.totals import NANO, from_run
from c2s.planning.installed import lacking

if TYPE_CHECKING:
    from c2s.api.columns import Columns
    from c2s.api.watching import Progress, StopToken
    from c2s.options import PathName
    from c2s.reports.document import Report
    from c2s.verification import Verification


class Run:
    """A run directory. Nothing is kept open: every question reads the files as they are then, also while the run goes on.

    `path` is the directory; `identity` is what decides every request (model, panels, settings, items), `provenance` tells where and how
    the run was made. Raises LedgerError where there is no run at the path, UsageError for a value that is no path.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._directory = RunDirectory.open(named_directory(path))
        manifest = self._directory.facts()
        self.path: Path = self._directory.path
        self.identity: Mapping[str, Any] = manifest["identity"]
        self.provenance: Mapping[str, Any] = manifest["provenance"]

    @property
    def model(self) -> str:
        """The model's name as it was given."""
        return str(self.identity["model"])

    @property
    def panels(self) -> tuple[str, ...]:
        """All panels of the run, those included that others use."""
        return tuple(self.identity["panels"])

    @property
    def state(self) -> str:
        """`running`, `failed`, `done` or `interrupted` (resumable)."""
        return str(self.status()["state"])

    @property
    def reason(self) -> str | None:
        """Why a failed or interrupted run ended, where it said so."""
        status = self.status()
        reason: str | None = status["failure"] or status["stopped"]
        return reason

    @property
    def requests(self) -> dict[str, int]:
        """Requests by state: ok, error, unknown, blocked, not_needed, planned (all of them), open, and those under way."""
        return dict(self.status()["requests"])

    def status(self) -> dict[str, Any]:
        """What `c2s status --json` prints: state, counts, spend and the latest events, from counters alone."""
        running = self._directory.running()
        manifest, digest = self._directory.manifest()
        with sqlite.reading(self._directory.ledger_path) as db:
            counters, values, events = counts(db), journal.run_values(db), journal.events(db)
        requests, spend = requests_by_state(counters), from_run(values)
        state = run_state(running, values.get("failure"), requests)
        arms: dict[str, dict[str, dict[str, int]]] = {}
        transitions: dict[str, dict[str, int]] = {}
        for count in counters:
            if count.arm:
                cell, key = arms.setdefault(count.domain, {}).setdefault(count.arm, {}), count.key
            elif count.transition is not None:
                cell, key = transitions.setdefault(count.domain, {}), count.transition
            else:
                continue
            cell[key] = cell.get(key, 0) + count.n
        return {
            "state": state,
            "runner": self._directory.runner() if running else None,
            "failure": values.get("failure") or None,
            "phase": (values.get("phase") or None) if running else None,
            "stopped": (values.get("stopped") or None) if state == "interrupted" else None,
            "spend": {
                "sends": spend.sends,
                "reused": spend.reused,
                "input_tokens": spend.input_tokens,
                "output_tokens": spend.output_tokens,
                "usage_not_reported": spend.unreported,
                "settled_usd": spend.settled_nano / NANO,
                "held_usd": spend.held_nano / NANO,
            },
            "models": json.loads(values.get("models") or "{}"),
            "panels": list(self.panels),
            "model": self.model,
            "missing": lacking(manifest),
            "manifest_altered": not journal.planned_with(values, digest),
            "requests": requests,
            "arms": arms,
            "transitions": transitions,
            "events": [{"at": at, "level": level, "message": message} for at, level, message in events],
        }

    def items(self) -> Columns:
        """The frozen items, one row for every parent of every panel: `c2s.api.run_records.ITEMS` describes the columns."""
        from c2s.api import run_records

        return run_records.items(self._directory)

    def outcomes(self) -> Columns:
        """The outcomes, one row for every closed arm of every parent: `c2s.api.run_records.OUTCOMES` describes the columns."""
        from c2s.api import run_records

        return run_records.outcomes(self._directory)

    def steps(self) -> Columns:
        """The planned requests with what became of them, one row for every step: `c2s.api.run_records.STEPS` describes the columns."""
        from c2s.api import run_records

        return run_records.steps(self._directory)

    def exchanges(self, *, bodies: bool = False) -> Columns:
        """What was sent, one row for every send: `c2s.api.run_records.EXCHANGES` describes the columns.

        `bodies` adds the bytes of requests and responses.
        """
        from c2s.api import run_records

        return run_records.exchanges(self._directory, bodies=bodies)

    def report(self, *, exploratory: bool = False) -> Report:
        """The report. `Report.sections(panel)` gives a panel's sections, and `Section.rows` their values. Holm corrects within this run."""
        from c2s.reports.build import build

        return build([self.path], exploratory=exploratory)

    def verify(self) -> Verification:
        """Derive every request, outcome and number again and compare."""
        return verify(self.path)

    def resume(
        self,
        *,
        base_url: str | None = None,
        profile: str | None = None,
        profiles: PathName | None = None,
        key_env: str | None = None,
        key_command: str | None = None,
        key_file: PathName | None = None,
        timeout: float | None = None,
        concurrency: int | None = None,
        rate: float | None = None,
        token_rate: float | None = None,
        prices: PathName | None = None,
        cap: float | None = None,
        provider_cap: float | None = None,
        retries: int | None = None,
        retry_malformed: int | None = None,
        stop_after_errors: int | None = None,
        on_model_change: Literal["stop", "mark"] | None = None,
        unreachable_after: float | None = None,
        retry_errors: bool = False,
        replay_unknown: bool = False,
        progress: Callable[[Progress], object] | None = None,
        stop: StopToken | None = None,
    ) -> Run:
        """Go on with this run; the keywords are those of `c2s.resume`."""
        given = {name: value for name, value in locals().items() if name != "self"}
        from c2s.api.calls import resume

        return resume(self.path, **given)

    def __repr__(self) -> str:
        return f"<Run {str(self.path)!r}: {', '.join(self.panels)} with {self.model}, {self.state}>"

    def _repr_html_(self) -> str:
        """State, counts and transitions as HTML, everything escaped."""
        import html

        status = self.status()
        settled = status["requests"]["planned"] - status["requests"]["open"]
        lines = [
            ("run", str(self.path)),
            ("model", self.model),
            ("panels", ", ".join(self.panels)),
            ("state", status["state"] + (f": {self.reason}" if self.reason else "")),
            ("requests", f"{settled} of {status['requests']['planned']} settled"),
            *((state, str(n)) for state in ("error", "unknown") if (n := status["requests"][state])),
            *((f"items, {domain}", ", ".join(f"{n} {name}" for name, n in cell.items())) for domain, cell in status["transitions"].items()),
        ]
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in lines)
        return f"<table>{rows}</table>"


def named_directory(dir: object) -> Path:
    """The path that a caller gave. Raises UsageError for a value that is no path."""
    if not isinstance(dir, str | os.PathLike) or not isinstance(name := os.fspath(dir), str):
        raise UsageError(f"dir is the path of a run directory, not {dir!r}")
    return Path(name)


def open(dir: PathName) -> Run:
    """A run directory, finished or not.

    Raises LedgerError where there is no run at `dir` (nothing at all, or a folder without a manifest), UsageError for a value that is no
    path.
    """
    return Run(dir)


def verify(dir: PathName) -> Verification:
    """Derive every request, outcome and number of a run again and compare. The result has a sentence for every difference.

    Raises LedgerError where there is no run at `dir` or it cannot be read at all, UsageError for a value that is no path.
    """
    from c2s.verification import verify as verified

    return verified(str(named_directory(dir)))
