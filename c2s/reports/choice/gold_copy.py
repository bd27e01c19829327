"""Supplied gold: targets and prefixes (A.4, A.6, B.1): string success, item-averaged characters, gold-path scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined, outcome_of
from c2s.reports.section import Column, Section


def accuracy(data: PanelData, *, own: Sequence[str], main: Sequence[str]) -> Section:
    """String success and item-averaged character accuracy of each arm, on this panel's parents."""
    elsewhere = {row.parent.id: row for row in data.used("main").rows}
    rows = []
    for domain, parents in data.domains.items():
        arms = [(arm, parents) for arm in own] + [(arm, [elsewhere[p.parent.id] for p in parents]) for arm in main]
        for arm, source in arms:
            found = defined(source, outcome_of(arm))
            strata = [row.stratum for row, _ in found]
            rows.append(
                {"domain": domain, "arm": arm, "n": len(found), "n_planned": len(parents)}
                | estimates.merged(
                    estimates.share("em", [bool(o.correct) for _, o in found], strata, data.panel),
                    estimates.mean("characters", [characters(row, o.output) for row, o in found], strata, data.panel),
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("n", "n", "int"),
        Column("em", "string % [95 % CI]", "ci_rate"),
        Column("characters", "characters % [95 % CI]", "ci_rate"),
    )
    notes = ["Characters: share of right positions, averaged within item. Independent and Serial are main's."]
    return Section("accuracy", "supplied targets and prefixes", "B.1", columns, rows, notes)


def prefix_effects(data: PanelData, *, pairs: Sequence[tuple[str, str]], main: Sequence[str]) -> Section:
    """What a prefix changes: first arm minus second in string success and in item-averaged characters, paired by item."""
    elsewhere = {row.parent.id: row for row in data.used("main").rows}
    rows = []
    for domain, parents in data.domains.items():
        for pair in pairs:
            found = []
            for row in parents:
                a, b = ((elsewhere[row.parent.id] if arm in main else row).ok(arm) for arm in pair)
                if a is not None and b is not None:
                    found.append((row, a, b))
            strata = [row.stratum for row, *_ in found]
            strings = [[bool(a.correct) for _, a, _ in found], [bool(b.correct) for *_, b in found]]
            shares = [[characters(row, a.output) for row, a, _ in found], [characters(row, b.output) for row, _, b in found]]
            rows.append(
                {"domain": domain, "contrast": " - ".join(pair), "n": len(found), "n_planned": len(parents)}
                | estimates.merged(
                    estimates.difference("em", strings[0], strings[1], strata, data.panel),
                    estimates.difference("characters", shares[0], shares[1], strata, data.panel),
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("contrast", "contrast"),
        Column("n", "n", "int"),
        Column("em", "string, points [95 % CI]", "ci_points"),
        Column("characters", "characters, points [95 % CI]", "ci_points"),
    )
    return Section("prefix_effects", "what a prefix changes", "B.1", columns, rows)


def characters(row: Row, output: str | None) -> float:
    """Share of positions that equal the target's; positions that the output lacks are wrong."""
    return sum(a == b for a, b in zip(output or "", row.parent.target, strict=False)) / row.parent.length


def gold_path(data: PanelData, *, arms: Sequence[str]) -> Section:
    """Product and geometric mean of the probabilities of the right characters, averaged over items."""
    rows = []
    for domain, parents in data.domains.items():
        for arm in arms:
            paths = [(row, o.detail["gold_p"]) for row in parents if (o := row.ok(arm)) is not None and None not in o.detail["gold_p"]]
            strata = [row.stratum for row, _ in paths]
            row = {"domain": domain, "arm": arm, "n": len(paths)}
            if paths:
                row |= estimates.merged(
                    estimates.mean("product", [_product(p) for _, p in paths], strata, data.panel),
                    estimates.mean("geometric", [_product(p) ** (1 / len(p)) for _, p in paths], strata, data.panel),
                )
            else:
                row |= estimates.absent("no probabilities were reported", "product", "geometric")
            rows.append(row)
    columns = (
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("n", "n", "int"),
        Column("product", "product [95 % CI]", "ci_number"),
        Column("geometric", "geometric mean [95 % CI]", "ci_number"),
    )
    return Section("gold_path", "probability of the gold path", "A.6", columns, rows)


def _product(p: Sequence[float]) -> float:
    return 0.0 if min(p) <= 0 else exp(sum(map(log, p)))
