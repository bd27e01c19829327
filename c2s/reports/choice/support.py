"""What a support lets out, and what it costs: calls, fills, membership, recombinations (Tables D6 and D7, Figure 12)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from statistics import mean, median

from c2s.reports.data import PanelData, Row, defined, outcome_of
from c2s.reports.section import Column, Section


def calls_and_membership(data: PanelData, *, arms: Sequence[str], source: str) -> Section:
    """Model requests, supplied positions and candidate membership of the finished outputs of every arm."""
    rows = []
    for domain, parents in data.domains.items():
        for arm in arms:
            done = defined(parents, outcome_of(arm))
            trie = data.panel.arm(arm).factors["support"] == "trie"
            members = sum(o.output in row.parent.candidates for row, o in done)
            mixed = sum(is_recombination(row, o.output) for row, o in done)
            filled = [len(o.detail.get("filled", ())) for _, o in done]
            asked = [sum(1 for i in range(1, len(o.detail["p"]) + 1) if i not in o.detail.get("filled", ())) for _, o in done]
            rows.append(
                {
                    "domain": domain,
                    "arm": arm,
                    "n": len(done),
                    "calls": data.calls(arm, domain),
                    "calls_per_item": mean(asked) if asked else None,
                    "ambiguous_per_item": mean(_ambiguous(row, trie, o.output) for row, o in done) if done else None,
                    "filled": sum(filled),
                    "members": [members, len(done)],
                    "recombinations": mixed,
                    "aborted": sum("aborted" in o.detail for _, o in done),
                }
                | ({} if done else {"undefined": dict.fromkeys(("calls_per_item", "ambiguous_per_item"), "no output is defined")})
            )
    columns = (
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("calls", "calls", "int"),
        Column("calls_per_item", "per item", "number"),
        Column("filled", "supplied", "int"),
        Column("members", "candidates", "of"),
        Column("recombinations", "recombined", "int"),
        Column("aborted", "aborted", "int"),
    )
    notes = ["Recombined: not a candidate, but every character occurs at its position in one. Calls exclude retries."]
    return Section("calls_and_membership", "calls and candidate membership", source, columns, rows, notes)


def _ambiguous(row: Row, trie: bool, output: str) -> int:
    """Positions of this output at which more than one candidate continuation was left: decisions that could go either way. With a trie,
    continuations of this output's own prefix; otherwise of any candidate."""
    if trie:
        return sum(len({c[t] for c in row.parent.candidates if c[:t] == output[:t]}) > 1 for t in range(len(output)))
    return sum(len(union) > 1 for union in unions(row.parent.candidates))


def unions(candidates: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset(column) for column in zip(*candidates, strict=True)]


def is_recombination(row: Row, output: str) -> bool:
    """A string outside the candidates that every position union allows (D.17)."""
    at = unions(row.parent.candidates)
    return output not in row.parent.candidates and len(output) == len(at) and all(c in u for c, u in zip(output, at, strict=True))


def feasible_outputs(data: PanelData, *, source: str) -> Section:
    """Position unions and their Cartesian products, by domain and length."""
    rows = []
    for domain, parents in data.domains.items():
        for length in sorted({row.parent.length for row in parents}):
            sizes = [[len(u) for u in unions(row.parent.candidates)] for row in parents if row.parent.length == length]
            products = [prod(s) for s in sizes]
            rows.append(
                {
                    "domain": domain,
                    "length": length,
                    "n": len(sizes),
                    "mean_union": mean(mean(s) for s in sizes),
                    "forced": mean(sum(n == 1 for n in s) for s in sizes),
                    "min": min(products),
                    "median": median(products),
                    "max": max(products),
                }
            )
    columns = (
        Column("domain", "domain"),
        Column("length", "length", "int", names_row=True),
        Column("n", "items", "int"),
        Column("mean_union", "mean union", "number"),
        Column("forced", "forced", "number"),
        Column("min", "min", "int"),
        Column("median", "median", "int"),
        Column("max", "max", "int"),
    )
    return Section("feasible_outputs", "strings that position unions allow", source, columns, rows)
