"""What outcomes keep beside their scores (`Outcome.detail`), as arms write it and reports read it.

Lists have one entry per step unless said otherwise; steps count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class Trace(TypedDict):
    """Of every arm of questions.

    `p` is the probability of the choice taken and `top` the largest one; None where none was reported or the position was supplied
    without a request. `disagree`: the steps where the service's choice is not its own argmax. `filled`: the supplied steps. `truncated` and
    `whitespace`: the steps whose text met its budget or had outer whitespace, where the model wrote text; `tokens`: how many new ones it
    took, where that was reported. `returned`: the service's own choices, where an arm goes on with the argmax and the two differ.
    """

    p: list[float | None]
    top: list[float | None]
    disagree: list[int]
    filled: NotRequired[list[int]]
    truncated: NotRequired[list[int]]
    whitespace: NotRequired[list[int]]
    tokens: NotRequired[list[int | None]]
    returned: NotRequired[list[str | None]]


class Extra(TypedDict, total=False):
    """What single arms add to their trace."""

    distribution: list[list[float] | None]
    """The reported probabilities of all options, in stored order."""
    gold_p: list[float | None]
    """The probability of the right character."""
    aborted: int
    """The position at which no character was left to offer."""
    initial: bool
    """Whether the first complete suffix is the answer; `markers` counts invalid characters."""
    markers: int
    rendered: list[list[int | None]]
    """[own, matched]: the tokens of the rendered request and of the one that it must equal."""


class RecordsDetail(Trace):
    """Of an arm with a record a step: whether each step's answer is right."""

    right: list[bool]


class RenderingDetail(RecordsDetail):
    """Of matched generation: the compliance of each step's answer beside it."""

    kinds: list[str]


class StoppingDetail(Trace):
    """How a construction with END stopped.

    `category` is the first of the study's that holds, `end` the step of END, `content` whether the whole output is right, `first_l`
    whether its first L characters are, `exhausted` whether END was never chosen.
    """

    category: str
    end: int | None
    content: bool
    first_l: bool
    exhausted: bool


class JudgeDetail(Trace):
    """`accepted`: whether the verdict is the accepting label; `score`: the displayed score of that label."""

    accepted: bool
    score: float | None


class TurnRecord(TypedDict):
    """One turn of a dialogue: its state, which fields are right, its format validity by response, and what it cost.

    `right`, `p` and `top` are by field: `right` in the frozen order, the others in the order of answering. Tokens are None where any
    response reports none.
    """

    turn: int
    state: dict[str, str]
    right: list[bool]
    kind: str
    calls: int
    valid_calls: int
    input_tokens: int | None
    output_tokens: int | None
    p: list[float | None]
    top: list[float | None]


class DialogueDetail(TypedDict):
    """One record a turn: of the one turn of an instance, or of every turn of a trajectory."""

    turns: Sequence[TurnRecord]


class NoPlanDetail(TypedDict):
    """Why there was no string to copy."""

    no_plan: str
