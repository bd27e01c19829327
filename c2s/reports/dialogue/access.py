"""Prior-state access: what a predicted instead of a gold previous state costs, and what happens after an error (Tables C1-C3, Figure 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from c2s import stats
from c2s.panels.base import Panel
from c2s.reports import estimates
from c2s.reports.data import PanelData, Row
from c2s.reports.dialogue.construction import costs, defined, endpoint, paired, read
from c2s.reports.dialogue.turns import ENDPOINTS, PerDialogue, compared, components, per_dialogue, records, survival
from c2s.reports.section import Column, Section

ARMS = ("history_recompute", "oracle", "rollout")
RECOVERY = {"any_recovery": "any recovery", "final_recovery": "final recovery"}


def accuracy(data: PanelData) -> Section:
    turns, found, lengths, notes = read(data, ARMS)
    rows = []
    for arm in ARMS:
        row: dict[str, Any] = {"arm": arm, "dialogues": len(lengths)}
        row |= estimates.merged(*(endpoint(name, found[arm], data.panel) for name in ENDPOINTS if name != "valid"))
        rows.append(estimates.merged(row, costs(turns[arm])))
    columns = (
        Column("arm", "arm"),
        Column("trajectory", "trajectory %", "rate"),
        Column("mean_turn", "mean turn", "rate"),
        Column("final", "final", "rate"),
        Column("mean_field", "mean field", "rate"),
        Column("valid", "valid format", "rate"),
    )
    notes.append("Equal trajectory accuracy may hide different later states; intervals stand in the JSON.")
    return Section("accuracy", "states by access to the previous state", "Table C1", columns, rows, notes)


def gold_minus_predicted(data: PanelData) -> Section:
    """Oracle minus Rollout on every endpoint; dialogues resampled whole, and the components that shared responses make of them."""
    _, found, _, notes = read(data, ARMS)
    clusters = np.array(linked(data))
    rows = []
    for name, label in (ENDPOINTS | RECOVERY).items():
        a, b, which = paired(_mass(found["oracle"], name), _mass(found["rollout"], name))
        row = {"contrast": "oracle - rollout", "endpoint": label, "n": len(a)}
        if not len(a):
            rows.append(row | estimates.absent("no dialogue is defined", "difference", "component"))
            continue
        parts = (estimates.difference("difference", a, b, None, data.panel), _clustered("component", a, b, clusters[which], data.panel))
        rows.append(row | estimates.merged(*parts))
    columns = (
        Column("endpoint", "endpoint"),
        Column("difference", "points [95 % CI]", "ci_points"),
        Column("component", "by component", "ci_points"),
    )
    notes.append("Recovery counts here as a share of all dialogues: an error, and then a right state. Exploratory: nothing is tested.")
    return Section("gold_minus_predicted", "Oracle minus Rollout", "Table C2, Figure 8", columns, rows, notes)


def _mass(found: PerDialogue, name: str) -> np.ndarray:
    """An endpoint of every dialogue. Recovery is 0 where there was nothing to recover from, so that both arms share a denominator."""
    values = getattr(found, name)
    return np.where(found.trajectory == 1, 0.0, values) if name in RECOVERY else values


def _clustered(key: str, a: np.ndarray, b: np.ndarray, clusters: np.ndarray, panel: Panel) -> dict[str, Any]:
    return estimates.put(key, stats.bootstrap_paired_difference(a, b, clusters=clusters.tolist(), **estimates.settings(panel)))


def recovery(data: PanelData, *, arms: Sequence[str] = ARMS, source: str = "Table C3") -> Section:
    """Dialogues with an error, and how many of them came right again, at any later turn and at the last one."""
    _, found, _, notes = read(data, arms)
    rows = []
    for arm in arms:
        failed = defined(found[arm].any_recovery)
        final = defined(found[arm].final_recovery)
        row: dict[str, Any] = {"arm": arm, "dialogues": int((~np.isnan(found[arm].trajectory)).sum()), "failed": len(failed)}
        rows.append(row | {"any_recovery": int(failed.sum()), "final_recovery": int(final.sum())})
    columns = (
        Column("arm", "arm"),
        Column("dialogues", "dialogues", "int"),
        Column("failed", "failed", "int"),
        Column("any_recovery", "any recovery", "int"),
        Column("final_recovery", "final recovery", "int"),
    )
    notes.append("Failed: some turn is wrong. Any: a later turn is right. Final: the last turn is. Error populations differ by arm.")
    return Section("recovery", "after the first error", source, columns, rows, notes)


def until_error(data: PanelData, *, arms: Sequence[str] = ARMS) -> Section:
    """Survival to the first error, by turn."""
    _, found, lengths, notes = read(data, arms)
    rows = []
    for arm in arms:
        steps = survival(found[arm], lengths)
        rows.append({"arm": arm, "steps": steps} | {f"turn_{step['turn']}": step["survival"] for step in steps})
    turns = range(1, max(lengths, default=0) + 1)
    columns = (Column("arm", "arm"), *(Column(f"turn_{turn}", str(turn), "rate") for turn in turns))
    notes.append("Product limit over dialogues of 4, 6 and 8 turns; numbers at risk stand in the JSON.")
    return Section("until_error", "dialogues without an error through turn 1, 2, ..., %", "not printed", columns, rows, notes)


def linked(data: PanelData) -> list[int]:
    """Component of each dialogue: dialogues are linked where one received a response to a request of another."""
    place = {row.parent.id: i for i, row in enumerate(data.rows)}
    return components([(place[a], place[b]) for a, b in data.shared_between], len(place))


def sharing(data: PanelData) -> Section:
    """Logical requests, the responses that answered them, and how dialogues are linked by shared ones (C.1)."""
    groups = linked(data)
    logical = data.requests["planned"]
    row = {
        "logical": logical,
        "physical": logical - data.shared,
        "shared": data.shared,
        "across": len(data.shared_between),
        "dialogues": len(groups),
        "components": len(set(groups)),
    }
    columns = (
        Column("logical", "logical requests", "int"),
        Column("physical", "responses", "int"),
        Column("shared", "shared rows", "int"),
        Column("across", "across dialogues", "int"),
        Column("components", "components", "int"),
    )
    return Section("sharing", "wire-identical requests share one response", "C.1", columns, [row])


def perturbations(data: PanelData) -> Section:
    """Reworded user turns and another displayed order of values: what they change, on the dialogues that have them."""
    rows = []
    clusters = linked(data)
    for version in ("paraphrase", "permuted"):
        for arm in ("rollout", "oracle"):
            changed = data.arm(interface=arm, version=version)
            which = [i for i, row in enumerate(data.rows) if any(name == changed for name, *_ in row.outcomes)]
            chosen = [data.rows[i] for i in which]
            turns, dropped = compared(chosen, (arm, changed))
            found = {name: per_dialogue(t, [row.parent.length for row in chosen]) for name, t in turns.items()}
            a, b, kept = paired(found[changed].mean_turn, found[arm].mean_turn) if chosen else (np.empty(0),) * 3
            row: dict[str, Any] = {"version": version, "arm": arm, "n": len(a), "dropped_turns": dropped}
            if not len(a):
                reason = "no dialogue has this version, or none is defined in both arms"
                rows.append(row | estimates.absent(reason, "reference", "perturbed", "difference", "same_state"))
                continue
            same = [state for r in chosen for state in _same_states(r, arm, changed)]
            row |= {"reference": float(b.mean()), "perturbed": float(a.mean()), "same_state": sum(same) / len(same)}
            rows.append(row | _clustered("difference", a, b, np.array(clusters)[np.array(which)[kept]], data.panel))
    columns = (
        Column("version", "version"),
        Column("arm", "arm"),
        Column("n", "n", "int"),
        Column("reference", "mean turn %", "rate"),
        Column("perturbed", "perturbed", "rate"),
        Column("difference", "points [95 % CI]", "ci_points"),
        Column("same_state", "same states %", "rate"),
    )
    return Section("perturbations", "reworded turns and permuted values", "C.2, perturbation schedule", columns, rows)


def _same_states(row: Row, first: str, second: str) -> list[bool]:
    """Whether both arms gave the same state, for every turn that is defined in both."""
    others = {record["turn"]: record["state"] for record in records(row, second)}
    return [record["state"] == others[record["turn"]] for record in records(row, first) if record["turn"] in others]
