"""Native's choice among whole candidates, seen position by position, against independent queries (A.6, B.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from c2s import stats
from c2s.controllers.requests import ALPHABETS
from c2s.reports import estimates
from c2s.reports.data import PanelData, Row
from c2s.reports.section import Column, Section

MEASURES = ("raw_mass_native", "raw_mass_independent", "tv_raw", "tv", "js", "unsupported", "uniform", "excess")


def _item(row: Row) -> dict[str, float] | None:
    """Position-averaged measures of one item; None where either arm has no probabilities or no mass."""
    native, independent = row.ok("native"), row.ok("independent")
    if native is None or independent is None:
        return None
    whole, local = native.detail["distribution"][0], independent.detail["distribution"]
    if whole is None or None in local:
        return None
    symbols = ALPHABETS[row.parent.domain]
    place = {c: i for i, c in enumerate(symbols)}
    projected = np.zeros((row.parent.length, len(symbols)))
    for candidate, p in zip(row.parent.candidates, whole, strict=True):
        for t, c in enumerate(candidate):
            projected[t, place[c]] += p
    asked = np.array(local)
    if (projected.sum(axis=1) == 0).any() or (asked.sum(axis=1) == 0).any():
        return None
    offered = np.zeros_like(projected, dtype=bool)
    for candidate in row.parent.candidates:
        offered[np.arange(row.parent.length), [place[c] for c in candidate]] = True
    mass = asked.sum(axis=1)
    outside = np.where(offered, 0.0, asked).sum(axis=1) / mass
    uniform = 1 - offered.sum(axis=1) / len(symbols)
    values = {
        "raw_mass_native": projected.sum(axis=1),
        "raw_mass_independent": mass,
        "tv_raw": stats.total_variation(projected, asked, normalize=False),
        "tv": stats.total_variation(projected, asked),
        "js": stats.js_divergence(projected, asked),
        "unsupported": outside,
        "uniform": uniform,
        "excess": outside - uniform,
    }
    return {name: float(np.mean(v)) for name, v in values.items()}


def _items(data: PanelData) -> dict[str, list[tuple[Row, dict[str, float]]]]:
    """Items with probabilities by domain, shared by both sections."""
    return {domain: [(row, item) for row in parents if (item := _item(row)) is not None] for domain, parents in data.domains.items()}


def _rows(data: PanelData, measures: tuple[str, ...]) -> list[dict[str, Any]]:
    rows = []
    main = data.used("main")
    for domain, parents in main.domains.items():
        found = main.once(_items)[domain]
        row = {"domain": domain, "n": len(found), "n_planned": len(parents)}
        if found:
            strata = [r.stratum for r, _ in found]
            row |= estimates.merged(*(estimates.mean(m, [item[m] for _, item in found], strata, data.panel) for m in measures))
        else:
            row |= estimates.absent("the model reported no probabilities", *measures)
        rows.append(row)
    return rows


def distance(data: PanelData) -> Section:
    """Total variation on raw masses and on normalised distributions, and Jensen-Shannon divergence in bits."""
    measures = ("tv", "js", "tv_raw", "raw_mass_native", "raw_mass_independent")
    columns = (
        Column("domain", "domain"),
        Column("n", "n", "int"),
        Column("tv", "TV [95 % CI]", "ci_number"),
        Column("js", "JS [95 % CI]", "ci_number"),
        Column("tv_raw", "TV raw", "number"),
        Column("raw_mass_native", "mass N", "number"),
        Column("raw_mass_independent", "mass I", "number"),
    )
    notes = ["Positions are averaged within item. TV and JS (bits): each distribution normalised; raw: masses as reported."]
    return Section("distance", "Native projected on positions against Independent", "B.7", columns, _rows(data, measures), notes)


def unsupported(data: PanelData) -> Section:
    """Independent's mass on characters that no candidate has at the position, against a uniform choice."""
    measures = ("unsupported", "uniform", "excess")
    columns = (
        Column("domain", "domain"),
        Column("n", "n", "int"),
        Column("unsupported", "unsupported [95 % CI]", "ci_number"),
        Column("uniform", "uniform", "number"),
        Column("excess", "difference [95 % CI]", "ci_number"),
    )
    notes = ["Uniform: one minus support size over alphabet size."]
    return Section("unsupported", "mass outside every candidate", "B.7", columns, _rows(data, measures), notes)
