"""What every arm cost (A.7, B.7): requests, tokens, bytes, money; request time stands apart, since it differs from run to run."""

from __future__ import annotations

from c2s.ledger.exchanges import cost_by_arm
from c2s.reports.data import PanelData
from c2s.reports.section import Column, Section

FROZEN_USD_PER_MILLION = 0.042
"""The paper's rate for input tokens of Jev (A.7)."""


def by_arm(data: PanelData) -> Section:
    """Answered requests of every arm, by panel and domain, retries not counted. What was not reported is None, never zero."""
    rows = []
    order = {name: place for place, name in enumerate(data.run.identity["panels"])}
    for cost in sorted(cost_by_arm(data.run.db), key=lambda cost: (order[cost.panel], cost.domain, cost.arm)):
        undefined = {} if cost.input_reported else dict.fromkeys(("input_tokens", "usd_at_frozen_rate"), "no usage was reported")
        rows.append(
            {
                "panel": cost.panel,
                "domain": cost.domain,
                "arm": cost.arm,
                "requests": cost.requests,
                "per_parent": cost.requests / cost.parents,
                "kilobytes": cost.request_bytes / 1000,
                "input_tokens": cost.input_tokens,
                "input_tokens_of": cost.input_reported,
                "output_tokens": cost.output_tokens,
                "forwards": cost.forwards,
                "usd": cost.usd,
                "usd_at_frozen_rate": None if cost.input_tokens is None else cost.input_tokens * FROZEN_USD_PER_MILLION / 1e6,
                "clock": {"seconds": cost.seconds},
            }
            | ({"undefined": undefined} if undefined else {})
        )
    counted = (Column("forwards", "forwards", "int"),) if any(row["forwards"] is not None for row in rows) else ()
    columns = (
        Column("panel", "panel"),
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("requests", "requests", "int"),
        Column("per_parent", "per item", "number"),
        Column("kilobytes", "kB sent", "number"),
        Column("input_tokens", "input tokens", "int"),
        *counted,
        Column("usd_at_frozen_rate", "USD", "usd"),
        Column("clock.seconds", "s", "seconds"),
    )
    notes = [
        f"USD: input tokens at {FROZEN_USD_PER_MILLION} a million, the paper's frozen rate; money as charged stands in the JSON.",
        "s: summed time of the requests, without loading and orchestration. A selection that a program returns costs no request.",
    ]
    if not rows:
        notes.insert(0, "No request was answered.")
    if counted:
        notes.append("forwards: passes of local weights that the requests took part in; one pass serves every request of its batch.")
    return Section("by_arm", "requests, tokens, time and money", "Table C5's and B.7's columns", columns, rows, notes)
