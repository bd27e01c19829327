"""`c2s judge`: audit one's own judge, its page, how a run was executed, and cue proposals."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import c2s
from c2s.api.planned import PlannedRun
from c2s.backends.base import Backend
from c2s.cli.arguments import options as declared_options
from c2s.cli.output import json_out, new_file, say, write_file
from c2s.cli.progress_line import ProgressLine
from c2s.cli.run import OrderlyStop, finish
from c2s.errors import UsageError
from c2s.options import AuditOptions, RunOptions, declared

PANEL = "judge-audit"


def audit(arguments: argparse.Namespace) -> int:
    """Plan, say what it costs, run, and print one page. A paid model is asked only with --yes."""
    from c2s.api.planned import estimated, planned
    from c2s.api.service import budget, price_of
    from c2s.api.sitting import begin, interruptible, opened
    from c2s.ledger.directory import RunDirectory

    given = declared_options(AuditOptions, arguments)
    if given.out is not None:
        RunDirectory.refuse_existing(given.out)
    line = ProgressLine()
    with OrderlyStop() as stop, interruptible(line, stop) as watch, opened(given.model, given) as backend, _items(given) as data:
        options = _as_run(given, data)
        plan = planned(options, backend, watch.note)
        say(f"c2s: {_cost(estimated(plan, backend, options), backend)}")
        if backend.resend == "paid" and not given.yes:
            raise UsageError(
                "this model counts as paid and nothing was sent; add --yes to go on, or --limit N for N items of each workload"
            )
        budget(backend, options, price_of(backend, options))
        named = () if given.items is None else (given.items,)  # what the manifest names as the origin
        path = begin(plan, backend, replace(options, data=named), watch)
    return finish(c2s.open(path), arguments, show=_show)


def _as_run(given: AuditOptions, data: tuple[str, ...]) -> RunOptions:
    """The audit as a run of its panel."""
    shared = {name: getattr(given, name) for name in declared(AuditOptions) if name in declared(RunOptions)}
    rules = given.contracts or (() if given.rubric else ("FINAL3",))
    return RunOptions(**shared | {"panels": (PANEL,), "data": data, "contracts": rules})


def _cost(planned: PlannedRun, backend: Backend) -> str:
    """One sentence: items, calls, tokens and money."""
    (e,) = planned.panels
    money = ""
    if e.usd_expected is not None:
        money = f", USD {e.usd_expected:.4f} expected, {e.usd_reserved:.4f} at most"
    elif backend.resend == "paid":
        money = f"; no price is known for {backend.model} (see --prices)"
    tokens = f"about {e.input_tokens:,} input tokens and {e.output_tokens:,} output tokens"
    return f"{e.parents:,} items x {e.requests // max(1, e.parents)} calls = {e.requests:,} requests, {tokens}{money}"


@contextmanager
def _items(given: AuditOptions) -> Iterator[tuple[str, ...]]:
    """The user's items as a data file, which lives only while the run is made: its rows are frozen into the ledger."""
    if given.items is None:
        yield ()
        return
    from c2s.banks.judge_items import item_bytes, read_items

    rows = read_items(given.items, lambda message: say(f"c2s: {message}"))
    with tempfile.TemporaryDirectory(prefix="c2s-items-") as folder:
        path = Path(folder) / "items.jsonl"
        path.write_bytes(item_bytes(rows, Path(given.items).stem))
        yield (str(path),)


def page(options: argparse.Namespace) -> int:
    """The page of a run of the audit or of the confirmation."""
    _show(options.dir, options)
    return 0


def _show(path: Path | str, options: argparse.Namespace) -> None:
    from c2s.reports.judge.page import as_text, pages

    found = pages(path)
    if options.json:
        json_out({"pages": [p.as_dict() for p in found]})
    else:
        sys.stdout.write("\n".join(as_text(p) for p in found))


def execution(options: argparse.Namespace) -> int:
    """When the requests of a run left: windows, and every primary cell in every chronological quartile."""
    from c2s.reports.judge.execution import execution as examine
    from c2s.reports.section import together
    from c2s.reports.tables import as_text

    sections = examine(options.dirs)
    if options.json:
        json_out({"sections": {section.name: section.as_dict(clock=True) for section in sections}})
    else:
        sys.stdout.write("\n".join(as_text(together([(None, section)])) for section in sections if section.rows))
    return 0


def cues(options: argparse.Namespace) -> int:
    """Proposals from a local model, ranked by summed token log-probability, in a file that no panel reads."""
    from c2s.backends.local.causal_lm import CausalLM
    from c2s.bankbuild.cue_beams import proposal_bytes, propose
    from c2s.presentation.texts import cue_contexts
    from c2s.reports.tables import Table, as_text

    out = new_file(options.out)
    model = CausalLM(options.model, revision=options.revision)
    say(f"c2s: {model.name} in {model.precision}")
    sizes = {"width": options.width, "expand": options.expand, "longest": options.longest}
    found = [p for name, message in cue_contexts().items() for p in propose(model, name, message, **sizes)]
    facts = {"model": model.name, "revision": options.revision, "precision": model.precision, "contexts": cue_contexts(), **sizes}
    write_file(out, proposal_bytes(found, facts))
    if options.json:
        json_out({"file": str(out), "proposals": [dataclasses.asdict(p) for p in found]})
        return 0
    rows = []
    for name in cue_contexts():
        best = [p for p in found if p.context == name][: options.show]
        rows += [[name, str(rank), f"{p.score:.3f}", str(len(p.tokens)), p.text] for rank, p in enumerate(best, start=1)]
    notes = ["Proposals for development: no panel reads this file, so none can enter a confirmation by itself."]
    sys.stdout.write(as_text(Table("Most likely transition phrases", ["context", "rank", "log p", "tokens", "text"], rows, notes, 1)))
    return 0
