"""`c2s judge`: audit one's own judge, its page, how a run was executed, and cue proposals."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from pathlib import Path

from c2s.cli.output import json_out, new_file, say, write_file
from c2s.errors import UsageError
from c2s.options import AuditOptions

PANEL = "judge-audit"


def audit(arguments: argparse.Namespace) -> int:
    """Plan, say what it costs, run, and print one page. A paid model is asked only with --yes."""
    from c2s.backends.registry import default_model, open_model
    from c2s.cli import limits as hosted
    from c2s.cli.planning import planned
    from c2s.cli.run import earlier_form, start
    from c2s.dialects import dialect
    from c2s.planning.estimate import estimate
    from c2s.spending.prices import load_price

    options = earlier_form(AuditOptions, arguments)
    options.seed = options.wordnet = options.data = options.field_options = options.observed = None
    values = options.service
    backend = open_model(options.model or default_model(), values)
    try:
        if not (options.rubric or options.contracts):
            options.contracts = "FINAL3"
        plan = _with_items(options, lambda: planned([PANEL], options, backend))
        price = load_price(backend.model, values["prices"])
        (found,) = estimate(plan, dialect(backend.dialect), backend.model, price)
        money = (
            f", USD {found.usd_expected:.4f} expected, {found.usd_reserved:.4f} at most" if price and found.usd_expected is not None else ""
        )
        unknown = "" if price or backend.resend == "safe" else f"; no price is known for {backend.model} (see --prices)"
        say(
            f"c2s: {found.parents} items x {found.requests // max(1, found.parents)} calls = {found.requests} requests, about {found.input_tokens} + {found.output_tokens} tokens{money}{unknown}"
        )
        if backend.resend == "paid" and not options.yes:
            raise UsageError(
                "this model counts as paid and nothing was sent; add --yes to go on, or --limit N for N items of each workload"
            )
        hosted.check_budget(backend, values)
    except BaseException:
        backend.close()
        raise
    return start(plan, [PANEL], backend, options, values, show=_show)


def _with_items(options: argparse.Namespace, make):
    """Call `make` with the user's items as a data file, which lives only while the plan is made: its rows are frozen into the ledger."""
    if not options.items:
        return make()
    from c2s.banks.judge_items import item_bytes, read_items

    rows = read_items(options.items)
    with tempfile.TemporaryDirectory(prefix="c2s-items-") as folder:
        path = Path(folder) / "items.jsonl"
        path.write_bytes(item_bytes(rows, Path(options.items).stem))
        options.data = [str(path)]
        plan = make()
    options.data = [options.items]  # what the manifest names as the origin
    return plan


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
    from c2s.reports.judge.execution import tables
    from c2s.reports.tables import as_text

    found = [stream for path in options.dirs for stream in examine(path)]
    if options.json:
        json_out({"streams": [dataclasses.asdict(stream) | {"mixed": stream.mixed} for stream in found]})
    else:
        sys.stdout.write("\n".join(as_text(table) for table in tables(found)))
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
