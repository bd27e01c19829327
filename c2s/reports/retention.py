"""Retention of correct answers between two arms: joint table, SCR, gain and loss, exact McNemar (section 3.1, Table 1).

Pairs with an undefined arm drop as pairs and are counted. A value that is not defined is None, with its reason in
`undefined` beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from c2s import stats
from c2s.panels.base import Panel
from c2s.records import Outcome
from c2s.reports.data import PanelData, Row

CONFIDENCE = 0.95


def retention(data: PanelData) -> dict[str, Any]:
    """By domain: the pair of arms of a panel, Holm not yet applied (`family` does that over all runs shown together)."""
    return {name: _domain(data.panel, [(row.parent.length, _first(row)) for row in rows]) for name, rows in data.domains.items()}


def _first(row: Row) -> dict[str, Outcome]:
    """Outcomes of the planned primary, replicate 0, by arm."""
    return {arm: outcome for (arm, replicate, _), outcome in row.outcomes.items() if replicate == 0}


def _domain(panel: Panel, rows: Sequence[tuple[int, Mapping[str, Outcome]]]) -> dict[str, Any]:
    first, second = panel.pair
    pairs = [(length, arms) for length, arms in rows if _defined(arms, first) and _defined(arms, second)]
    result = _cell(panel, pairs)
    result["n_planned"] = len(rows)
    result["n_dropped"] = len(rows) - len(pairs)
    for arm in panel.arms:
        result |= _arm(arm.name, rows)
    for name in (first, second):  # over the pairs, so that they agree with the joint table
        result[f"{name}_em"] = result["joint_em"][name]
    counts = result["joint"]
    result["mcnemar_p"] = float(stats.mcnemar_exact(counts["lost"], counts["gained"])) if pairs else None
    if not pairs:
        result["undefined"]["mcnemar_p"] = "no pair is defined"
    result["by_length"] = {
        str(length): _cell(panel, [pair for pair in pairs if pair[0] == length]) for length in sorted({length for length, _ in rows})
    }
    for cell in result["by_length"].values():
        cell |= {f"{name}_em": cell["joint_em"][name] for name in (first, second)}
    return result


def _defined(arms: Mapping[str, Outcome], name: str) -> bool:
    return name in arms and arms[name].correct is not None


def _arm(name: str, rows: Sequence[tuple[int, Mapping[str, Outcome]]]) -> dict[str, Any]:
    """EM of one arm over the parents where it is defined, with its own denominator."""
    values = [arms[name].correct for _, arms in rows if _defined(arms, name)]
    return {f"{name}_em": sum(values) / len(values) if values else None, f"{name}_n": len(values)}


def _cell(panel: Panel, pairs: Sequence[tuple[int, Mapping[str, Outcome]]]) -> dict[str, Any]:
    first, second = panel.pair
    native = np.array([arms[first].correct for _, arms in pairs], dtype=bool)
    serial = np.array([arms[second].correct for _, arms in pairs], dtype=bool)
    strata = np.array([length for length, _ in pairs])
    joint = stats.joint_counts(native, serial)
    undefined: dict[str, str] = {}
    cell: dict[str, Any] = {
        "n": joint.n,
        "joint": {"both": joint.both, "lost": joint.lost, "gained": joint.gained, "neither": joint.neither},
        "joint_em": {first: _value(joint.native_em), second: _value(joint.serial_em)},
        "scr": _value(joint.scr),
        "scr_interval": None,
        "scr_interval_method": None,
        "gain_rate": _value(joint.gain_rate),
        "loss_mass": _value(joint.loss_mass),
        "gain_mass": _value(joint.gain_mass),
        "undefined": undefined,
    }
    retained, correct = joint.both, joint.both + joint.lost
    if not pairs:
        undefined |= dict.fromkeys(("native_em", "serial_em", "scr", "scr_interval", "gain_rate", "loss_mass"), "no pair is defined")
    elif correct == 0:
        undefined |= dict.fromkeys(("scr", "scr_interval"), f"no {first} success among {joint.n} pairs")
    else:
        cell |= _interval(native, serial, strata, retained, correct)
    if pairs and correct == joint.n:
        undefined["gain_rate"] = f"{first} is right on all {joint.n} pairs"
    return cell


def _interval(native: np.ndarray, serial: np.ndarray, strata: np.ndarray, retained: int, correct: int) -> dict[str, Any]:
    """The exact stratified bootstrap interval; where nothing varies within a stratum Clopper-Pearson stands for it.

    The paper does so for zero-success cells (section 3.4); the same holds for cells without a failure, or with one pair per length (ours).
    """
    bootstrap = stats.bootstrap_scr(native, serial, strata, method="exact", confidence=CONFIDENCE)
    flat = retained in (0, correct) or (bootstrap.low is not None and bootstrap.low == bootstrap.high)
    both = {"scr_bootstrap": [bootstrap.low, bootstrap.high], "scr_undefined_share": bootstrap.undefined, "scr_degenerate": flat}
    if flat:
        exact = stats.clopper_pearson(retained, correct, CONFIDENCE)
        return both | {"scr_interval": [exact.low, exact.high], "scr_interval_method": "clopper-pearson"}
    return both | {"scr_interval": [bootstrap.low, bootstrap.high], "scr_interval_method": "exact stratified bootstrap"}


def _value(number: float | None) -> float | None:
    return None if number is None or number != number else float(number)


def family(reports: Sequence[dict[str, Any]]) -> None:
    """Holm over every (model, domain) of the reports shown together; a test that could not run keeps its slot with p = 1."""
    keys = [(i, name) for i, report in enumerate(reports) for name in report["domains"]]
    p = {key: reports[key[0]]["domains"][key[1]]["mcnemar_p"] for key in keys}
    adjusted = stats.holm({str(key): 1.0 if value is None else value for key, value in p.items()})
    for key in keys:
        domain = reports[key[0]]["domains"][key[1]]
        domain["mcnemar_p_holm"] = float(adjusted[str(key)]) if p[key] is not None else 1.0
        domain["holm_m"] = len(keys)
