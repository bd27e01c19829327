"""Copying with an index, and with padding of the same length in the model's own tokens (D.9, Table D9)."""

from __future__ import annotations

from c2s.reports import estimates
from c2s.reports.data import PanelData, defined, outcome_of
from c2s.reports.retained import accuracy
from c2s.reports.section import Column, Section

ARMS = ("raw", "indexed", "padded")


def fidelity(data: PanelData) -> Section:
    rows = [
        {"domain": domain} | estimates.merged(*(accuracy(data, parents, arm, "fidelity", arm) for arm in ARMS))
        for domain, parents in data.domains.items()
    ]
    columns = (
        Column("domain", "domain"),
        Column("n", "n", "int"),
        *(Column(arm, f"{arm} % [95 % CI]", "ci_rate") for arm in ARMS),
    )
    return Section(
        "fidelity",
        "fidelity to the supplied gold target",
        "Table D9, tokens",
        columns,
        rows,
        ["Padded: as many rendered tokens as indexed, without an index."],
    )


def matched(data: PanelData) -> Section:
    """Every padded request against the indexed one with the same prefix, as the responses count their rendered prompts."""
    rows = []
    for domain, parents in data.domains.items():
        pairs = [pair for _, outcome in defined(parents, outcome_of("padded")) for pair in outcome.detail["rendered"]]
        counted = [pair for pair in pairs if None not in pair]
        rows.append(
            {"domain": domain, "requests": len(pairs), "matched_count": [sum(a == b for a, b in counted), len(counted)]}
            | {"largest": max((abs(a - b) for a, b in counted), default=None), "tokenizer": data.run.identity["settings"].get("tokenizer")}
            | ({} if counted else {"undefined": {"largest": "no response counts both requests"}})
        )
    columns = (
        Column("domain", "domain"),
        Column("requests", "padded requests", "int"),
        Column("matched_count", "equal in length", "of"),
        Column("largest", "largest difference", "int"),
    )
    return Section("matched", "rendered lengths, padded against indexed", "D.9", columns, rows)
