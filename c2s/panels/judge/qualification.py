"""Qualification of a judge by its controls: preflight decides who goes on, confirmation is gated again (judge paper, 4.3, A.4, Table 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from c2s.controllers.judge import CONTROLS, WHOLE_REQUEST
from c2s.panels.base import Panel
from c2s.records import Outcome

PRESENTATIONS = WHOLE_REQUEST


def needed(condition: str, planned: int) -> int:
    """Correct judgments that a control must reach: 19 of 20 (190 of 200), for a valid revision 18 of 20 (180 of 200)."""
    share = 18 if condition == "valid_revision" else 19
    return -(-planned * share // 20)


@dataclass(frozen=True, slots=True)
class Gate:
    """One configuration under one presentation: correct judgments per control among all planned sources."""

    contract: str
    presentation: str
    planned: int
    correct: Mapping[str, int]
    missing: Mapping[str, int]
    required: Mapping[str, int]

    @property
    def passed(self) -> bool:
        return self.planned > 0 and all(self.correct[name] >= self.required[name] for name in CONTROLS)

    @property
    def shortfall(self) -> str:
        """The controls that miss their threshold, in words; empty if it passed."""
        failed = [name for name in CONTROLS if self.correct[name] < self.required[name]]
        return "; ".join(
            f"{self.presentation} {name} {self.correct[name]}/{self.planned}, {self.required[name]} required" for name in failed
        )


def gates(panel: Panel, contract: str, outcomes: Mapping[str, Sequence[Outcome]]) -> list[Gate]:
    """Both gates of a configuration from {parent: [outcomes]}; every parent counts as planned, a missing output as not correct."""
    return [_gate(panel, contract, presentation, outcomes) for presentation in PRESENTATIONS]


def _gate(panel: Panel, contract: str, presentation: str, outcomes: Mapping[str, Sequence[Outcome]]) -> Gate:
    arms = panel.arms_where(contract=contract, presentation=presentation)
    names = {arm.name: str(arm.factors["condition"]) for arm in arms if arm.factors["condition"] in CONTROLS}
    correct, missing = dict.fromkeys(CONTROLS, 0), dict.fromkeys(CONTROLS, len(outcomes))
    for of_parent in outcomes.values():
        for outcome in of_parent:
            if outcome.arm in names and outcome.replicate == 0 and outcome.status == "ok":
                correct[names[outcome.arm]] += bool(outcome.correct)
                missing[names[outcome.arm]] -= 1
    n = len(outcomes)
    return Gate(contract, presentation, n, correct, missing, {control: needed(control, n) for control in CONTROLS})


def unparsed(panel: Panel, contract: str, outcomes: Mapping[str, Sequence[Outcome]]) -> int:
    """Preflight responses of a configuration that are absent, broken, or name no offered label."""
    names = {arm.name for arm in panel.arms_where(contract=contract)}
    return sum(
        outcome.status != "ok" or outcome.kind == "other_invalid"
        for of_parent in outcomes.values()
        for outcome in of_parent
        if outcome.arm in names
    )


def failure(panel: Panel, contract: str, outcomes: Mapping[str, Sequence[Outcome]]) -> str | None:
    """Why a configuration fails preflight as a whole; None if it goes on. Both presentations must pass and every response must parse."""
    short = [gate.shortfall for gate in gates(panel, contract, outcomes) if not gate.passed]
    broken = unparsed(panel, contract, outcomes)
    if broken:
        short.append(f"{broken} responses are missing or name no offered label")
    return "preflight failed: " + "; ".join(short) if short else None
