"""`c2s status`, `c2s report` and `c2s verify`: they read, and never write."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import c2s
from c2s.cli.output import json_out, say
from c2s.ledger.journal import ALTERED


def status(options: argparse.Namespace) -> int:
    """State, counts and latest events, from counters alone."""
    document = c2s.open(options.dir).status()
    if options.json:
        json_out(document)
    else:
        print_status(document)
    return 0


def print_status(document: Mapping[str, Any]) -> None:
    from c2s.reports.tables import Table, as_text, literal

    runner = f" by {document['runner']}" if document["runner"] else ""
    print(literal(f"{document['state']}{runner}: {', '.join(document['panels'])} with {document['model']}"))
    if document["manifest_altered"]:
        print(f"warning: {ALTERED}; c2s verify tells more")
    if document["failure"]:
        print(literal(f"failure: {document['failure']}"))
    for sentence in document["missing"]:
        print(literal(f"missing: {sentence}"))
    for what in ("phase", "stopped"):
        if document[what]:
            print(literal(f"{what}: {document[what]}"))
    if len(document["models"]) > 1:
        print(literal("answered as: " + ", ".join(f"{model} ({n})" for model, n in document["models"].items())))
    spend = document["spend"]
    if spend["sends"] or spend["reused"]:
        reported = f"{spend['input_tokens']} + {spend['output_tokens']} tokens reported"
        money = f"USD {spend['settled_usd']:.6f} settled, {spend['held_usd']:.6f} held"
        absent = f", {spend['usage_not_reported']} answers without usage" if spend["usage_not_reported"] else ""
        print(f"{spend['sends']} requests sent, {spend['reused']} answers reused; {reported}{absent}; {money}")
    requests = document["requests"]
    print(f"{requests['planned'] - requests['open']} of {requests['planned']} requests settled")
    states = ("ok", "error", "unknown", "blocked", "not_needed", "sent", "planned")
    rows = [
        [
            domain,
            arm,
            *(str(cell.get(state, 0)) for state in states),
            str(cell.get("outcome:correct", 0)),
            str(cell.get("outcome:wrong", 0)),
        ]
        for domain, arms in document["arms"].items()
        for arm, cell in arms.items()
    ]
    header = ["domain", "arm", "ok", "error", "unkn.", "blocked", "skipped", "out", "open", "right", "wrong"]
    print(as_text(Table("", header, rows, left=2)).strip("\n"))
    out = "under way, without an answer yet" if document["state"] == "running" else "sent, without an answer"
    print(f"out: {out}; open: not sent yet")
    for event in document["events"]:
        print(literal(f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(event['at']))} {event['level']}: {event['message']}"))


def report(options: argparse.Namespace) -> int:
    from c2s.reports.build import build, render

    reports = build(options.dirs, exploratory=options.exploratory)
    sys.stdout.write(render(reports, options.format))
    return say_errors(reports.errors)


def say_errors(errors: Sequence[str]) -> int:
    """Name the sections that could not be made; exit code 1 if there are any."""
    for sentence in errors:
        say(f"c2s: {sentence}")
    return 1 if errors else 0


def verify(options: argparse.Namespace) -> int:
    from c2s.reports.formats import counted

    found = c2s.verify(options.dir)
    if options.json:
        json_out(
            {
                "verified": not found.differences,
                "open": found.open,
                "checked": dict(found.checked),
                "differences": found.differences,
                "notes": found.notes,
                "report_not_compared": found.report_not_compared,
            }
        )
    else:
        for note in found.notes:
            say(f"c2s: {note}")
        for difference in found.differences[:50]:
            say(f"c2s: {difference}")
        if len(found.differences) > 50:
            say(f"c2s: and {len(found.differences) - 50} more")
        result = f"NOT verified, {counted(len(found.differences), 'difference')}" if found.differences else "verified"
        print(f"{result}: {found.summary()}")
    return 1 if found.differences else 0
