"""`c2s models`."""

from __future__ import annotations

import argparse
import sys

from c2s.backends.registry import MODELS, available
from c2s.cli.output import json_out, say
from c2s.plugins import OURS


def models(options: argparse.Namespace) -> int:
    """Every model that can be named, and on standard error a sentence for each that an installed package brings and that cannot be used."""
    entries = list(MODELS.values())
    for problem in MODELS.problems():
        say(f"c2s: {problem}")
    if options.json:
        json_out(
            [
                {
                    "name": e.name,
                    "what": e.what,
                    "needs": e.needs,
                    "available": available(e),
                    "distribution": e.distribution.name,
                    "version": e.distribution.version,
                }
                for e in entries
            ]
        )
        return 0
    for entry in entries:
        mark = "" if available(entry) else "  [not installed]"
        brought = "" if entry.distribution == OURS else f"    from the package {entry.distribution}\n"
        sys.stdout.write(f"{entry.name}{mark}\n    {entry.what}\n    needs: {entry.needs}\n{brought}")
    sys.stdout.write(
        "Options follow a question mark: sim:positions?p=0.9&native=0.95&seed=1&delay_ms=5 (sim: models take seed, delay_ms)\n"
    )
    return 0
