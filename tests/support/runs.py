"""Making and driving runs in process, as the command line does, without signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from c2s.api import sitting
from c2s.api.watching import Watch
from c2s.backends.base import Backend
from c2s.backends.registry import open_model
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.ledger.totals import Spend, read_spend
from c2s.panels.base import Panel
from c2s.panels.choice.main import MAIN
from c2s.planning.plan import create_run, make_plan
from c2s.runner.execute import Runner
from c2s.runner.progress import Tally
from c2s.settings import Settings


def server_model(url: str, *, concurrency: int = 8, timeout: float = 10.0, model: str = "systemone:jev-1.13.0", **options: Any) -> Backend:
    return open_model(model, {"base_url": url, "concurrency": concurrency, "timeout": timeout, **options})


def make_run(
    path: Path, backend: Backend, *, limit: int = 4, panels: Sequence[Panel] = (MAIN,), settings: Mapping[str, Any] | None = None
) -> RunDirectory:
    plan = make_plan(panels, Settings.from_dict({"domain": "math", "limit": limit} | dict(settings or {})))
    return create_run(str(path), plan, backend, provenance={"backend_options": {}, "reuse_from": None})


def drive(
    run: RunDirectory,
    backend: Backend,
    *,
    panels: Sequence[Panel] = (MAIN,),
    report: bool = True,
    **named: Any,
) -> Runner:
    """One sitting; returns the runner. The ledger is closed."""
    with run.locked():
        runner = sitting.drive(run, backend, panels, **named)
        if runner.finished and report:
            sitting.write_report(run)
    return runner


class Stopping(Watch):
    """Stops its runner when `when(tally)` holds."""

    def __init__(self, when: Callable[[Tally], bool]) -> None:
        super().__init__()
        self._when = when

    def __call__(self, tally: Tally, final: bool = False) -> None:
        if self.runner is not None and not self.runner.stopping and self._when(tally):
            self.runner.stop()


def rows(run: RunDirectory, query: str, *values: Any) -> list[tuple]:
    with sqlite.reading(run.ledger_path) as db:
        return db.execute(query, values).fetchall()


def states(run: RunDirectory) -> dict[str, int]:
    return dict(rows(run, "SELECT state, count(*) FROM slots GROUP BY state"))


def spend_of(run: RunDirectory) -> Spend:
    """The totals of requests, tokens and money as the ledger stores them."""
    with sqlite.reading(run.ledger_path) as db:
        return read_spend(db)


def count_of(run: RunDirectory, key: str) -> dict[str, int]:
    """Exchanges by a column."""
    return dict(rows(run, f"SELECT {key}, count(*) FROM exchanges GROUP BY 1"))


def events(run: RunDirectory) -> list[str]:
    return [message for (message,) in rows(run, "SELECT message FROM events ORDER BY id")]
