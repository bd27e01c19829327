"""Arms of the natural tasks: Native, CandidatesOnly, Independent and Serial (Choice2Seq, section 3.1, A.4, E.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.controllers.outcome import scored
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.presentation.contracts import natural
from c2s.presentation.encode import canonical_state
from c2s.presentation.options import keyed_order
from c2s.records import Ask, Parent, Question, Request

ALPHABETS: Mapping[str, tuple[str, ...]] = {
    "math": tuple("0123456789"),
    "lexical": tuple("abcdefghijklmnopqrstuvwxyz"),
}
"""Local options of the content track, which makes no END request (A.4)."""


def _request(
    parent: Parent, ctx: Context, *, instruction: str, position: int, state: Mapping[str, Any], options: Sequence[str]
) -> Request:
    """One question named `answer` over `options` in the order keyed by (seed, parent, position); descriptions null."""
    shown = keyed_order(options, seed=ctx.seed, parent=parent.id, position=position)
    question = Question(
        instructions=natural(ctx.settings["template"], instruction),
        options=dict.fromkeys(shown),
        unit="character" if position else "whole",
    )
    return Request(canonical_state(state), {"answer": question})


def whole_state(parent: Parent, *, problem: bool = True) -> dict[str, Any]:
    """State keys of Native; without the problem, those of CandidatesOnly."""
    state: dict[str, Any] = {"candidates": parent.candidates, "target_length": parent.length}
    if problem:
        state["problem"] = parent.payload["problem"]
    return state


def _whole(parent: Parent, ctx: Context, *, problem: bool) -> ArmGenerator:
    request = _request(
        parent,
        ctx,
        instruction="native",
        position=0,
        state=whole_state(parent, problem=problem),
        options=parent.candidates,
    )
    (answer,) = yield [Ask(1, request, truth={"answer": parent.target})]
    choice = answer.choice()
    return scored(parent, choice.taken(), [choice], listed=parent.candidates)


def native(parent: Parent, ctx: Context) -> ArmGenerator:
    """One request with the problem and the eight candidates."""
    return _whole(parent, ctx, problem=True)


def candidates_only(parent: Parent, ctx: Context) -> ArmGenerator:
    """Native's request with the problem withheld: what can be had from the candidate set alone."""
    return _whole(parent, ctx, problem=False)


def _local(parent: Parent, ctx: Context, *, arm: str, position: int, prefix: str | None) -> Ask:
    state = whole_state(parent) | {"position": position}
    if prefix is not None:
        state["current_prefix"] = prefix
    request = _request(
        parent,
        ctx,
        instruction=arm,
        position=position,
        state=state,
        options=ALPHABETS[parent.domain],
    )
    return Ask(position, request, truth={"answer": parent.target[position - 1]})


def independent(parent: Parent, ctx: Context) -> ArmGenerator:
    """All L positions at once, each with its one-based position and no prefix."""
    positions = range(1, parent.length + 1)
    answers = yield [_local(parent, ctx, arm="independent", position=t, prefix=None) for t in positions]
    choices = [answer.choice() for answer in answers]
    return scored(parent, "".join(choice.taken() for choice in choices), choices)


def serial(parent: Parent, ctx: Context) -> ArmGenerator:
    """L positions in turn, each with the prefix that the arm itself has produced, invalid markers included."""
    prefix = ""
    choices = []
    for t in range(1, parent.length + 1):
        (answer,) = yield [_local(parent, ctx, arm="serial", position=t, prefix=prefix)]
        choices.append(answer.choice())
        prefix += choices[-1].taken()
    return scored(parent, prefix, choices)


def _one(parent: Parent) -> Sequence[int]:
    return (1,)


def _positions(parent: Parent) -> Sequence[int]:
    return range(1, parent.length + 1)


NATIVE = Arm("native", native, _one)
CANDIDATES_ONLY = Arm("candidates_only", candidates_only, _one)
INDEPENDENT = Arm("independent", independent, _positions)
SERIAL = Arm("serial", serial, _positions)
