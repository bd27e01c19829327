"""`c2s review export|score`: blinded material about lexical outputs, and the judgments on it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from c2s.cli.output import json_out, new_file, say, write_file
from c2s.errors import UsageError
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.reports.data import PanelData, RunData


def export(options: argparse.Namespace) -> int:
    from c2s.reports.choice.output_review import material

    out = new_file(options.out)
    with _audit(options.dir) as data:
        text = material(data)
    write_file(out, text.encode())
    say(f"c2s: {text.count(chr(10)) - 1} pairs in {out}; give every reviewer a copy")
    return 0


def score(options: argparse.Namespace) -> int:
    from c2s.reports.choice.lexical_audit import pairs
    from c2s.reports.choice.output_review import read_judgments, sensitivity
    from c2s.reports.section import table
    from c2s.reports.tables import as_text

    with _audit(options.dir) as data:
        known = list(pairs(data))
        section = sensitivity(data, [read_judgments(path, known) for path in options.files])
    if options.json:
        json_out(section.as_dict(clock=False))
    else:
        sys.stdout.write(as_text(table(section, "lexical-audit")))
    return 0


@contextmanager
def _audit(path: str) -> Iterator[PanelData]:
    """The lexical-audit panel over a run's support outputs, whether or not the run was asked for the audit."""
    from c2s.panels.registry import PANELS

    directory = RunDirectory.open(path)
    identity = directory.manifest()[0]["identity"]
    if "support" not in identity["panels"]:
        raise UsageError(f"{path} has no support panel, whose lexical outputs are reviewed; run: c2s run --panel lexical-audit")
    with sqlite.reading(directory.ledger_path) as db:
        yield PanelData(RunData(db, identity), PANELS["lexical-audit"])
