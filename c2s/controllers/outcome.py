"""From an output to an outcome: task correctness, compliance kind and the trace that later analyses need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from c2s.records import INVALID, Choice, Outcome, Parent


def scored(parent: Parent, output: str, choices: Sequence[Choice], *, listed: Sequence[str] | None = None) -> Outcome:
    """The outcome of a decision arm, judged by exact equality with the target; nothing is repaired.

    `choices` are the answers that made up the output, in order. The trace keeps, per choice, the probability of the
    returned option and the largest one (None where none was reported) and the steps where the service's choice is
    not its own argmax. `first_wrong` is the one-based first position that differs from the target.
    """
    invalid = any(not choice.offered for choice in choices)
    correct = not invalid and output == parent.target
    kind = "strict_correct" if correct else "other_invalid" if invalid else "format_valid_wrong"
    return Outcome(
        arm="",
        output=output,
        correct=correct,
        kind=kind,
        first_wrong=None if correct else first_difference(output, parent.target),
        min_confidence=_min_top(choices),
        detail=trace(choices),
    )


def first_difference(output: str, target: str) -> int:
    """One-based position of the first character where the two differ (one past the shorter if it is a prefix)."""
    if output == INVALID:
        return 1
    for i, (a, b) in enumerate(zip(output, target), start=1):
        if a != b:
            return i
    return min(len(output), len(target)) + 1


def trace(choices: Sequence[Choice]) -> dict[str, Any]:
    """Per choice: `p` of the returned option and `top`, the largest probability; `disagree`: steps where they differ."""
    return {
        "p": [None if c.probabilities is None else c.probabilities.get(c.returned) for c in choices],
        "top": [None if not c.probabilities else max(c.probabilities.values()) for c in choices],
        "disagree": [i for i, c in enumerate(choices, start=1) if c.disagrees],
    }


def _min_top(choices: Sequence[Choice]) -> float | None:
    tops = trace(choices)["top"]
    return None if not tops or None in tops else min(tops)
