"""The retention report as tables that fit 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.reports.tables import Table

Cell = Mapping[str, Any]


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def interval(cell: Cell) -> str:
    if cell["scr"] is None:
        return "undefined"
    low, high = cell["scr_interval"]
    mark = " †" if cell["scr_interval_method"] == "clopper-pearson" else ""
    return f"{percent(cell['scr'])} [{percent(low)}, {percent(high)}]{mark}"


def probability(p: float | None) -> str:
    if p is None:
        return "-"
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def tables(reports: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Accuracy, transitions and tests over all runs, then a by-length table per run."""
    rows = [(report, name, cell) for report in reports for name, cell in report["domains"].items()]
    several = len(reports) > 1

    letters = {id(report): chr(ord("A") + i % 26) * (i // 26 + 1) for i, report in enumerate(reports)}

    def label(report: Mapping[str, Any], name: str) -> list[str]:
        return [letters[id(report)], name] if several else [name]

    head = ["run", "domain"] if several else ["domain"]
    left = len(head)
    title = "\n".join((f"{letters[id(report)]}: " if several else "") + _heading(report) for report in reports)
    result = [
        Table(
            title,
            [*head, "pairs", "Native", "Cand. only", "Independent", "Serial"],
            [
                [
                    *label(report, name),
                    f"{cell['n']}/{cell['n_planned']}",
                    *(percent(cell.get(f"{arm}_em")) for arm in ("native", "candidates_only", "independent", "serial")),
                ]
                for report, name, cell in rows
            ],
            ["Exact match in %. Pairs: parents with Native and Serial defined / planned."],
            left,
        ),
        Table(
            "Which correct choices survive (Native -> Serial)",
            [*head, "both", "lost", "gained", "neither", "SCR % [95 % CI]", "gain rate"],
            [
                [
                    *label(report, name),
                    *(str(cell["joint"][key]) for key in ("both", "lost", "gained", "neither")),
                    interval(cell),
                    percent(cell["gain_rate"]),
                ]
                for report, name, cell in rows
            ],
            _notes([(" ".join(label(report, name)), cell) for report, name, cell in rows]),
            left,
        ),
        Table(
            "Exact McNemar, Native against Serial",
            [*head, "loss mass", "gain mass", "p", "p (Holm)", "m"],
            [
                [
                    *label(report, name),
                    f"{percent(cell['loss_mass'])} %",
                    f"{percent(cell['gain_mass'])} %",
                    probability(cell["mcnemar_p"]),
                    probability(cell["mcnemar_p_holm"]),
                    str(cell["holm_m"]),
                ]
                for report, name, cell in rows
            ],
            [f"Holm over the m = {rows[0][2]['holm_m']} tests of {'these runs' if several else 'this run'}."] if rows else [],
            left,
        ),
    ]
    return result + [_by_length(report, f": run {letters[id(report)]}" if several else "") for report in reports]


def _heading(report: Mapping[str, Any]) -> str:
    kind = "SIMULATION, not a measurement" if report["simulation"] else "panel " + report["panel"]
    return f"{report['model']} ({kind})"


def _notes(rows: Sequence[tuple[str, Cell]]) -> list[str]:
    notes = ["SCR = both / (both + lost); intervals: exact bootstrap, items resampled within length."]
    if any(cell["scr_interval_method"] == "clopper-pearson" for _, cell in rows):
        notes.append("† no variation to resample (for instance one parent per stratum): Clopper-Pearson interval.")
    for name, cell in rows:
        for what, why in sorted(cell["undefined"].items()):
            if what in ("scr", "gain_rate", "mcnemar_p"):
                notes.append(f"{name}: {what} is undefined: {why}.")
        if cell["n_dropped"]:
            notes.append(f"{name}: {cell['n_dropped']} of {cell['n_planned']} pairs dropped (unfinished, error or unknown).")
    return notes


def _by_length(report: Mapping[str, Any], which: str) -> Table:
    rows = [
        [
            name,
            length,
            str(cell["n"]),
            percent(cell["native_em"]),
            percent(cell["serial_em"]),
            f"{cell['joint']['both']}/{cell['joint']['both'] + cell['joint']['lost']}",
            interval(cell),
        ]
        for name, domain in report["domains"].items()
        for length, cell in domain["by_length"].items()
    ]
    return Table(f"By target length{which}", ["domain", "length", "pairs", "Native", "Serial", "retained", "SCR % [95 % CI]"], rows)
