"""Solving in one uninterrupted answer, and by going on from a reconstructed prefix (Choice2Seq, 3.4, B.3, D.8, E.3).

WholeGenerate has the canonical state as text, PrefixContinue the state object with the prefix after the assistant boundary; neither sees a
position, a prefix field or an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from c2s.controllers.details import Extra
from c2s.controllers.outcome import scored
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.requests import alphabet, displayed, one_step, positions, whole_state
from c2s.presentation.encode import canonical_state
from c2s.presentation.texts import contracts
from c2s.records import ASCII_WHITESPACE, INVALID, Ask, Choice, Parent, Question, Request


def _request(parent: Parent, ctx: Context, state: Any, budget: str, **more: Any) -> Request:
    direct = contracts()["direct"]
    shown = displayed(ctx, parent, parent.candidates, position=0)
    return Request(
        state,
        {"answer": Question(direct["whole_question"], dict.fromkeys(shown), "whole")},
        response_format=direct["whole_response"],
        max_tokens=direct["max_new_tokens"][budget],
        contract="direct",
        **more,
    )


def whole_generate(name: str = "whole_generate", *, budget: str = "whole") -> Arm:
    """The complete answer in one response. `budget` names new tokens in the contracts: `whole` (32) or `qwen3_8b_whole` (64)."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        request = _request(parent, ctx, canonical_state(whole_state(parent)), budget)
        (answer,) = yield [Ask(1, request, truth={"answer": parent.target})]
        return scored(parent, answer.choice().taken(), [answer.choice()])

    return Arm(name, program, one_step, factors={"interface": "whole_generate"})


def prefix_continue(name: str = "prefix_continue") -> Arm:
    """L requests, each going on from the characters consumed so far; the first character of every suffix is consumed.

    An empty suffix, or one that begins with a character of another alphabet, gives the invalid marker, which stays in the prefix.
    A truncated suffix counts against the form of the trajectory, not against its content (ours). `initial` is whether the first complete
    suffix is the answer, `markers` counts invalid characters.
    """

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        prefix, steps, initial = "", list[Choice](), None
        for t in positions(parent):
            request = _request(parent, ctx, dict(sorted(whole_state(parent).items())), "prefix_continue", prefill=prefix, strip=False)
            (answer,) = yield [Ask(t, request, truth={"answer": parent.target[t - 1 :]})]
            suffix = answer.choice()
            if initial is None:
                initial = not suffix.truncated and (suffix.text or "").strip(ASCII_WHITESPACE) == parent.target
            steps.append(first_character(suffix, alphabet(parent)))
            prefix += steps[-1].taken()
        extra: Extra = {"initial": bool(initial), "markers": sum(not step.offered for step in steps)}
        return scored(parent, prefix, steps, extra=extra)

    return Arm(name, program, positions, factors={"interface": "prefix_continue"})


def first_character(suffix: Choice, symbols: Sequence[str]) -> Choice:
    """The answer that the first character of a suffix is; nothing is stripped."""
    first = (suffix.text or "")[:1]
    legal = first in tuple(symbols)
    fault = "truncated" if suffix.truncated else "empty" if not first else None if legal else "other_invalid"
    return replace(suffix, returned=first if legal else INVALID, offered=legal, fault=fault, argmax=None, probabilities=None)
