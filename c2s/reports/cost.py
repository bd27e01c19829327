"""What every arm cost (A.7, B.7): requests, tokens, bytes, money; request time stands apart, since it differs from run to run."""

from __future__ import annotations

from c2s.reports.data import PanelData
from c2s.reports.section import Column, Section

FROZEN_USD_PER_MILLION = 0.042
"""The paper's rate for input tokens of Jev (A.7)."""

_SUMS = """
SELECT p.panel, p.domain, s.arm, count(*), sum(length(e.request)), count(e.input_tokens), sum(e.input_tokens),
       count(e.output_tokens), sum(e.output_tokens), count(e.cost_usd), sum(e.cost_usd), sum(e.done_at - e.sent_at),
       count(DISTINCT s.parent),
       sum(CASE WHEN instr(e.response, CAST('"c2s"' AS BLOB)) AND json_valid(CAST(e.response AS TEXT))
           THEN json_extract(CAST(e.response AS TEXT), '$.c2s.forwards') END)
FROM slots s JOIN parents p ON p.id = s.parent JOIN exchanges e ON e.id = s.exchange
WHERE s.state = 'ok' GROUP BY 1, 2, 3
"""


def by_arm(data: PanelData) -> Section:
    """Answered requests of every arm, by panel and domain, retries not counted. What was not reported is None, never zero."""
    rows = []
    order = {name: place for place, name in enumerate(data.run.identity["panels"])}
    for panel, domain, arm, n, size, n_in, tokens_in, n_out, tokens_out, n_usd, usd, seconds, parents, forwards in sorted(
        data.run.db.execute(_SUMS), key=lambda row: (order[row[0]], *row[1:3])
    ):
        undefined = {} if n_in else dict.fromkeys(("input_tokens", "usd_at_frozen_rate"), "no usage was reported")
        rows.append(
            {
                "panel": panel,
                "domain": domain,
                "arm": arm,
                "requests": n,
                "per_parent": n / parents,
                "kilobytes": size / 1000,
                "input_tokens": tokens_in if n_in else None,
                "input_tokens_of": n_in,
                "output_tokens": tokens_out if n_out else None,
                "forwards": forwards,
                "usd": usd if n_usd else None,
                "usd_at_frozen_rate": tokens_in * FROZEN_USD_PER_MILLION / 1e6 if n_in else None,
                "clock": {"seconds": seconds},
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
