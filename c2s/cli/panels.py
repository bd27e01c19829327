"""`c2s panels`."""

from __future__ import annotations

import argparse
import sys

from c2s.cli.output import json_out
from c2s.panels.base import Panel
from c2s.panels.registry import PANELS
from c2s.settings import Settings

FEATURES = {
    "probabilities": "a model that reports probabilities",
    "batch": "a model that takes several questions in one request",
    "singletons": "a model that can be asked with a single option",
    "wide": "a model that takes 51 options",
    "descriptions": "a model that is shown the descriptions of options",
    "text": "a model that writes text under the contract that a request demands",
    "continuation": "a model that goes on from the beginning of an answer",
    "tokenizer": "a model whose tokenizer is at hand",
    "symbols": "a model that takes options of any kind",
}


def panels(options: argparse.Namespace) -> int:
    rows = []
    for panel in PANELS.values():
        parents, requests = panel.count(Settings())
        rows.append({"name": panel.name, "what": panel.what, "parents": parents, "requests": requests, "needs": needs(panel)})
    if options.json:
        json_out(rows)
        return 0
    for row in rows:
        size = f"{row['parents']:,} parents, {row['requests']:,} requests at most" if row["requests"] else "no requests of its own"
        sys.stdout.write(f"{row['name']}: {size}\n    {row['what']}\n    needs: {', '.join(row['needs']) or 'nothing'}\n")
    return 0


def needs(panel: Panel) -> list[str]:
    """Panels that are added with it, panels that it reads where the run has them, and what the model must offer."""
    found = [f"panel {name}" for name in panel.uses]
    found += [f"panel {name} where the run has it" for name in panel.also]
    return found + [FEATURES[feature] for feature in panel.requires]
