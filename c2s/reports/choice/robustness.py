"""Settings of the same items: each one's SCR, their mean and worst, and whether models keep their order (D.3, D.4, Figure 10, Table D4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c2s import stats
from c2s.reports import estimates
from c2s.reports.choice.gold_copy import characters
from c2s.reports.data import PanelData, Row, defined, outcome_of, value_of
from c2s.reports.section import Column, Section

Settings = Mapping[str, tuple[str, str, int]]


def by_setting(data: PanelData, *, settings: Settings, title: str = "seven settings", source: str = "Figure 10") -> Section:
    """Own conditioning, conditioning on the reference's Native, and the change of Serial EM from the reference."""
    reference = next(iter(settings.values()))
    rows = []
    for domain, parents in data.domains.items():
        for name, (native, serial, r) in settings.items():
            found = defined(parents, value_of(native, replicate=r), value_of(serial, replicate=r))
            fixed = defined(
                parents,
                value_of(reference[0], replicate=reference[2]),
                value_of(reference[1], replicate=reference[2]),
                value_of(serial, replicate=r),
            )
            strata = [row.stratum for row, *_ in found]
            rows.append(
                {"domain": domain, "setting": name, "n": len(found), "n_planned": len(parents)}
                | estimates.merged(
                    estimates.share("native_em", [a for _, a, _ in found], strata, data.panel),
                    estimates.share("serial_em", [b for _, _, b in found], strata, data.panel),
                    estimates.retention("scr", [a for _, a, _ in found], [b for _, _, b in found], strata, data.panel),
                    estimates.retention(
                        "scr_fixed", [a for _, a, _, _ in fixed], [c for *_, c in fixed], [f[0].stratum for f in fixed], data.panel
                    ),
                    estimates.difference(
                        "change", [c for *_, c in fixed], [b for _, _, b, _ in fixed], [f[0].stratum for f in fixed], data.panel
                    ),
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("setting", "setting"),
        Column("native_em", "Native", "rate"),
        Column("serial_em", "Serial", "rate"),
        Column("scr_count", "kept", "of"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
        Column("scr_fixed", "fixed", "rate"),
        Column("change", "Serial EM change", "ci_points"),
    )
    notes = ["Fixed: SCR given the reference's Native. Change: Serial EM minus the reference's, paired."]
    return Section("by_setting", title, source, columns, rows, notes)


def mean_and_worst(data: PanelData, *, settings: Settings) -> Section:
    """Mean and worst SCR over the settings, the worst one redetermined in every draw."""
    rows = []
    for domain, parents in data.domains.items():
        values = [value_of(arm, replicate=r) for native, serial, r in settings.values() for arm in (native, serial)]
        found = defined(parents, *values)
        row = {"domain": domain, "n": len(found), "n_planned": len(parents), "worst_setting": None}
        if found:
            native, serial = (
                dict[Hashable, ArrayLike]({name: [row[1 + 2 * place + side] for row in found] for place, name in enumerate(settings)})
                for side in (0, 1)
            )
            worst = stats.bootstrap_worst_scr(native, serial, [row.stratum for row, *_ in found], **estimates.settings(data.panel))
            row |= estimates.merged(estimates.put("mean", worst.mean), estimates.put("worst", worst))
            row["worst_setting"] = ", ".join(map(str, worst.worst)) or None
        else:
            row |= estimates.absent("no parent is defined in every setting", "mean", "worst")
        rows.append(row)
    columns = (
        Column("domain", "domain"),
        Column("worst_setting", "worst setting"),
        Column("mean", "mean SCR % [95 % CI]", "ci_rate"),
        Column("worst", "worst SCR % [95 % CI]", "ci_rate"),
    )
    notes = ["Means over the settings that were run, not over a population of prompts."]
    return Section("mean_and_worst", "mean and worst setting", "Table D4's columns", columns, rows, notes)


def wordings(data: PanelData, *, arms: Mapping[str, str]) -> Section:
    """Independent in every wording: strings, item-averaged characters, and the change of the strings from the first wording."""
    first = next(iter(arms.values()))
    rows = []
    for domain, parents in data.domains.items():
        for template, arm in arms.items():
            found = defined(parents, outcome_of(arm))
            strata = [row.stratum for row, _ in found]
            both = defined(parents, value_of(arm), value_of(first))
            rows.append(
                {"domain": domain, "template": template, "n": len(found), "n_planned": len(parents)}
                | estimates.merged(
                    estimates.share("em", [bool(o.correct) for _, o in found], strata, data.panel),
                    estimates.mean("characters", [characters(row, o.output) for row, o in found], strata, data.panel),
                    estimates.difference(
                        "change", [a for _, a, _ in both], [b for *_, b in both], [row.stratum for row, *_ in both], data.panel
                    ),
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("template", "wording"),
        Column("em", "string % [95 % CI]", "ci_rate"),
        Column("characters", "characters % [95 % CI]", "ci_rate"),
        Column("change", "string change", "ci_points"),
    )
    return Section("wordings", "Independent in three wordings", "E.2, no printed table", columns, rows)


def ranking(runs: Sequence[PanelData], *, settings: Settings) -> Section:
    """The order of the models by SCR and by Serial EM in every setting, on the parents that all of them answered."""
    rows = []
    for domain in runs[0].domains:
        common = set.intersection(*({row.parent.id for row in run.domains.get(domain, ())} for run in runs))
        for name, setting in settings.items():
            scores = [(run.run.model, _scores(run.domains.get(domain, ()), common, setting)) for run in runs]
            row: dict[str, Any] = {"domain": domain, "setting": name}
            for i, key in enumerate(("scr", "serial_em")):
                known = [(value, model) for model, found in scores if (value := found[i]) is not None]
                row[f"{key}_order"] = " > ".join(_ordered(known)) or None
            rows.append(row)
    columns = (
        Column("domain", "domain"),
        Column("setting", "setting"),
        Column("scr_order", "order by SCR"),
        Column("serial_em_order", "order by Serial EM"),
    )
    return Section("ranking", "order of the models", "D.4", columns, rows, ["= joins models with equal scores."])


def _scores(rows: Sequence[Row], common: set[str], setting: tuple[str, str, int]) -> tuple[float | None, float | None]:
    native, serial, r = setting
    found = defined([row for row in rows if row.parent.id in common], value_of(native, replicate=r), value_of(serial, replicate=r))
    counts = stats.joint_counts(np.array([a for _, a, _ in found], bool), np.array([b for _, _, b in found], bool))
    return counts.scr, counts.serial_em


def _ordered(known: Sequence[tuple[float, str]]) -> list[str]:
    groups: dict[float, list[str]] = {}
    for score, model in known:
        groups.setdefault(score, []).append(model)
    return [" = ".join(groups[score]) for score in sorted(groups, reverse=True)]
