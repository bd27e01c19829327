"""When constructions end (A.4, B.7): five exclusive categories, and content scored apart from stopping."""

from __future__ import annotations

from collections.abc import Sequence

from c2s.reports import estimates
from c2s.reports.data import PanelData, defined, outcome_of
from c2s.reports.section import Column, Section

ARM = "serial_with_end"
SHORT = {
    "exact_completion": "exact",
    "premature_end": "premature END",
    "correct_content_without_end": "no END",
    "step_cap_exhaustion": "exhausted",
    "wrong_content": "wrong content",
}


def categories(data: PanelData, *, categories: Sequence[str]) -> Section:
    """Counts of the exclusive categories, with the share and interval of each in the rows."""
    rows = []
    for domain, parents in data.domains.items():
        found = defined(parents, outcome_of(ARM))
        strata = [row.stratum for row, _ in found]
        parts = [estimates.share(name, [o.detail["category"] == name for _, o in found], strata, data.panel) for name in categories]
        shares = estimates.merged(*parts)
        counts = {f"{name}_n": shares[f"{name}_count"][0] for name in categories}
        rows.append({"domain": domain, "n": len(found), "n_planned": len(parents)} | shares | counts)
    columns = (
        Column("domain", "domain"),
        Column("n", "n", "int"),
        *(Column(f"{name}_n", SHORT[name], "int") for name in categories),
    )
    return Section("categories", "how constructions end", "B.7", columns, rows, ["Exclusive, the first that holds from left to right."])


def content(data: PanelData) -> Section:
    """Strict content, the first L characters, and the indicators that the categories hide."""
    keys = {"content": "content", "first_l": "first L", "exhausted": "cap reached"}
    rows = []
    for domain, parents in data.domains.items():
        found = defined(parents, outcome_of(ARM))
        strata = [row.stratum for row, _ in found]
        parts = [estimates.share(key, [o.detail[key] for _, o in found], strata, data.panel) for key in keys]
        row = {"domain": domain, "n": len(found), "n_planned": len(parents)} | estimates.merged(*parts)
        row["exhausted_and_wrong"] = [sum(o.detail["exhausted"] and not o.detail["first_l"] for _, o in found), len(found)]
        row["late_end"] = [sum(o.detail["end"] is not None and len(o.output) > r.parent.length for r, o in found), len(found)]
        rows.append(row)
    columns = (
        Column("domain", "domain"),
        Column("content", "content EM % [95 % CI]", "ci_rate"),
        Column("first_l", "first L % [95 % CI]", "ci_rate"),
        Column("exhausted_count", "cap reached", "of"),
        Column("exhausted_and_wrong", "and wrong", "of"),
        Column("late_end", "late END", "of"),
    )
    return Section("content", "content, apart from stopping", "A.4", columns, rows)
