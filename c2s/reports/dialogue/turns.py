"""Turn by turn what every arm of a dialogue panel gave, as arrays, and the endpoints of one dialogue (appendix C).

A turn that is undefined in one of the arms that are compared drops from all of them. A dialogue whose last turn has dropped has no final
state; one that has lost any turn has no trajectory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c2s.reports.data import Row

Floats = NDArray[np.float64]

ENDPOINTS = {
    "trajectory": "trajectory",
    "mean_turn": "mean turn",
    "final": "final state",
    "mean_field": "mean field",
    "valid": "valid format",
}


@dataclass(frozen=True, slots=True)
class ArmTurns:
    """One arm over dialogues [D] and turns [T]; NaN where a turn is undefined or lies beyond the prefix.

    right      1 where the state is the gold state
    fields     share of fields that are right
    calls, valid_calls    responses, and those that are valid in form
    input_tokens, output_tokens    NaN also where the responses do not report them
    """

    right: Floats
    fields: Floats
    calls: Floats
    valid_calls: Floats
    input_tokens: Floats
    output_tokens: Floats

    def masked(self, keep: NDArray[np.bool_]) -> ArmTurns:
        return ArmTurns(*(np.where(keep, getattr(self, name), np.nan) for name in ArmTurns.__dataclass_fields__))


def read_arm(rows: Sequence[Row], arm: str) -> ArmTurns:
    """The arm's turns from its outcomes: one per turn, or one that holds them all."""
    longest = max((row.parent.length for row in rows), default=0)
    arrays = {name: np.full((len(rows), longest), np.nan) for name in ArmTurns.__dataclass_fields__}
    for d, row in enumerate(rows):
        for record in records(row, arm):
            place = d, record["turn"] - 1
            arrays["right"][place] = all(record["right"])
            arrays["fields"][place] = sum(record["right"]) / len(record["right"])
            for name in ("calls", "valid_calls", "input_tokens", "output_tokens"):
                arrays[name][place] = np.nan if record[name] is None else record[name]
    return ArmTurns(**arrays)


def records(row: Row, arm: str) -> list[Mapping[str, Any]]:
    """The defined turns of one arm of one dialogue, in order."""
    outcomes = sorted((o for o in row.outcomes.values() if o.arm == arm and o.status == "ok"), key=lambda o: o.turn)
    return [record for outcome in outcomes for record in outcome.detail["turns"]]


def compared(rows: Sequence[Row], arms: Sequence[str]) -> tuple[dict[str, ArmTurns], int]:
    """The arms on the turns that all of them have, and how many planned turns dropped."""
    read = {arm: read_arm(rows, arm) for arm in arms}
    keep = np.logical_and.reduce([~np.isnan(turns.right) for turns in read.values()])
    planned = sum(row.parent.length for row in rows)
    return {arm: turns.masked(keep) for arm, turns in read.items()}, planned - int(keep.sum())


@dataclass(frozen=True, slots=True)
class PerDialogue:
    """Endpoints of each dialogue [D]; NaN where undefined.

    `any_recovery` and `final_recovery` are defined for dialogues with an error: a right turn after the first one, a right last turn.
    `survived` counts the turns before the first error, the prefix's length where there is none.
    """

    trajectory: Floats
    mean_turn: Floats
    final: Floats
    mean_field: Floats
    valid: Floats
    any_recovery: Floats
    final_recovery: Floats
    survived: Floats


def per_dialogue(turns: ArmTurns, lengths: Sequence[int]) -> PerDialogue:
    found = {name: np.full(len(lengths), np.nan) for name in PerDialogue.__dataclass_fields__}
    for d, length in enumerate(lengths):
        right = turns.right[d, :length]
        seen = ~np.isnan(right)
        if not seen.any():
            continue
        found["mean_turn"][d] = right[seen].mean()
        found["mean_field"][d] = turns.fields[d, :length][seen].mean()
        found["valid"][d] = np.nansum(turns.valid_calls[d]) / np.nansum(turns.calls[d])
        found["final"][d] = right[-1]
        if seen.all():
            errors = np.flatnonzero(right == 0)
            found["trajectory"][d] = not len(errors)
            found["survived"][d] = errors[0] if len(errors) else length
            if len(errors):
                found["any_recovery"][d] = right[errors[0] :].any()
                found["final_recovery"][d] = right[-1]
    return PerDialogue(**found)


def survival(found: PerDialogue, lengths: Sequence[int]) -> list[dict[str, Any]]:
    """Share of dialogues without an error through each turn, by product limit, since prefixes end after 4, 6 or 8 turns.

    Nobody at risk any more leaves it where it is: at 0 where every dialogue has had its error.
    """
    rows, share = [], 1.0
    defined = [(int(s), n) for s, n in zip(found.survived, lengths, strict=True) if not np.isnan(s)]
    for turn in range(1, max((n for _, n in defined), default=0) + 1):
        at_risk = sum(s >= turn - 1 and n >= turn for s, n in defined)
        errors = sum(s == turn - 1 and n >= turn for s, n in defined)
        if at_risk:
            share *= 1 - errors / at_risk
        rows.append({"turn": turn, "at_risk": at_risk, "first_errors": errors, "survival": share})
    return rows


def components(links: Sequence[tuple[int, int]], count: int) -> list[int]:
    """Component of each of `count` dialogues, numbered in order, where `links` join two of them."""
    parent = list(range(count))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for a, b in links:
        first, second = sorted((root(a), root(b)))
        parent[second] = first
    number = {r: n for n, r in enumerate(dict.fromkeys(root(i) for i in range(count)))}
    return [number[root(i)] for i in range(count)]
