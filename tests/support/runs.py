"""Making and driving runs in process, as the command line does, without signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from c2s.backends.base import Backend
from c2s.backends.registry import open_model
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory, write_durably
from c2s.ledger.totals import Spend, read_spend
from c2s.ledger.writer import LedgerWriter
from c2s.panels.base import Panel
from c2s.panels.choice.main import MAIN
from c2s.planning.plan import create_run, make_plan
from c2s.reports.build import as_json, build
from c2s.runner.execute import Runner
from c2s.ledger.replan import replan
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
    errors: bool = False,
    unknown: bool = False,
    **runner: Any,
) -> Runner:
    """One sitting; returns the runner. The ledger is closed."""
    manifest, digest = run.manifest()
    with run.locked():
        writer = LedgerWriter(run, durable=backend.resend == "paid")
        try:
            writer.require_manifest(digest)
            if errors or unknown:
                replan(writer, panels, errors=errors, unknown=unknown)
            made = Runner(writer, backend, panels, Settings.from_dict(manifest["identity"]["settings"]), **runner)
            made.run()
        finally:
            writer.close()
    if made.finished and report:
        write_durably(run.report_path, as_json(build([run.path])))
    return made


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
