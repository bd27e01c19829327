"""The track with END among 51 options (A.4, B.7, E.1): when does a construction stop, and with what."""

from __future__ import annotations

from collections.abc import Sequence

from c2s.controllers.details import StoppingDetail
from c2s.controllers.outcome import first_difference, trace
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.requests import displayed, local_state, single, text
from c2s.presentation.texts import contracts
from c2s.records import Ask, Choice, Outcome, Parent

CATEGORIES = ("exact_completion", "premature_end", "correct_content_without_end", "step_cap_exhaustion", "wrong_content")


def alphabet() -> list[str]:
    """26 letters, ten digits, eleven punctuation symbols, three kinds of whitespace and END: 51 options in stored order."""
    track = contracts()["stopping"]
    return [*track["letters"], *track["digits"], *track["punctuation"], *track["whitespace"], track["end"]]


def steps(parent: Parent) -> Sequence[int]:
    """The cap is L + 3 requests."""
    return range(1, parent.length + 4)


def stopping(name: str = "serial_with_end") -> Arm:
    """One character after another until END or the cap. `correct` is exact completion."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        options, end = alphabet(), contracts()["stopping"]["end"]
        content, choices, ended = "", list[Choice](), None
        for t in steps(parent):
            state = local_state(parent, t, content)
            right = parent.target[t - 1] if t <= parent.length else end
            shown = displayed(ctx, parent, options, position=t)
            (answer,) = yield [Ask(t, single(state, text(ctx, "serial_with_end"), shown, "character"), truth={"answer": right})]
            choices.append(answer.choice())
            if choices[-1].taken() == end:
                ended = t
                break
            content += choices[-1].taken()
        return _scored(parent, content, choices, ended)

    return Arm(name, program, steps, factors={"interface": "serial_with_end"})


def _scored(parent: Parent, content: str, choices: Sequence[Choice], ended: int | None) -> Outcome:
    category = categorise(content, parent.target, ended is not None)
    done = category == "exact_completion"
    invalid = any(not choice.offered for choice in choices)
    return Outcome(
        "",
        output=content,
        correct=done,
        kind="strict_correct" if done else "other_invalid" if invalid else "format_valid_wrong",
        first_wrong=None if content == parent.target else first_difference(content, parent.target),
        detail=StoppingDetail(
            **trace(choices),
            category=category,
            end=ended,
            content=content == parent.target,
            first_l=content[: parent.length] == parent.target,
            exhausted=ended is None,
        ),
    )


def categorise(content: str, target: str, ended: bool) -> str:
    """The first category that holds, in the paper's priority (A.4).

    Premature END: END is chosen before L characters. Correct content without END: the first L characters are right and END is never
    chosen. Exhaustion: END is never chosen, otherwise. All other outputs ended late, or ended with wrong characters.
    """
    if ended and content == target:
        return "exact_completion"
    if ended and len(content) < len(target):
        return "premature_end"
    if not ended:
        return "correct_content_without_end" if content[: len(target)] == target else "step_cap_exhaustion"
    return "wrong_content"
