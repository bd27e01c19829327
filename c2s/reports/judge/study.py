"""The judge study's report: the presentation interaction, its secondary family, and what describes them (judge paper, 4.4, A.5, A.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c2s import stats
from c2s.controllers.judge import CONTROLS, CUES, FIXTURES, arm_name
from c2s.panels.judge.qualification import PRESENTATIONS, Gate, failure, gates, unparsed
from c2s.reports import estimates
from c2s.reports.data import PanelData
from c2s.reports.judge.cells import accepted, asked, configurations, four, interaction_of, not_asked, score, seed_of, shown_name, skipped
from c2s.reports.section import TEST, Column, Section
from c2s.stats.judge import TOO_FEW, Interaction

PRIMARY, SECONDARY = "judge interaction", "judge colon within presentation"
LABELS = {"random": "R", "random_colon": "R:"}


def _named(data: PanelData, contract: str) -> dict[str, Any]:
    return {"configuration": shown_name(contract, data)}


def interaction(data: PanelData) -> Section:
    """D per configuration: the test that the paper designates, and the exact law of the same bootstrap beside it."""
    rows, silent = [], []
    for contract in configurations(data):
        row = _named(data, contract) | {"p": None, "family": PRIMARY}
        why = skipped(data, contract)
        if why is not None:
            rows.append(row | estimates.absent(why, "theta", "p", "p_exact"))
            continue
        cells = [four(source, contract) for source in data.rows]
        workloads = [source.parent.domain for source in data.rows]
        rows.append(row | _estimate(cells, workloads, seed_of(data, contract), data.panel.draws))
        silent += [f"{shown_name(contract, data)}: {TOO_FEW}."] if rows[-1].get("theta_says_nothing") else []
    return Section(
        "interaction",
        "What the colon adds under sorted keys, minus under insertion",
        "judge paper, 5.1, A.5",
        (
            Column("configuration", "rule"),
            Column("complete_of", "sources", "of"),
            Column("theta", "D in points [95 % CI]", "ci_points"),
            Column("bounds_points", "bounds"),
            *TEST,
            Column("p_exact", "p exact", "p"),
        ),
        rows,
        [
            "D = [A(R:) - A(R)] sorted - [A(R:) - A(R)] insertion, A: accepted. Workloads weigh the same. Complete and not degenerate: "
            "p by 49,999 within-workload bootstrap draws, as the paper prints it; "
            "interval and `p exact` from the exact law of that bootstrap. Otherwise Hoeffding's bound, which assumes nothing.",
            "Bounds: the whole planned panel with every missing label as 0 or 1; no confidence interval.",
            *silent,
        ],
    )


def _estimate(cells: list[list[Any]], workloads: list[str], seed: int, draws: int) -> dict[str, Any]:
    """The row of one configuration. Incomplete or degenerate panels go to Hoeffding; the exact law of complete sources stands beside."""
    exact = stats.interaction(cells, workloads)
    complete = all(None not in row for row in cells)
    row: dict[str, Any] = {
        "complete_of": [sum(exact.complete.values()), len(cells)],
        "complete": dict(exact.complete),
        "planned": dict(exact.planned),
        "by_workload": dict(exact.by_workload),
        "counts": {name: {str(d): n for d, n in counts.items()} for name, counts in exact.counts.items()},
        "bounds": list(exact.bounds),
        "bounds_points": _points(exact.bounds),
        "theta": exact.theta,
    }
    if exact.theta is None:
        return row | {"theta_interval": None} | estimates.absent(exact.note, "theta", "p", "p_exact")
    bootstrap = exact.method != "hoeffding"
    if complete and bootstrap:
        drawn = stats.interaction(cells, workloads, method="multinomial", draws=draws, seed=seed)
        return (
            row
            | _interval(exact)
            | {
                "p": drawn.p,
                "p_method": f"{draws} draws, seed {seed}",
                "p_exact": exact.p,
                "drawn_interval": [drawn.low, drawn.high],
            }
        )
    bound = stats.interaction(cells, workloads, method="hoeffding")
    row |= _interval(bound) | {"p": bound.p, "p_method": "hoeffding", "p_exact": exact.p if bootstrap else None}
    if not bootstrap:
        return row | estimates.absent("the exact law is degenerate", "p_exact")
    return row | {"complete_case_interval": [exact.low, exact.high]}


def _interval(found: Interaction) -> dict[str, Any]:
    row: dict[str, Any] = {"theta_interval": [found.low, found.high], "theta_method": found.method}
    return row | {"theta_says_nothing": True} if TOO_FEW in found.note else row


def _points(limits: Any) -> str:
    low, high = (100 * limit for limit in limits)
    return f"{low:+.1f}, {high:+.1f}"


def within_presentation(data: PanelData) -> Section:
    """R: against R within each presentation: exact McNemar, a family of its own."""
    rows = []
    for contract in configurations(data):
        for presentation in PRESENTATIONS:
            row = _named(data, contract) | {"presentation": presentation, "p": None, "family": SECONDARY}
            why = skipped(data, contract)
            if why is not None:
                rows.append(row | estimates.absent(why, "discordant", "p"))
                continue
            pairs = [[accepted(source, contract, presentation, cue) for cue in CUES] for source in data.rows]
            pairs = [pair for pair in pairs if None not in pair]
            forward, reverse = (sum(a == x and b == y for a, b in pairs) for x, y in ((False, True), (True, False)))
            row |= {"pairs_of": [len(pairs), len(data.rows)], "discordant": [forward, reverse]}
            rows.append(
                row | ({"p": float(stats.mcnemar_exact(forward, reverse))} if pairs else {"undefined": {"p": "no pair is complete"}})
            )
    return Section(
        "within_presentation",
        "The colon within each presentation",
        "judge paper, 5.1, A.5",
        (
            Column("configuration", "rule"),
            Column("presentation", "order"),
            Column("pairs_of", "pairs", "of"),
            Column("discordant", "only R:/only R", "slashes"),
            *TEST,
        ),
        rows,
        ["Pairs: sources with both labels / planned. Exact two-sided conditional McNemar."],
    )


def cells(data: PanelData) -> Section:
    """Acceptances of the four cells, with what is missing."""
    rows = []
    for contract in asked(data):
        for presentation in PRESENTATIONS:
            row = _named(data, contract) | {"presentation": presentation}
            for cue in CUES:
                values = [accepted(source, contract, presentation, cue) for source in data.rows]
                there = [value for value in values if value is not None]
                share = {cue: sum(there) / len(there)} if there else estimates.absent("no label came back", cue)
                row = estimates.merged(row, share, {f"{cue}_count": [sum(there), len(there)], f"{cue}_missing": len(values) - len(there)})
            rows.append(row)
    return Section(
        "cells",
        "False acceptances, the final value being wrong throughout",
        "judge paper, 5.1, Figure 2",
        (
            Column("configuration", "rule"),
            Column("presentation", "order"),
            Column("random_count", "R", "of"),
            Column("random", "%", "rate"),
            Column("random_colon_count", "R:", "of"),
            Column("random_colon", "%", "rate"),
        ),
        rows,
        not_asked(data),
    )


def splits(data: PanelData) -> Section:
    """The interaction in near and far sources and in each workload: description, without a test."""
    groups = {name: [row for row in data.rows if row.parent.payload["distance"] == name] for name in ("near", "far")}
    groups |= {name: [row for row in data.rows if row.parent.domain == name] for name in dict.fromkeys(r.parent.domain for r in data.rows)}
    rows = []
    for contract in asked(data):
        for name, sources in groups.items():
            values = [four(source, contract) for source in sources]
            d = [x for v in values if (x := interaction_of(v)) is not None]
            row = _named(data, contract) | {"group": name, "complete_of": [len(d), len(values)]}
            counts = {"insertion": [_sum(values, 0), _sum(values, 1)], "sorted": [_sum(values, 2), _sum(values, 3)]}
            rows.append(row | counts | {"d": sum(d) / len(d) if d else None, "undefined": {} if d else {"d": "no source is complete"}})
    return Section(
        "splits",
        "The interaction by distance and by workload",
        "judge paper, 5.2, Figure 3",
        (
            Column("configuration", "rule"),
            Column("group", "sources"),
            Column("complete_of", "complete", "of"),
            Column("insertion", "insertion R/R:", "slashes"),
            Column("sorted", "sorted R/R:", "slashes"),
            Column("d", "D in points", "points"),
        ),
        rows,
        ["Description. Near and far are different sources, so their difference is not that of the distance alone.", *not_asked(data)],
    )


def _sum(values: list[list[Any]], cell: int) -> int:
    return sum(bool(row[cell]) for row in values)


def duplicates(data: PanelData) -> Section:
    """Byte-identical repeats of the cue requests; the primary is the planned one, whichever left first."""
    rows = []
    for contract in asked(data):
        for presentation in PRESENTATIONS:
            for cue in CUES:
                name = arm_name(contract, presentation, cue)
                pairs = [(a, b) for source in data.rows if (a := source.ok(name)) is not None and (b := source.ok(name, 1)) is not None]
                rows.append(
                    _named(data, contract)
                    | {
                        "presentation": presentation,
                        "bridge": LABELS[cue],
                        "pairs": len(pairs),
                        "primary": sum(a.detail["accepted"] for a, _ in pairs),
                        "duplicate": sum(b.detail["accepted"] for _, b in pairs),
                        "changes": sum(a.output != b.output for a, b in pairs),
                    }
                )
    return Section(
        "duplicates",
        "Byte-identical duplicates",
        "judge paper, Table 6",
        (
            Column("configuration", "rule"),
            Column("presentation", "order"),
            Column("bridge", "bridge"),
            *(Column(key, key, "int") for key in ("pairs", "primary", "duplicate", "changes")),
        ),
        rows,
        ["Acceptances among complete pairs; changes: pairs whose labels differ. They add no sources and no test.", *not_asked(data)],
    )


def scores(data: PanelData) -> Section:
    """The same contrast in displayed scores of the accepting label: description."""
    rows = []
    for contract in asked(data):
        d = [x for source in data.rows if (x := interaction_of(four(source, contract, score))) is not None]
        d = [round(x, 9) for x in d]  # displayed scores have two decimals: 0.3 - 0.2 - 0.1 is a tie
        row = _named(data, contract) | {"n": len(d), "mean": sum(d) / len(d) if d else None}
        row |= {"negative": sum(x < 0 for x in d), "tie": sum(x == 0 for x in d), "positive": sum(x > 0 for x in d)}
        row |= {"least": min(d), "most": max(d)} if d else {"undefined": {"mean": "no displayed scores"}}
        rows.append(row)
    return Section(
        "scores",
        "Interaction of displayed scores",
        "judge paper, A.6, Figure 4",
        (
            Column("configuration", "rule"),
            Column("n", "sources", "int"),
            Column("mean", "mean", "number"),
            Column("least", "least", "number"),
            Column("most", "most", "number"),
            *(Column(key, key, "int") for key in ("negative", "tie", "positive")),
        ),
        rows,
        ["Description: displayed scores are rounded and of unknown calibration.", *not_asked(data)],
    )


def _by_parent(data: PanelData) -> Mapping[str, list[Any]]:
    return {row.parent.id: list(row.outcomes.values()) for row in data.rows}


def _gate_row(gate: Gate) -> dict[str, Any]:
    row: dict[str, Any] = {"presentation": gate.presentation, "planned": gate.planned, "passed": "yes" if gate.passed else "NO"}
    row |= {name: gate.correct[name] for name in CONTROLS}
    return row | {"required": dict(gate.required), "missing": dict(gate.missing)}


GATE_COLUMNS = (
    Column("configuration", "rule"),
    Column("presentation", "order"),
    Column("planned", "n", "int"),
    Column("bare_correct", "bare X", "int"),
    Column("bare_wrong", "bare Y", "int"),
    Column("wrong_final", "final Y", "int"),
    Column("valid_revision", "rev. X", "int"),
    Column("passed", "passed"),
)


def qualification(data: PanelData) -> Section:
    """Confirmation gates: controls among all planned sources; no source is filtered by them."""
    rows = []
    notes = [_requirement(gates(data.panel, "", _by_parent(data))[0])] if data.rows else []
    notes += not_asked(data)
    for contract in asked(data):
        rows += [_named(data, contract) | _gate_row(gate) for gate in gates(data.panel, contract, _by_parent(data))]
    return Section("gates", "Qualification: correct judgments of the controls", "judge paper, Table 4", GATE_COLUMNS, rows, notes)


def _requirement(gate: Gate) -> str:
    least = gate.required
    return (
        f"Required of {gate.planned}: {least['bare_correct']} for each of the first three, {least['valid_revision']} for a revision; "
        "a missing output is not correct."
    )


def preflight(data: PanelData) -> Section:
    """Who goes on to confirmation."""
    rows, notes = [], []
    outcomes = _by_parent(data)
    for contract in configurations(data):
        lost = unparsed(data.panel, contract, outcomes)
        for gate in gates(data.panel, contract, outcomes):
            row = _named(data, contract) | _gate_row(gate) | {"unparsed": lost}
            for fixture in FIXTURES:
                row[fixture] = sum(bool(source.value(arm_name(contract, gate.presentation, fixture))) for source in data.rows)
            rows.append(row)
        why = failure(data.panel, contract, outcomes)
        notes.append(f"{shown_name(contract, data)}: {why}." if why else f"{shown_name(contract, data)} goes on to confirmation.")
    if data.rows:
        notes.insert(0, _requirement(gates(data.panel, "", outcomes)[0]) + " Both presentations must pass and every response must parse.")
    columns = (
        *(column for column in GATE_COLUMNS[:-1] if column.key != "planned"),
        Column("no_answer_fixture", "none", "int"),
        Column("unresolved_fixture", "unres.", "int"),
        Column("unparsed", "unread", "int"),
        GATE_COLUMNS[-1],
    )
    return Section("preflight", "Preflight: correct judgments of the controls", "judge paper, 4.3, A.4", columns, rows, notes)
