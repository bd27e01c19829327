"""`c2s reproduce published`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import asdict

from c2s.cli.output import json_out


def published(options: argparse.Namespace) -> int:
    from c2s.reports.published import figures
    from c2s.reports.tables import Table, as_text

    found = figures()
    if options.json:
        json_out([asdict(figure) for figure in found])
        return 0
    rows = [[f.where, f.what, f.printed or "-", f.recomputed, f.verdict] for f in found if f.recomputed]
    counts = Counter(f.verdict for f in found)
    notes = [f"{n} {verdict}" for verdict, n in counts.items()]
    sys.stdout.write(as_text(Table("Printed figures and what their printed counts give", ["where", "what", "printed", "recomputed", "verdict"], rows, notes, 2)))
    absent = [[f.where, f.note] for f in found if not f.recomputed]
    sys.stdout.write("\n" + as_text(Table("What cannot be recomputed", ["where", "why"], absent, left=2)))
    differing = [f for f in found if f.verdict == "differs"]
    for figure in differing:
        sys.stdout.write(f"differs: {figure.where}, {figure.what}: {figure.printed} printed, {figure.recomputed} found ({figure.note or 'from the counts'})\n")
    return 0
