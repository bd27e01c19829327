"""A scripted judge that answers with the cell counts that the judge paper prints (5.1, 5.2, Tables 4 and 6, A.4).

The shipped bank stands in for the paper's sources: `reading` for DROP, `sums` for GSM8K, 50 near and 50 far in each. The paper
prints counts, not sources, so which source has which outcome is chosen here; every printed margin is met.
"""

from __future__ import annotations

from collections.abc import Sequence

from c2s.backends.base import Call, Exchange
from c2s.banks.judge import load_judge_bank

CONFIRMATION = load_judge_bank().split("confirmation")


def pick(workload: str, distance: str, first: int, n: int) -> list[str]:
    """Ids of `n` sources of a cell, from place `first` on."""
    cell = [s.id for s in CONFIRMATION if (s.workload, s.distance) == (workload, distance)]
    return cell[first : first + n]


def flipped(near: Sequence[int], far: Sequence[int]) -> list[str]:
    """Sources with D = 1: counts of (reading, sums) among the near and the far ones."""
    return [
        name
        for distance, counts in (("near", near), ("far", far))
        for workload, n in zip(("reading", "sums"), counts, strict=True)
        for name in pick(workload, distance, 0, n)
    ]


def duplicate(primary: Sequence[str], lost: int, others: Sequence[str]) -> set[str]:
    """The primary's accepted sources without the first `lost`, and with `others`."""
    return {*primary[lost:], *others}


F3 = flipped((1, 1), (24, 24))
F4 = flipped((1, 1), (23, 22))
R3 = pick("reading", "far", 40, 2)
R4 = pick("reading", "far", 40, 3) + pick("sums", "far", 40, 3)
OUT = pick("reading", "near", 10, 20)
"""Sources that no primary call accepts."""

ACCEPTED = {
    ("final3", "random", 0): set(R3),
    ("final3", "random", 1): duplicate(R3, 1, OUT[:1]),
    ("final3", "random_colon", 0): {*R3, *F3},
    ("final3", "random_colon", 1): duplicate([*F3, *R3], 10, OUT[:6]),
    ("final4", "random", 0): set(R4),
    ("final4", "random", 1): duplicate(R4, 1, OUT[:1]),
    ("final4", "random_colon", 0): {*R4, *F4},
    ("final4", "random_colon", 1): duplicate([*F4, *R4], 3, OUT[:9]),
}
"""Acceptances under sorted keys; there are none under insertion."""

MISSED = {
    ("final3", "sorted", "valid_revision"): 3,
    ("final3", "insertion", "wrong_final"): 8,
    ("final4", "sorted", "wrong_final"): 2,
    ("final4", "insertion", "wrong_final"): 7,
}
"""Controls that Jev got wrong, of 200 (Table 4)."""


def jev(call: Call) -> str:
    """Both Jev configurations."""
    contract, presentation, condition = call.slot.arm.split(".")
    right = call.ask.truth["verdict"]
    if call.slot.panel == "judge-preflight":
        return right
    if presentation == "sorted" and call.slot.parent in ACCEPTED.get((contract, condition, call.slot.replicate), ()):
        return "correct"
    wrong = {s.id for s in CONFIRMATION[: MISSED.get((contract, presentation, condition), 0)]}
    if call.slot.parent in wrong:
        return "incorrect" if right == "correct" else "correct"
    return right


LOST = {
    (pick("reading", "near", 0, 1)[0], "insertion", "random"),
    (pick("sums", "near", 0, 1)[0], "sorted", "random"),
    (pick("sums", "near", 1, 1)[0], "sorted", "random_colon"),
    (pick("sums", "near", 2, 1)[0], "sorted", "random_colon"),
    (pick("sums", "far", 0, 1)[0], "insertion", "bare_correct"),
    (pick("sums", "far", 1, 1)[0], "insertion", "valid_revision"),
}
"""The six transport failures: four leave one reading and three sums sources incomplete, two hit controls (A.4, A.5, Table 6)."""


def sol(call: Call) -> str | Exchange:
    """GPT-6 Sol with three labels: no acceptance, six responses that never arrived."""
    _, presentation, condition = call.slot.arm.split(".")
    confirming = call.slot.panel == "judge-confirmation" and call.slot.replicate == 0
    if confirming and (call.slot.parent, presentation, condition) in LOST:
        return Exchange("lost", message="scripted: the connection broke")
    return call.ask.truth["verdict"]
