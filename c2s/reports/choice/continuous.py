"""Solving in one answer, by position queries and by going on from a prefix (D.8, D.18, Tables 3 and D17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from c2s.records import VALID_KINDS
from c2s.reports import estimates
from c2s.reports.data import PanelData, defined, outcome_of
from c2s.reports.retained import accuracy
from c2s.reports.section import Column, Section


def interfaces(data: PanelData, *, arms: Sequence[str]) -> Section:
    """Content EM, share of trajectories whose every answer is valid, and requests an item."""
    rows = []
    for domain, parents in data.domains.items():
        for name in arms:
            found = defined(parents, outcome_of(name))
            strata = [row.stratum for row, _ in found]
            calls = data.calls(name, domain)
            rows.append(
                {"domain": domain, "arm": name, "requests": calls}
                | estimates.merged(
                    accuracy(data, parents, name),
                    estimates.share("valid", [outcome.kind in VALID_KINDS for _, outcome in found], strata, data.panel),
                    {"calls": calls / len(found)} if found else estimates.absent("no output is defined", "calls"),
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("arm", "interface"),
        Column("em_count", "correct", "of"),
        Column("em", "EM % [95 % CI]", "ci_rate"),
        Column("valid", "valid %", "rate"),
        Column("calls", "calls", "number"),
    )
    notes = ["Correct: content EM. Valid: every answer of the trajectory is an offered one and none was cut. Calls: requests an item."]
    return Section("interfaces", "one answer, positions, prefixes", "Table 3", columns, rows, notes)


def prefixes(data: PanelData) -> Section:
    """PrefixContinue: whether the first complete suffix is the answer, and what the constructed string comes to."""
    rows = []
    for domain, parents in data.domains.items():
        found = defined(parents, outcome_of("prefix_continue"))
        strata = [row.stratum for row, _ in found]
        rows.append(
            {"domain": domain, "n": len(found), "n_planned": len(parents)}
            | estimates.merged(
                estimates.share("initial", [o.detail["initial"] for _, o in found], strata, data.panel),
                estimates.share("constructed", [o.correct for _, o in found], strata, data.panel),
            )
            | {
                "lost": sum(bool(o.detail["initial"]) and not o.correct for _, o in found),
                "with_markers": sum(o.detail["markers"] > 0 for _, o in found),
                "markers": sum(o.detail["markers"] for _, o in found),
            }
        )
    columns = (
        Column("domain", "domain"),
        Column("initial_count", "initial suffix", "of"),
        Column("constructed_count", "constructed", "of"),
        Column("constructed", "constructed % [95 % CI]", "ci_rate"),
        Column("lost", "lost", "int"),
        Column("with_markers", "items with markers", "int"),
        Column("markers", "markers", "int"),
    )
    notes = [
        "Initial suffix: the whole first answer is right. Lost: it was, and the constructed string is not. "
        "Markers: empty or illegal first characters."
    ]
    return Section("prefixes", "PrefixContinue", "D.8", columns, rows, notes)


def budgets(data: PanelData, *, caps: Mapping[str, int]) -> Section:
    """New tokens, special ones included, against each interface's budget; truncation as the responses flag it."""
    rows = []
    for domain, parents in data.domains.items():
        for name, cap in caps.items():
            details = [outcome.detail for _, outcome in defined(parents, outcome_of(name))]
            tokens = [n for detail in details for n in detail.get("tokens", ()) if n is not None]
            rows.append(
                {"domain": domain, "arm": name, "requests": data.calls(name, domain), "cap": cap, "max": max(tokens, default=None)}
                | {"truncated": sum(len(detail["truncated"]) for detail in details), "counted": len(tokens)}
                | ({} if tokens else {"undefined": {"max": "no response reports its tokens"}})
            )
    columns = (
        Column("domain", "task"),
        Column("arm", "interface"),
        Column("requests", "requests", "int"),
        Column("cap", "cap", "int"),
        Column("max", "max", "int"),
        Column("truncated", "truncated", "int"),
    )
    return Section("budgets", "new tokens against their budget", "Table D17", columns, rows)
