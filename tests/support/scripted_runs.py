"""Running panels through a ledger with a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from support import runs
from support.runs import Stopping

from c2s.backends.scripted import Scripted
from c2s.ledger.directory import RunDirectory
from c2s.panels.registry import select
from c2s.planning.plan import create_run, make_plan
from c2s.runner.policy import DEFAULT_POLICY, Policy
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
    policy: Policy = DEFAULT_POLICY,
) -> bool:
    """Run or go on; True when nothing is left."""
    panels = select(run.manifest()[0]["identity"]["panels"]).panels
    watch = None if stop_after is None else Stopping(lambda tally: tally.asked >= stop_after)
    return runs.drive(run, backend, panels=panels, report=False, watch=watch, errors=retry, unknown=unknown, policy=policy).finished


def run_script(
    path: Path, names: Sequence[str], answer: Callable[..., Any], settings: dict[str, Any] | None = None, data: Sequence[str] = ()
) -> RunDirectory:
    """A finished run with `answer(call)` as the model."""
    backend = Scripted("script:test", answer, uses_truth=True)
    run = planned(path, names, backend, settings, data)
    assert drive(run, backend)
    return run
