"""`c2s plan`: what a run would send and what it would cost; nothing is sent and nothing is written."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from c2s.backends.registry import default_model, open_model
from c2s.cli import limits as hosted
from c2s.cli.output import json_out
from c2s.cli.planning import panel_names, planned
from c2s.cli.run import earlier_form
from c2s.dialects import dialect
from c2s.options import PlanOptions
from c2s.planning.estimate import Estimate, estimate
from c2s.spending.prices import EXPECTED_BYTES_PER_TOKEN, RESERVED_BYTES_PER_TOKEN, load_price


def plan(arguments: argparse.Namespace) -> int:
    options = earlier_form(PlanOptions, arguments)
    names = panel_names(options)
    values = options.service
    backend = open_model(options.model or default_model(), dict(values) | {"sends_nothing": True})
    try:
        made = planned(names, options, backend)
        price = load_price(backend.model, values["prices"])
        found = estimate(made, dialect(backend.dialect), backend.model, price)
        limits = hosted.limits(backend, values)
    finally:
        backend.close()
    requests, sent = sum(e.requests for e in found), sum(e.sent for e in found)
    rate = limits.starts_per_second
    document = {
        "model": backend.name,
        "panels": [{name: getattr(e, name) for name in Estimate.__slots__} for e in found],
        "requests": requests,
        "sent": sent,
        "input_tokens": sum(e.input_tokens for e in found),
        "output_tokens": sum(e.output_tokens for e in found),
        "usd_expected": _sum(e.usd_expected for e in found),
        "usd_reserved": _sum(e.usd_reserved for e in found),
        "seconds_at_least": sent / rate if rate else None,
        "heuristic": f"{EXPECTED_BYTES_PER_TOKEN} bytes a token expected, {RESERVED_BYTES_PER_TOKEN} reserved; answers as long as their budget, or as the price table expects",
    }
    if options.json:
        json_out(document)
        return 0
    for e in found:
        sends = f" in {e.sent} that are sent, since equal ones share a response" if e.sent < e.requests else ""
        asks = f"{e.parents} parents, at most {e.requests} requests{sends} (lengths from {e.sampled} of them), about {e.input_tokens} + {e.output_tokens} tokens"
        print(f"{e.panel}: {asks if e.requests else 'no requests of its own'}")
    if price is None:
        print(f"no price is known for {backend.model}: give one with --prices FILE to see USD and to use --cap")
    else:
        print(f"USD {document['usd_expected']:.4f} expected, {document['usd_reserved']:.4f} if every reservation were used")
        cap = values.get("cap")
        if cap is not None and document["usd_expected"] > cap:
            print(f"the cap of USD {cap:g} would stop the run before its end")
    if rate:
        print(f"at {rate:g} starts a second: {document['seconds_at_least'] / 60:.1f} minutes or more")
    print(f"heuristic: {document['heuristic']}")
    return 0


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum, or None where no price is known."""
    found = list(values)
    return None if None in found else sum(found)
