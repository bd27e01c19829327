"""Running panels through a ledger with a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from c2s.backends.scripted import Scripted
from c2s.ledger.directory import RunDirectory
from c2s.ledger.writer import LedgerWriter
from c2s.panels.registry import select
from c2s.planning.plan import create_run, make_plan
from c2s.runner.execute import Runner
from c2s.runner.policy import Policy
from c2s.ledger.replan import replan
from c2s.settings import Settings


def planned(
    path: Path, names: Sequence[str], backend: Scripted, settings: dict[str, Any] | None = None, data: Sequence[str] = ()
) -> RunDirectory:
    """A new run of these panels; nothing has been asked yet."""
    panels = select(names).panels
    return create_run(
        path,
        make_plan(panels, Settings.from_dict(settings or {}), data, asked=names),
        backend,
        provenance={"reuse_from": None, "backend_options": {}},
    )


def drive(
    run: RunDirectory,
    backend: Scripted,
    *,
    stop_after: int | None = None,
    retry: bool = False,
    unknown: bool = False,
    policy: Policy = Policy(),
) -> bool:
    """Run or go on; True when nothing is left."""
    identity = run.manifest()[0]["identity"]
    panels = select(identity["panels"]).panels
    writer = LedgerWriter(run, durable=False)
    try:
        if retry or unknown:
            replan(writer, panels, errors=retry, unknown=unknown)
        runner = Runner(writer, backend, panels, Settings.from_dict(identity["settings"]), policy=policy)
        if stop_after is not None:
            runner.watch = lambda tally, final: runner.stop() if tally.asked >= stop_after else None
        return runner.run()
    finally:
        writer.close()


def run_script(
    path: Path, names: Sequence[str], answer: Callable[..., Any], settings: dict[str, Any] | None = None, data: Sequence[str] = ()
) -> RunDirectory:
    """A finished run with `answer(call)` as the model."""
    backend = Scripted("script:test", answer, uses_truth=True)
    run = planned(path, names, backend, settings, data)
    assert drive(run, backend)
    return run
