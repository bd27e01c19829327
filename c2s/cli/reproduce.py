"""`c2s reproduce published`."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from c2s.cli.output import json_out
from c2s.reproduce.figures import Figure

SAID = {"agrees": "agree", "differs": "differ", "not recomputable": "cannot be recomputed", "not printed": "are not printed"}


def published(options: argparse.Namespace) -> int:
    from c2s.reproduce.published import figures

    found = figures()
    if options.json:
        json_out([asdict(figure) for figure in found])
    else:
        sys.stdout.write(as_text(found))
    return 0


def as_text(found: Sequence[Figure]) -> str:
    """A block for every table or figure of the paper, then what agrees, differs and cannot be recomputed."""
    from c2s.reports.tables import Table
    from c2s.reports.tables import as_text as block

    sources: dict[str, list[list[str]]] = {}
    for figure in found:
        if figure.recomputed:
            source, _, part = figure.where.partition(", ")
            what = ", ".join(filter(None, (part, figure.what)))
            sources.setdefault(source, []).append([what, figure.printed or "-", figure.recomputed, figure.verdict])
    head = ["what", "printed", "recomputed", "verdict"]
    blocks = [block(Table(source, head, rows)) for source, rows in sources.items()]
    return "\n".join(["Printed figures of the paper and what its printed counts give\n", *blocks, _summary(found)])


def _summary(found: Sequence[Figure]) -> str:
    counts: Counter[str] = Counter(figure.verdict for figure in found)
    lines = _wrapped(
        f"Summary: of {len(found)} figures " + ", ".join(f"{counts[verdict]} {said}" for verdict, said in SAID.items()) + ".", ""
    )
    lines += ["", "differs:"]
    for f in found:
        if f.verdict == "differs":
            lines += _wrapped(f"{f.where}, {f.what}: {f.printed} printed, {f.recomputed} found ({f.note or 'from the counts'})")
    lines += ["", "cannot be recomputed:"]
    reasons: dict[str, list[str]] = {}
    for f in found:
        if f.verdict == "not recomputable":
            reasons.setdefault(f.note, []).append(", ".join(filter(None, (f.where, f.what))))
    for reason, figures in reasons.items():
        lines += _wrapped(f"{reason}: {'; '.join(figures)}")
    return "\n".join(lines) + "\n"


def _wrapped(text: str, bullet: str = "- ") -> list[str]:
    return textwrap.wrap(text, 79, initial_indent=bullet, subsequent_indent=" " * len(bullet), break_on_hyphens=False)
