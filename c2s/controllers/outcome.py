"""From an output to an outcome: task correctness, fidelity, compliance kind and the trace that later analyses need."""

from __future__ import annotations

from collections.abc import Sequence

from c2s.controllers.details import Extra, Trace
from c2s.records import INVALID, Choice, Outcome, Parent

Steps = Sequence[Choice | None]
"""The answers that made up an output, in order; None where a position was supplied without a request."""


def scored(
    parent: Parent,
    output: str,
    steps: Steps,
    *,
    target: str | None = None,
    plan: str | None = None,
    select: str = "returned",
    extra: Extra | None = None,
) -> Outcome:
    """The outcome of a decision arm, judged by exact equality; nothing is repaired.

    `correct` compares with `target` (the parent's by default), `fidelity` with the supplied `plan` where there is one. `kind`
    is compliance with what was asked for: the plan where one was supplied, else the target. `first_wrong` is the one-based
    first position that differs from the same reference.
    """
    invalid = select == "returned" and any(choice is not None and not choice.offered for choice in steps)
    target = parent.target if target is None else target
    reference = target if plan is None else plan
    right = not invalid and output == reference
    return Outcome(
        arm="",
        output=output,
        correct=not invalid and output == target,
        fidelity=None if plan is None else right,
        kind=_fault(steps) or ("strict_correct" if right else "other_invalid" if invalid else "format_valid_wrong"),
        first_wrong=None if right else first_difference(output, reference),
        min_confidence=_min_top(steps),
        detail={**trace(steps, select), **(extra or {})},
    )


def _fault(steps: Steps) -> str | None:
    """What was wrong with the form of the first text answer that had something wrong with it."""
    return next((choice.fault for choice in steps if choice is not None and choice.fault is not None), None)


def compliance(choice: Choice, right: str) -> str:
    """Kind of one answer, in the study's priority (appendix D, output scoring): strict_correct, truncated, empty, format_valid_wrong,
    bound_code (the code of `right`, where its value was asked for), other_code, extra_text, other_invalid."""
    if choice.offered:
        return "strict_correct" if choice.returned == right else "format_valid_wrong"
    if choice.bound is not None and choice.bound == right:
        return "bound_code"
    return choice.fault or "other_invalid"


def undefined(reason: str) -> Outcome:
    """An outcome without scores, with its reason."""
    return Outcome(arm="", status="undefined", reason=reason)


def first_difference(output: str, target: str) -> int:
    """One-based position of the first character where the two differ (one past the shorter if it is a prefix)."""
    if output == INVALID:
        return 1
    for i, (a, b) in enumerate(zip(output, target, strict=False), start=1):
        if a != b:
            return i
    return min(len(output), len(target)) + 1


def trace(steps: Steps, select: str = "returned") -> Trace:
    """What outcomes keep of their steps."""
    kept: Trace = {
        "p": [None if c is None or c.probabilities is None else c.probabilities.get(_taken(c, select)) for c in steps],
        "top": [None if c is None or not c.probabilities else max(c.probabilities.values()) for c in steps],
        "disagree": [i for i, c in enumerate(steps, start=1) if c is not None and c.disagrees],
    }
    if any(c is not None and c.text is not None for c in steps):
        texts = [(i, c, c.text) for i, c in enumerate(steps, start=1) if c is not None and c.text is not None]
        kept["truncated"] = [i for i, c, _ in texts if c.truncated]
        kept["whitespace"] = [i for i, _, text in texts if text != text.strip()]
        if any(c.tokens is not None for _, c, _ in texts):
            kept["tokens"] = [None if c is None else c.tokens for c in steps]
    if any(c is None for c in steps):
        kept["filled"] = [i for i, c in enumerate(steps, start=1) if c is None]
    if select == "argmax" and kept["disagree"]:
        kept["returned"] = [None if c is None else c.returned for c in steps]
    return kept


def distribution(choice: Choice, options: Sequence[str]) -> list[float] | None:
    """Reported probabilities in the stored order of the options; None where none were reported, 0.0 for an option left out."""
    return None if not choice.probabilities else [choice.probabilities.get(option, 0.0) for option in options]


def _taken(choice: Choice, select: str) -> str:
    return choice.argmax if select == "argmax" and choice.argmax is not None else choice.returned


def _min_top(steps: Steps) -> float | None:
    return smallest([None if not c.probabilities else max(c.probabilities.values()) for c in steps if c is not None])


def smallest(tops: Sequence[float | None]) -> float | None:
    """The smallest top probability; None where there is none, or where one was not reported."""
    reported = [top for top in tops if top is not None]
    return min(reported) if reported and len(reported) == len(tops) else None
