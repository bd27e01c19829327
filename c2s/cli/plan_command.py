"""`c2s plan`: what a run would send and what it would cost; nothing is sent and nothing is written."""

from __future__ import annotations

import argparse

import c2s
from c2s.api.planned import HEURISTIC
from c2s.cli.arguments import options
from c2s.cli.output import json_out
from c2s.options import PlanOptions, RunOptions, as_dict


def plan(arguments: argparse.Namespace) -> int:
    """Print the estimate of every panel, then the money and the time."""
    made = c2s.plan(**as_dict(PlanOptions, options(PlanOptions, arguments, file=RunOptions)))
    if arguments.json:
        json_out(made.as_dict())
        return 0
    for e in made.panels:
        sends = f", of which {e.sent:,} are sent: equal requests share a response" if e.sent < e.requests else ""
        measured = f" (their lengths are estimated from {e.sampled:,} of them)" if e.sampled < e.requests else ""
        asks = f"{e.parents:,} parents, at most {e.requests:,} requests{sends}{measured}"
        tokens = f"about {e.input_tokens:,} input tokens and {e.output_tokens:,} output tokens"
        print(f"{e.panel}: {asks}, {tokens}" if e.requests else f"{e.panel}: no requests of its own")
    if made.usd_expected is None:
        print(f"no price is known for {made.wire_model}: give one with --prices FILE to see USD and to use --cap")
    else:
        print(f"USD {made.usd_expected:,.4f} expected, {made.usd_reserved:,.4f} if every reservation were used")
        if made.cap is not None and made.usd_expected > made.cap:
            print(f"the cap of USD {made.cap:g} would stop the run before its end")
    if made.rate and made.seconds_at_least is not None:
        print(f"at {made.rate:g} starts a second: {made.seconds_at_least / 60:.1f} minutes or more")
    print(HEURISTIC)
    return 0
