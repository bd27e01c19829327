"""Field construction: accuracy by arm, Serial and Independent against Joint, retention of Joint's right turns (Tables C4, C5, Figure 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from c2s import stats
from c2s.panels.base import Panel
from c2s.reports import estimates
from c2s.reports.data import PanelData
from c2s.reports.dialogue.turns import ENDPOINTS, ArmTurns, Floats, PerDialogue, compared, per_dialogue
from c2s.reports.section import Column, Section

ARMS = ("joint", "independent", "serial")
LOCAL = ("independent", "serial")
SIGN_TEST_DRAWS = 99_999
TOKENS = ("input_tokens", "output_tokens")


def read(data: PanelData, arms: Sequence[str]) -> tuple[dict[str, ArmTurns], dict[str, PerDialogue], list[int], list[str]]:
    """Arms on common turns, their endpoints, the dialogues' lengths, and a note where turns have dropped."""
    turns, dropped = compared(data.rows, arms)
    lengths = [row.parent.length for row in data.rows]
    notes = [f"{dropped} of {sum(lengths)} turns dropped: undefined in at least one arm (unfinished, error or unknown)."] if dropped else []
    return turns, {arm: per_dialogue(found, lengths) for arm, found in turns.items()}, lengths, notes


def accuracy(data: PanelData, *, arms: Sequence[str] = ARMS, source: str = "Table C4") -> Section:
    """Every endpoint of every arm with its dialogue bootstrap interval; dialogues weigh equally."""
    _, found, lengths, notes = read(data, arms)
    rows = []
    for arm in arms:
        row: dict[str, Any] = {"arm": arm, "dialogues": len(lengths)}
        rows.append(row | estimates.merged(*(endpoint(name, found[arm], data.panel) for name in ENDPOINTS)))
    columns = (
        Column("arm", "arm"),
        Column("mean_turn", "mean turn % [95 % CI]", "ci_rate"),
        Column("final", "final state", "ci_rate"),
        Column("trajectory", "trajectory", "ci_rate"),
    )
    notes.append(
        "Mean turn: right states averaged within, then over dialogues. Trajectory: every turn right. Dialogues are resampled whole."
    )
    return Section("accuracy", "states by arm", source, columns, rows, notes)


def endpoint(name: str, found: PerDialogue, panel: Panel) -> dict[str, Any]:
    """One endpoint over the dialogues where it is defined. A share without success or failure carries its Clopper-Pearson interval."""
    values = defined(getattr(found, name))
    if name in ("trajectory", "final"):
        return estimates.share(name, values == 1, None, panel)
    return estimates.mean(name, values, None, panel)


def defined(values: Floats) -> Floats:
    """The values that are defined."""
    kept: Floats = values[~np.isnan(values)]
    return kept


def paired(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both where both are defined, and which dialogues these are."""
    both = ~np.isnan(a) & ~np.isnan(b)
    return a[both], b[both], np.flatnonzero(both)


def contrasts(data: PanelData) -> Section:
    """Local minus Joint. The mean-turn contrast of Serial is tested; all other differences are descriptive (C.2)."""
    _, found, _, notes = read(data, ARMS)
    rows = []
    for arm in LOCAL:
        for name in ("mean_turn", "final", "trajectory", "mean_field"):
            a, b, _ = paired(getattr(found[arm], name), getattr(found["joint"], name))
            row = {"contrast": f"{arm} - joint", "endpoint": ENDPOINTS[name], "n": len(a)} | estimates.difference(
                "difference", a, b, None, data.panel
            )
            if (arm, name) == ("serial", "mean_turn"):
                row = estimates.merged(row, sign_test(a - b, data.panel.seed), {"family": "dialogue construction"})
            rows.append(row)
    columns = (
        Column("contrast", "contrast"),
        Column("endpoint", "endpoint"),
        Column("difference", "points [95 % CI]", "ci_points"),
        Column("p", "p", "p"),
        Column("p_exact", "exact p", "p"),
        Column("p_holm", "p (Holm)", "p"),
    )
    notes.append(f"p: sign test over dialogues, {SIGN_TEST_DRAWS:,} random sign patterns, plus-one. All other rows are descriptive.")
    return Section("contrasts", "local construction against Joint", "Figure 9, C.2", columns, rows, notes)


def sign_test(differences: np.ndarray, seed: int) -> dict[str, Any]:
    """The printed randomisation test, and the exact p that it approaches."""
    if not len(differences):
        return {"p": None, "undefined": {"p": "no dialogue is defined"}}
    drawn = stats.sign_flip(differences, draws=SIGN_TEST_DRAWS, seed=seed)
    exact = stats.sign_flip(differences)
    return {"p": drawn.p, "p_exact": exact.p if exact.method == "exact" else None, "nonzero": drawn.nonzero}


def retention(data: PanelData) -> Section:
    """Jointly right mass over Joint's right mass, every dialogue weighing the same, its denominator redrawn; calls and tokens."""
    turns, _, lengths, notes = read(data, ARMS)
    weight = math.lcm(*lengths) // np.array(lengths, int)  # 1 / turns, in whole numbers: the exact bootstrap needs a lattice
    base = turns["joint"].right == 1
    rows = []
    for arm in ARMS:
        row: dict[str, Any] = {"arm": arm} | costs(turns[arm])
        if arm != "joint":
            kept = base & (turns[arm].right == 1)
            row["retained"] = [int(kept.sum()), int(base.sum())]
            if base.any():
                found = stats.bootstrap_ratio(kept.sum(1) * weight, base.sum(1) * weight, **estimates.settings(data.panel))
                row = estimates.merged(row, estimates.put("retention", found))
            else:
                row = estimates.merged(row, estimates.absent("Joint has no right turn", "retention"))
        rows.append(row)
    columns = (
        Column("arm", "arm"),
        Column("retained", "retained turns", "of"),
        Column("retention", "retention % [95 % CI]", "ci_rate"),
        Column("valid", "valid %", "rate"),
        Column("calls", "calls", "int"),
        Column("input_tokens", "input tokens", "int"),
    )
    notes.append("Retention weighs dialogues equally and redraws its denominator; it is not SCR. Valid: responses that are valid in form.")
    return Section("retention", "Joint's right turns that local construction keeps", "Table C5", columns, rows, notes)


def cost(data: PanelData, *, arms: Sequence[str] = ARMS) -> Section:
    """What one turn costs in each arm; logical requests, on the turns that all arms have."""
    turns, _, _, notes = read(data, arms)
    rows = [{"arm": arm} | costs(turns[arm]) for arm in arms]
    columns = (
        Column("arm", "arm"),
        Column("turns", "turns", "int"),
        Column("calls", "calls", "int"),
        Column("calls_per_turn", "calls/turn", "number"),
        Column("input_tokens_per_turn", "in tokens/turn", "number"),
        Column("output_tokens_per_turn", "out tokens/turn", "number"),
    )
    notes.append("Tokens are shown only where every response reports them.")
    return Section("cost", "calls and tokens per turn", "section 6.2, Table C5", columns, rows, notes)


def costs(turns: ArmTurns) -> dict[str, Any]:
    """Responses that are valid in form, calls and tokens, in all and per turn; tokens None where any response reports none."""
    seen = ~np.isnan(turns.right)
    count = int(seen.sum())
    calls = int(np.nansum(turns.calls))
    row: dict[str, Any] = {"calls": calls, "turns": count}
    if not count:
        tokens = [f"{name}{per}" for name in TOKENS for per in ("", "_per_turn")]
        return row | estimates.absent("no turn is defined in all arms", "valid", "calls_per_turn", *tokens)
    row |= {"valid": float(np.nansum(turns.valid_calls) / calls), "calls_per_turn": calls / count}
    reasons: dict[str, str] = {}
    for name in TOKENS:
        counted = getattr(turns, name)[seen]
        total = None if np.isnan(counted).any() else int(counted.sum())
        row |= {name: total, f"{name}_per_turn": None if total is None else total / count}
        if total is None:
            reasons |= dict.fromkeys((name, f"{name}_per_turn"), "not every response reports its tokens")
    return row | ({"undefined": reasons} if reasons else {})
