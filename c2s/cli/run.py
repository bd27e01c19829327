"""`c2s run` and `c2s resume`."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from c2s.backends.base import Backend
from c2s.backends.registry import default_model, open_model
from c2s.cli.output import say
from c2s.errors import C2SError, LedgerError, UsageError, nearest
from c2s.ledger.directory import RunDirectory, write_durably
from c2s.ledger.writer import LedgerWriter
from c2s.panels.registry import panel, select
from c2s.presentation.contracts import contracts_sha256
from c2s.runner.execute import Runner
from c2s.runner.plan import create_run, make_plan
from c2s.runner.progress import Progress
from c2s.runner.retry import replan
from c2s.runner.reuse import Reuse


def run(options: argparse.Namespace) -> int:
    names = list(dict.fromkeys(name.strip() for name in options.panel.split(",")))
    for name in names:
        name == "all" or panel(name)  # a misspelt name is said before a model is loaded
    if options.limit is not None and options.limit < 1:
        raise UsageError("--limit is the number of parents per domain, at least 1")
    model = options.model or default_model()
    backend = open_model(model, _common(options))
    settings = {"limit": options.limit, "domain": options.domain} | ({} if options.seed is None else {"seed": options.seed})
    settings |= judge_settings(options, backend)
    selection = select(names, getattr(backend, "lacks", {}))
    say(f"c2s: planning {', '.join(names)} with {model}")
    for name, reason in selection.skipped.items():
        say(f"c2s: {name} is skipped: {reason}")
    if selection.added:
        say(f"c2s: {', '.join(selection.added)} is taken in, because other panels use it")
    if options.wordnet:
        os.environ["C2S_WORDNET"] = options.wordnet
    asked = [p.name for p in selection.panels if p.name not in selection.added]
    plan = make_plan(selection.panels, settings, options.data or (), asked=asked)
    reuse = options.reuse_from and os.path.abspath(options.reuse_from)
    if reuse:
        Reuse(reuse, backend).__exit__(None, None, None)  # refuse before a directory is made
    out = options.out or os.path.join("runs", f"{'-'.join(names)}-{_slug(model)}-{time.strftime('%Y%m%d-%H%M%S')}")
    provenance = {"backend_options": _common(options), "reuse_from": reuse, "data": [os.path.abspath(path) for path in options.data or ()]}
    directory = create_run(out, plan, backend, provenance=provenance)
    say(f"c2s: {len(plan.parents)} parents, {plan.requests} requests, in {directory.path}")
    return _drive(directory, backend, options)


def judge_settings(options: argparse.Namespace, backend: Backend) -> dict[str, Any]:
    """Grading rules of the judge panels: those given, a user's rubric, or the study's (three labels for a text model)."""
    from c2s.controllers.judge import PUBLISHED, RUBRIC

    if options.rubric:
        if options.contracts:
            raise UsageError("give --contracts or --rubric, not both")
        from c2s.banks.judge_items import read_rubric

        return {"contracts": [RUBRIC], "rubric": read_rubric(options.rubric)}
    if options.contracts:
        names = list(dict.fromkeys(name.strip() for name in options.contracts.split(",")))
        for name in names:
            if name not in PUBLISHED:
                raise UsageError(f"unknown grading rule {name!r}{nearest(name, list(PUBLISHED))}; known: {', '.join(PUBLISHED)}")
        return {"contracts": names}
    return {} if backend.dialect == "systemone" else {"contracts": ["FINAL3"]}


def resume(options: argparse.Namespace) -> int:
    directory = RunDirectory.open(options.dir)
    manifest, _ = directory.manifest()
    identity = manifest["identity"]
    if identity["contracts_sha256"] != contracts_sha256():
        raise LedgerError(f"{directory.path} was planned with other request texts; finish it with c2s {manifest['provenance']['versions']['c2s']}")
    common = dict(manifest["provenance"]["backend_options"]) | {k: v for k, v in _common(options).items() if v is not None}
    backend = open_model(identity["model"], common)
    if dict(backend.fingerprint) != identity["fingerprint"]:
        backend.close()
        raise UsageError(f"{directory.path}: {identity['model']} is not what the run began with; its fingerprint differs (see manifest.json)")
    return _drive(directory, backend, options, retry_errors=options.retry_errors, replay_unknown=options.replay_unknown)


def _drive(
    directory: RunDirectory, backend: Backend, options: argparse.Namespace, *, retry_errors: bool = False, replay_unknown: bool = False
) -> int:
    manifest, digest = directory.manifest()
    identity, provenance = manifest["identity"], manifest["provenance"]
    panels = [panel(name) for name in identity["panels"]]
    try:
        with directory.locked():
            writer = LedgerWriter(directory, durable=backend.resend == "paid")
            try:
                writer.require_manifest(digest)
                if retry_errors or replay_unknown:
                    count = replan(writer, panels, errors=retry_errors, unknown=replay_unknown)
                    say(f"c2s: {count} requests will be sent again")
                with _reuse(provenance["reuse_from"], backend) as reuse:
                    runner = Runner(
                        writer, backend, panels, identity["settings"], reuse=reuse, watch=Progress(identity["panels"])
                    )
                    finished = _run_guarded(runner, writer)
            finally:
                writer.close()
            if not finished:
                say(f"c2s: interrupted; everything that arrived is kept. Go on with: c2s resume {directory.path}")
                return 130
            return _finish(directory, options)
    finally:
        backend.close()


def _run_guarded(runner: Runner, writer: LedgerWriter) -> bool:
    """Run with Ctrl-C and SIGTERM as an orderly stop; a failure is noted in the ledger before it is reported."""
    writer.set_run({"failure": ""})
    previous = {number: signal.signal(number, lambda *_: runner.stop()) for number in (signal.SIGINT, signal.SIGTERM)}
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


def _finish(directory: RunDirectory, options: argparse.Namespace) -> int:
    from c2s.reports.build import as_json, build, render

    report = build([directory.path])
    write_durably(directory.report_path, as_json(report))
    sys.stdout.write(render(report, "json" if options.json else "text"))
    bad = report.requests("error") + report.requests("unknown")
    if bad:
        say(f"c2s: {bad} requests ended in error or unknown; their pairs are dropped, never scored. See: c2s status {directory.path}")
    return 1 if bad else 0


@contextmanager
def _reuse(path: str | None, backend: Backend) -> Iterator[Reuse | None]:
    if path is None:
        yield None
        return
    with Reuse(path, backend) as reuse:
        yield reuse
        say(f"c2s: {reuse.copied} answers were copied from {path}")


def _common(options: argparse.Namespace) -> Mapping[str, Any]:
    if options.concurrency is not None and not 1 <= options.concurrency <= 1000:
        raise UsageError("--concurrency is between 1 and 1000")
    if options.timeout is not None and not options.timeout > 0:
        raise UsageError("--timeout is a positive number of seconds")
    return {key: getattr(options, key) for key in ("concurrency", "base_url", "key_env", "timeout")}


def _slug(text: str) -> str:
    """A model's name as part of a file name: letters, digits, dots and dashes only."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60] or "model"
