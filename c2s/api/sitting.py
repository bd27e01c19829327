"""One sitting of a run: from its start or its continuation until it is finished or stopped, with its report at the end."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from c2s.api import service
from c2s.api.planned import check_before, planned
from c2s.api.watching import AnyOf, Progress, Signals, StopToken, Watch, check_callers
from c2s.backends.base import Backend
from c2s.backends.registry import default_model, open_model
from c2s.errors import C2SError, LedgerError, UsageError
from c2s.kernels import _load as _load  # the report needs the compiled core: where it is missing, say so before the first request
from c2s.ledger.directory import RunDirectory, write_durably
from c2s.ledger.replan import replan
from c2s.ledger.writer import LedgerWriter
from c2s.options import ResumeOptions, RunOptions, ServiceOptions, as_dict
from c2s.panels.base import Panel
from c2s.panels.registry import panel
from c2s.planning.installed import require
from c2s.planning.plan import Plan, create_run
from c2s.presentation.texts import contracts_sha256
from c2s.runner.control import Control
from c2s.runner.execute import Runner
from c2s.runner.reuse import EarlierRuns
from c2s.settings import Settings
from c2s.spending.prices import Price


@contextmanager
def opened(model: str | None, options: ServiceOptions, **more: object) -> Iterator[Backend]:
    """The model, ready to be asked, and closed again."""
    backend = open_model(model or default_model(), as_dict(ServiceOptions, options) | more)
    try:
        yield backend
    finally:
        backend.close()


def run_new(options: RunOptions, watch: Watch) -> Path:
    """Plan a run and carry it out; gives its directory. Nothing is made before the plan and its caps are sound."""
    check_before(options)
    if options.out is not None:
        RunDirectory.refuse_existing(options.out)
    for folder in options.reuse_from:
        RunDirectory.open(folder)
    watch.note(f"planning {', '.join(options.panels)} with {options.model or default_model()}")
    with opened(options.model, options) as backend:
        service.budget(backend, options, service.price_of(backend, options))
        return begin(planned(options, backend, watch.note), backend, options, watch)


def begin(plan: Plan, backend: Backend, options: RunOptions, watch: Watch) -> Path:
    """A new run of this plan, to its end; gives its directory."""
    earlier = [os.path.abspath(path) for path in options.reuse_from]
    with EarlierRuns(earlier, backend):
        pass  # refuse before a directory is made
    price = service.price_of(backend, options)
    provenance = {
        "backend_options": as_dict(ServiceOptions, options),
        "price": service.frozen(price),
        "reuse_from": earlier[0] if len(earlier) == 1 else earlier or None,
        "data": [os.path.abspath(path) for path in options.data],
    }
    watch.raise_failure()
    directory = create_run(options.out or _new_path(options.panels, backend), plan, backend, provenance=provenance)
    watch.begin(directory.path, tuple(p.name for p in plan.panels))
    watch.note(f"{len(plan.parents)} parents, {plan.requests} requests, in {directory.path}")
    _sit(directory, backend, options, price, watch)
    return directory.path


def go_on(path: str | os.PathLike[str], options: ResumeOptions, watch: Watch) -> Path:
    """Go on with an interrupted run, as it was begun and with what is given now in its place."""
    directory = RunDirectory.open(os.fspath(path))
    manifest, _ = directory.manifest()
    identity, provenance = manifest["identity"], manifest["provenance"]
    if identity["contracts_sha256"] != contracts_sha256():
        raise LedgerError(f"{directory.path} was planned with other request texts; finish it with c2s {provenance['versions']['c2s']}")
    now = service.resumed(provenance["backend_options"], options)
    require(manifest, directory.path)
    with opened(identity["model"], now, resumes=directory.path, began_with=identity["fingerprint"]) as backend:
        if dict(backend.fingerprint) != identity["fingerprint"]:
            raise UsageError(
                f"{directory.path}: {identity['model']} is not what the run began with; its fingerprint differs (see manifest.json)"
            )
        stored = provenance.get("price") if options.prices is None else None  # the rate it began with, whatever the tables say today
        price = Price(**stored) if stored else service.price_of(backend, now)
        watch.begin(directory.path, tuple(identity["panels"]))
        _sit(directory, backend, now, price, watch, errors=options.retry_errors, unknown=options.replay_unknown)
    return directory.path


def _sit(
    directory: RunDirectory,
    backend: Backend,
    options: ServiceOptions,
    price: Price | None,
    watch: Watch,
    *,
    errors: bool = False,
    unknown: bool = False,
) -> None:
    """Run what is open as the options say; where everything is settled, write the report."""
    manifest, _ = directory.manifest()
    panels = [panel(name) for name in manifest["identity"]["panels"]]
    with directory.locked():
        budget = service.budget(backend, options, price, service.spent_beside(directory, backend, options, watch.note))
        with EarlierRuns(_paths(manifest["provenance"].get("reuse_from")), backend) as earlier:
            runner = drive(
                directory,
                backend,
                panels,
                watch=watch,
                errors=errors,
                unknown=unknown,
                reuse=earlier if earlier.runs else None,
                policy=service.policy(options),
                limits=service.limits(backend, options),
                budget=budget,
                control=Control(directory.path),
            )
            for run in earlier.runs:
                watch.note(f"{run.copied} answers were copied from {run.path}")
        if runner.finished:
            write_report(directory)


def drive(
    directory: RunDirectory,
    backend: Backend,
    panels: Sequence[Panel],
    *,
    watch: Watch | None = None,
    errors: bool = False,
    unknown: bool = False,
    **runner: Any,
) -> Runner:
    """Run what is open, with the lock held by the caller; gives the runner, which says whether it finished, and why not.

    `errors` and `unknown` first plan again what ended so. A failure is noted in the ledger before it is raised. `runner` are the other
    arguments of `Runner`.
    """
    manifest, _ = directory.manifest()
    watch = watch or Watch()
    watch.raise_failure()
    writer = LedgerWriter(directory, durable=backend.resend == "paid")
    try:
        if errors or unknown:
            directory.report_path.unlink(missing_ok=True)  # it would not follow from the ledger any more
            count = replan(writer, panels, errors=errors, unknown=unknown)
            watch.note(f"{count} requests will be sent again")
        watch.runner = Runner(writer, backend, panels, Settings.from_dict(manifest["identity"]["settings"]), watch=watch, **runner)
        writer.set_run({"failure": ""})
        try:
            watch.runner.run()
        except C2SError as error:
            with suppress(LedgerError):  # the ledger itself is what failed; the error that is raised says so
                writer.set_run({"failure": str(error)})
            raise
        return watch.runner
    finally:
        writer.close()


def write_report(directory: RunDirectory) -> None:
    """Make the report of a finished run and store it beside the ledger."""
    from c2s.reports.build import as_json, build

    write_durably(directory.report_path, as_json(build([directory.path])))


def _paths(stored: Any) -> list[str]:
    """The earlier runs in a manifest: none, one path, or a list of them."""
    return [] if stored is None else [stored] if isinstance(stored, str) else list(stored)


def _new_path(panels: Sequence[str], backend: Backend) -> str:
    """runs/PANEL-MODEL-TIME, of letters, digits, dots and dashes only."""
    model = re.sub(r"[^A-Za-z0-9.]+", "-", backend.name).strip("-.")[:60] or "model"
    return os.path.join("runs", f"{'-'.join(panels)}-{model}-{time.strftime('%Y%m%d-%H%M%S')}")


@contextmanager
def interruptible(progress: Callable[[Progress], object] | None, stop: StopToken | None) -> Iterator[Watch]:
    """A watch whose run Ctrl-C stops in order, where Ctrl-C would raise KeyboardInterrupt; it is raised when the run has stopped.

    Where the caller handles the signal, or in another thread, it stays the caller's. Raises UsageError where `progress` or `stop` is not
    what it must be.
    """
    check_callers(progress, stop)
    main = threading.current_thread() is threading.main_thread()
    ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with Signals(*([signal.SIGINT] if ours else [])) as signals:
        watch = Watch(progress, AnyOf(signals, *([stop] if stop is not None else [])))
        yield watch
    watch.raise_failure()
    if signals.count:
        raise KeyboardInterrupt(f"stopped in order; go on with c2s.resume({str(watch.latest.path)!r})")
