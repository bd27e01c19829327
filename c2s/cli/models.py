"""`c2s models`."""

from __future__ import annotations

import argparse
import sys

from c2s.backends.registry import ENTRIES, available
from c2s.cli.output import json_out
from c2s.extras import install_command


def models(options: argparse.Namespace) -> int:
    if options.json:
        json_out([{"name": e.name, "what": e.what, "needs": e.needs, "available": available(e)} for e in ENTRIES])
        return 0
    lines = []
    for entry in ENTRIES:
        there = available(entry)
        lines.append(f"{entry.name}{'' if there else '  [not installed]'}\n    {entry.what}\n    needs: {entry.needs}\n")
        if not there and entry.extra:
            lines.append(f"    install: {install_command(entry.extra)}\n")
    sys.stdout.write("".join(lines))
    sys.stdout.write(
        "Options follow a question mark: sim:positions?p=0.9&native=0.95&seed=1&delay_ms=5 (sim: models take seed, delay_ms)\n"
    )
    return 0
