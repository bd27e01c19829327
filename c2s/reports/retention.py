"""Retention of correct answers between the two arms of a panel's pair (section 3.1, Table 1).

Four endpoints: accuracy by arm, the joint table with SCR and gain rate, exact McNemar, and all of it by target length. Pairs with an
undefined arm drop as pairs and are counted. `c2s.panels.retention` declares them for a panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined, strata_of, value_of
from c2s.reports.formats import percent
from c2s.reports.section import TEST_OF, Column, Section

FAMILY = "retention"
SOURCE = "section 3.1"
NAMES = {"native": "Native", "serial": "Serial", "independent": "Independent", "candidates_only": "Cand. only"}
"""Arms as the paper names them; any other arm is shown by its own name."""


def accuracy(data: PanelData, *, shown: bool = True) -> Section:
    """Exact match of every arm that has a right or wrong answer. The pair's arms are counted over the pairs, so that they agree with the
    joint table; every other arm over the parents where it is defined. `n` is the number of parents where the arm is defined."""
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for domain, parents in data.domains.items():
        pairs = {id(row) for row in _pairs(data, parents)}
        for arm in data.panel.arms:
            own = defined(parents, value_of(arm.name))
            kept = [(row, right) for row, right in own if arm.name not in _pair(data) or id(row) in pairs]
            strata = strata_of([row for row, _ in kept])
            row = {"domain": domain, "arm": arm.name, "n": len(own), "n_planned": len(parents), "pairs": [len(pairs), len(parents)]}
            rows.append(row | estimates.share("em", [right for _, right in kept], strata, data.panel))
        others = [row for row in rows if row["domain"] == domain and row["em_count"][1] != len(pairs)]
        if others:
            counts = ", ".join(f"{_shown(row['arm'])} {row['em_count'][0]}/{row['em_count'][1]}" for row in others)
            notes.append(f"{domain}: not over the pairs, but right / parents where the arm is defined: {counts}.")
    arms = [arm.name for arm in data.panel.arms]
    columns = (
        Column("domain", "domain"),
        Column("pairs", "pairs", "of"),
        *(Column(f"em_{name}", _shown(name), "cell") for name in arms),
    )
    first, second = map(_shown, _pair(data))
    notes.insert(0, f"Exact match in %. Pairs: parents with {first} and {second} defined / planned.")
    return Section("accuracy", "exact match by arm", SOURCE, columns, rows, notes, shown, _by_domain)


def _by_domain(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each domain, a cell for each arm."""
    lines: dict[str, dict[str, Any]] = {}
    for row in rows:
        line = lines.setdefault(row["domain"], {"domain": row["domain"], "pairs": row["pairs"]})
        line[f"em_{row['arm']}"] = percent(row["em"])
    return list(lines.values())


def transitions(data: PanelData, *, shown: bool = True) -> Section:
    """The joint table of the pair, SCR with its interval, gain rate, and the masses of loss and gain."""
    rows, notes = [], []
    for domain, parents in data.domains.items():
        row = {"domain": domain} | _cell(data, parents)
        rows.append(row)
        if row["n_dropped"]:
            notes.append(f"{domain}: {row['n_dropped']} of {row['n_planned']} pairs dropped (unfinished, error or unknown).")
    first, second = map(_shown, _pair(data))
    meaning = f"Lost: {first} right, {second} wrong; gained: the reverse. SCR = both / (both + lost)."
    how = " Intervals: items resampled within length, exactly where that can be done."
    columns = (
        Column("domain", "domain"),
        *(Column(f"joint.{i}", name, "int") for i, name in enumerate(("both", "lost", "gained", "neither"))),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
        Column("gain_rate", "gain rate %", "rate"),
    )
    title = f"which correct answers survive, {first} -> {second}"
    return Section("transitions", title, SOURCE, columns, rows, [meaning + how, *_drawn(rows), *notes], shown)


def _drawn(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A note where an interval was not exact."""
    methods = sorted({row["scr_method"] for row in rows} - {None, "exact", "clopper-pearson"})
    return [f"SCR's interval by the method {', '.join(methods)}: its exact law is too large."] if methods else []


def mcnemar(data: PanelData, *, shown: bool = True) -> Section:
    """Exact McNemar of the pair, two-sided; Holm over the domains of all runs that are shown together."""
    rows = []
    for domain, parents in data.domains.items():
        kept, first, second = _values(data, parents)
        counts = estimates.joint(first, second, _pair(data)[0])
        masses = {key: counts[key] for key in ("loss_mass", "gain_mass")}
        reasons = {} if kept else {"undefined": dict.fromkeys(masses, "no pair is defined")}
        rows.append(
            {"domain": domain, "family": FAMILY, "n": len(kept), "n_planned": len(parents)}
            | estimates.merged(estimates.mcnemar(second, first), masses | reasons)
        )
    columns = (
        Column("domain", "domain"),
        Column("loss_mass", "lost %", "rate"),
        Column("gain_mass", "gained %", "rate"),
        *TEST_OF,
    )
    first_name, second_name = map(_shown, _pair(data))
    return Section("mcnemar", f"exact McNemar, {first_name} against {second_name}", SOURCE, columns, rows, [], shown)


def by_length(data: PanelData, *, shown: bool = True) -> Section:
    """Accuracy of both arms, the joint table and SCR at every target length, over the pairs."""
    rows = []
    for domain, parents in data.domains.items():
        for length in sorted({row.parent.length for row in parents}):
            rows.append({"domain": domain, "length": length} | _cell(data, [row for row in parents if row.parent.length == length]))
    first, second = _pair(data)
    columns = (
        Column("domain", "domain"),
        Column("length", "length", "int", names_row=True),
        Column("n", "pairs", "int"),
        Column("native_em", f"{_shown(first)} %", "rate"),
        Column("em", f"{_shown(second)} %", "rate"),
        Column("scr_count", "kept", "of"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
    )
    return Section("by_length", "by target length", SOURCE, columns, rows, _drawn(rows), shown)


def _pair(data: PanelData) -> tuple[str, str]:
    if data.panel.pair is None:
        raise ValueError("the panel has no pair of arms")
    return data.panel.pair


def _shown(arm: str) -> str:
    return NAMES.get(arm, arm.replace("_", " "))


def _values(data: PanelData, rows: Sequence[Row]) -> tuple[list[Row], list[bool], list[bool]]:
    """(parents where both arms of the pair are defined, whether the first is right, whether the second is right)."""
    first, second = _pair(data)
    found = defined(rows, value_of(first), value_of(second))
    return [row for row, _, _ in found], [a for _, a, _ in found], [b for _, _, b in found]


def _pairs(data: PanelData, rows: Sequence[Row]) -> list[Row]:
    return _values(data, rows)[0]


def _cell(data: PanelData, rows: Sequence[Row]) -> dict[str, Any]:
    """The pair over some parents: counts, accuracies, SCR with its interval."""
    kept, first, second = _values(data, rows)
    n = len(kept)
    row: dict[str, Any] = {"n": n, "n_planned": len(rows), "n_dropped": len(rows) - n}
    row |= {"native_em": sum(first) / n if n else None, "em": sum(second) / n if n else None}
    parts = [
        estimates.joint(first, second, _pair(data)[0]),
        estimates.retention("scr", first, second, strata_of(kept), data.panel, _pair(data)[0], boundary=True),
    ]
    if not n:
        parts.append(estimates.absent("no pair is defined", "native_em", "em"))
    return row | estimates.merged(*parts)
