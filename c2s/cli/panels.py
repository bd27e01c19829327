"""`c2s panels`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from c2s.cli.output import json_out, say
from c2s.panels.base import Panel
from c2s.panels.registry import FEATURES, PANELS
from c2s.plugins import OURS
from c2s.settings import Settings


def panels(options: argparse.Namespace) -> int:
    """Every panel that can be named, and on standard error a sentence for each that an installed package brings and that cannot be used."""
    rows: list[dict[str, Any]] = []
    problems = PANELS.problems()
    for name, panel in PANELS.items():
        brought = PANELS.distribution(name)
        try:
            parents, requests = panel.count(Settings())
        except Exception as error:  # the source of a package may fail in any way
            if brought == OURS:
                raise
            problems.append(f"panel {name!r} of the package {brought}: its parents cannot be counted: {type(error).__name__}: {error}")
            continue
        sizes = {"parents": parents, "requests": requests}
        rows.append(
            {"name": name, "what": panel.what, **sizes, "needs": needs(panel), "distribution": brought.name, "version": brought.version}
        )
    for problem in problems:
        say(f"c2s: {problem}")
    if options.json:
        json_out(rows)
        return 0
    for row in rows:
        size = f"{row['parents']:,} parents, {row['requests']:,} requests at most" if row["requests"] else "no requests of its own"
        sys.stdout.write(f"{row['name']}: {size}\n    {row['what']}\n    needs: {', '.join(row['needs']) or 'nothing'}\n")
        if row["distribution"] != OURS.name:
            sys.stdout.write(f"    from the package {row['distribution']} {row['version']}\n")
    return 0


def needs(panel: Panel) -> list[str]:
    """Panels that are added with it, panels that it reads where the run has them, and what the model must offer."""
    others = [f"panel {name}" for name in panel.uses]
    others += [f"panel {name} where the run has it" for name in panel.also]
    return others + [FEATURES[feature] for feature in panel.requires]
