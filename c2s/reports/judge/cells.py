"""Outcomes of the judge panels as the endpoints need them: acceptances, scores and what was skipped, per configuration."""

from __future__ import annotations

from typing import Any

from c2s.controllers.judge import CUES, RUBRIC, arm_name
from c2s.panels.judge.qualification import PRESENTATIONS
from c2s.records import Outcome
from c2s.reports.data import PanelData, Row

SEEDS = {("FINAL3", True): 20261007154, ("FINAL4", True): 20261007155, ("FINAL3", False): 20261007156}
"""Bootstrap seeds of the three configurations of the paper: FINAL3 and FINAL4 on a decision model, FINAL3 on a text model."""

OTHER_SEED = 20261007157
"""For every configuration that the paper does not have (ours)."""

FOUR = tuple((presentation, cue) for presentation in PRESENTATIONS for cue in CUES)
"""The four cells of a source in the order of `c2s.stats.judge.CELLS`."""


def configurations(data: PanelData) -> list[str]:
    """The grading rules that were planned, in order."""
    return list(data.rows[0].parent.payload["contracts"]) if data.rows else []


def skipped(data: PanelData, contract: str) -> str | None:
    """Why a configuration was not asked at all; None if it was."""
    return data.rows[0].parent.payload.get("skip", {}).get(contract) if data.rows else None


def asked(data: PanelData) -> list[str]:
    """The configurations that were not skipped."""
    return [contract for contract in configurations(data) if skipped(data, contract) is None]


def not_asked(data: PanelData) -> list[str]:
    """A note for every configuration that was skipped."""
    reasons = {contract: skipped(data, contract) for contract in configurations(data)}
    return [f"{shown_name(contract, data)} was not asked: {why}." for contract, why in reasons.items() if why is not None]


def seed_of(data: PanelData, contract: str) -> int:
    return SEEDS.get((contract, data.run.identity["dialect"] == "systemone"), OTHER_SEED)


def shown_name(contract: str, data: PanelData) -> str:
    """A configuration as a table names it: the contract, or the name of the user's rubric."""
    return data.run.identity["settings"]["rubric"]["name"] if contract == RUBRIC else contract


def found(row: Row, contract: str, presentation: str, condition: str, replicate: int = 0) -> Outcome | None:
    return row.ok(arm_name(contract, presentation, condition), replicate)


def accepted(row: Row, contract: str, presentation: str, condition: str, replicate: int = 0) -> bool | None:
    """A of the paper: whether the returned label is the accepting one; None where there is no response."""
    outcome = found(row, contract, presentation, condition, replicate)
    return None if outcome is None else outcome.detail["accepted"]


def score(row: Row, contract: str, presentation: str, condition: str) -> float | None:
    """The displayed score of the accepting label."""
    outcome = found(row, contract, presentation, condition)
    displayed: float | None = None if outcome is None else outcome.detail["score"]
    return displayed


def four(row: Row, contract: str, value: Any = accepted) -> list[Any]:
    """The four cells of a source: insertion R, R:, sorted R, R:."""
    return [value(row, contract, presentation, cue) for presentation, cue in FOUR]


def interaction_of(cells: list[Any]) -> float | None:
    """D of one source; None unless its four cells are complete."""
    if None in cells:
        return None
    a, b, c, d = cells
    return float((d - c) - (b - a))
