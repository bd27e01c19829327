"""`c2s run` and `c2s resume`."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from c2s.backends.base import Backend
from c2s.backends.registry import default_model, open_model
from c2s.cli import limits as hosted
from c2s.cli.arguments import options
from c2s.cli.output import say
from c2s.cli.planning import panel_names, planned
from c2s.errors import C2SError, LedgerError, UsageError
from c2s.kernels import _load as _load  # the report needs the compiled core: where it is missing, say so before the first request
from c2s.ledger.directory import RunDirectory, write_durably
from c2s.ledger.writer import LedgerWriter
from c2s.options import Options, ResumeOptions, RunOptions, declared
from c2s.panels.registry import panel
from c2s.planning.plan import Plan, create_run
from c2s.presentation.texts import contracts_sha256
from c2s.runner.control import Control
from c2s.runner.execute import Runner
from c2s.runner.progress import Progress
from c2s.ledger.replan import replan
from c2s.runner.reuse import Reuse
from c2s.settings import Settings


def earlier_form(cls: type[Options], arguments: argparse.Namespace) -> argparse.Namespace:
    """The declared options under the names that planning reads."""
    given = options(cls, arguments)
    found = {name: getattr(given, name) for name in declared(cls)} | {"service": hosted.given(given), "json": arguments.json}
    found["domain"] = found.get("domains", ())[0] if len(found.get("domains", ())) == 1 else None
    if len(found.get("domains", ())) > 1:
        raise UsageError("--domain: give one domain")
    found["panel"] = ",".join(found.get("panels", ()))
    found["contracts"] = ",".join(found.get("contracts", ()))
    found["reuse_from"] = found["reuse_from"][0] if found.get("reuse_from") else None
    return argparse.Namespace(**({"dir": getattr(arguments, "dir", None)} | found))


Show = Callable[[Path, argparse.Namespace], None]
"""Prints what a finished run is to show, given its directory."""


def run(arguments: argparse.Namespace) -> int:
    options = earlier_form(RunOptions, arguments)
    names = panel_names(options)
    model = options.model or default_model()
    values = options.service
    backend = open_model(model, values)
    hosted.check_budget(backend, values)
    say(f"c2s: planning {', '.join(names)} with {model}")
    return start(planned(names, options, backend), names, backend, options, values)


def start(
    plan: Plan, names: Sequence[str], backend: Backend, options: argparse.Namespace, values: Mapping[str, Any], show: Show | None = None
) -> int:
    """A new run of this plan, to its end; then `show` (or the report)."""
    reuse = options.reuse_from and os.path.abspath(options.reuse_from)
    if reuse:
        Reuse(reuse, backend).__exit__(None, None, None)  # refuse before a directory is made
    out = options.out or os.path.join("runs", f"{'-'.join(names)}-{_slug(backend.name)}-{time.strftime('%Y%m%d-%H%M%S')}")
    provenance = {
        "backend_options": values,
        "price": hosted.frozen_price(backend, values),
        "reuse_from": reuse,
        "data": [os.path.abspath(path) for path in options.data or ()],
    }
    directory = create_run(out, plan, backend, provenance=provenance)
    say(f"c2s: {len(plan.parents)} parents, {plan.requests} requests, in {directory.path}")
    return _drive(directory, backend, options, values, show=show)


def resume(arguments: argparse.Namespace) -> int:
    options = earlier_form(ResumeOptions, arguments)
    directory = RunDirectory.open(options.dir)
    manifest, _ = directory.manifest()
    identity = manifest["identity"]
    if identity["contracts_sha256"] != contracts_sha256():
        raise LedgerError(
            f"{directory.path} was planned with other request texts; finish it with c2s {manifest['provenance']['versions']['c2s']}"
        )
    values = hosted.merged(manifest["provenance"]["backend_options"], options.service)
    backend = open_model(identity["model"], values)
    if dict(backend.fingerprint) != identity["fingerprint"]:
        backend.close()
        raise UsageError(
            f"{directory.path}: {identity['model']} is not what the run began with; its fingerprint differs (see manifest.json)"
        )
    if options.prices is None:  # the rate that the run began with, whatever the tables say today
        values["price"] = manifest["provenance"].get("price")
    return _drive(directory, backend, options, values, retry_errors=options.retry_errors, replay_unknown=options.replay_unknown)


def _drive(
    directory: RunDirectory,
    backend: Backend,
    options: argparse.Namespace,
    values: Mapping[str, Any],
    *,
    retry_errors: bool = False,
    replay_unknown: bool = False,
    show: Show | None = None,
) -> int:
    manifest, digest = directory.manifest()
    identity, provenance = manifest["identity"], manifest["provenance"]
    panels = [panel(name) for name in identity["panels"]]
    try:
        with directory.locked():
            budget = hosted.budget(backend, values, directory)
            writer = LedgerWriter(directory, durable=backend.resend == "paid")
            try:
                writer.require_manifest(digest)
                if retry_errors or replay_unknown:
                    directory.report_path.unlink(missing_ok=True)  # it would not follow from the ledger any more
                    count = replan(writer, panels, errors=retry_errors, unknown=replay_unknown)
                    say(f"c2s: {count} requests will be sent again")
                with _reuse(provenance["reuse_from"], backend) as reuse:
                    runner = Runner(
                        writer,
                        backend,
                        panels,
                        Settings.from_dict(identity["settings"]),
                        reuse=reuse,
                        watch=Progress(identity["panels"]),
                        policy=hosted.policy(values),
                        limits=hosted.limits(backend, values),
                        budget=budget,
                        control=Control(directory.path),
                    )
                    finished = _run_guarded(runner, writer)
            finally:
                writer.close()
            if not finished:
                say(f"c2s: interrupted{': ' + runner.reason if runner.reason else ''}")
                say(f"c2s: everything that arrived is kept. Go on with: c2s resume {directory.path}")
                return 130
            return _finish(directory, options, show)
    finally:
        backend.close()


def _run_guarded(runner: Runner, writer: LedgerWriter) -> bool:
    """Run with Ctrl-C and SIGTERM as an orderly stop; a failure is noted in the ledger before it is reported."""

    def stop(*_: object) -> None:
        runner.stop()
        if runner.stopping == 1:
            say("c2s: stopping: what is under way is waited for; once more gives it up")

    writer.set_run({"failure": ""})
    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return runner.run()
    except C2SError as error:
        try:
            writer.set_run({"failure": str(error)})
        except LedgerError:
            pass  # the ledger itself is what failed; the error below says so
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _finish(directory: RunDirectory, options: argparse.Namespace, show: Show | None) -> int:
    from c2s.cli.inspect import say_errors
    from c2s.reports.build import as_json, build, render

    report = build([directory.path])
    write_durably(directory.report_path, as_json(report))
    if show is None:
        sys.stdout.write(render(report, "json" if options.json else "text"))
    else:
        show(directory.path, options)
    bad = report.requests("error") + report.requests("unknown")
    if bad:
        say(f"c2s: {bad} requests ended in error or unknown; their pairs are dropped, never scored. See: c2s status {directory.path}")
    return 1 if say_errors(report.errors) or bad else 0


@contextmanager
def _reuse(path: str | None, backend: Backend) -> Iterator[Reuse | None]:
    if path is None:
        yield None
        return
    with Reuse(path, backend) as reuse:
        yield reuse
        say(f"c2s: {reuse.copied} answers were copied from {path}")


def _slug(text: str) -> str:
    """A model's name as part of a file name: letters, digits, dots and dashes only."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60] or "model"
