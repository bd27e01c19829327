"""Arms that are given the string to write (Choice2Seq, 3.3, A.4, A.5, B.1, B.2, D.9, D.11, D.12, E.1).

GoldCopy and SelfPlanSpell ask with the position in the state, as E.1 prints it. The copy controls cross evidence with controllers
and keep the question fixed, so their position is part of the question and Batch can bundle the very same questions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Literal

from c2s.controllers.details import Extra, NoPlanDetail
from c2s.controllers.outcome import scored, undefined
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.requests import ALPHABETS, displayed, local_state, one_step, positions, single, text
from c2s.controllers.whole_and_local import gold_path
from c2s.presentation.encode import canonical_state
from c2s.presentation.names import opaque_name
from c2s.presentation.texts import ours
from c2s.records import Answer, Ask, Choice, Outcome, Parent, Question, Request

Answers = Generator[list[Ask], list[Answer], list[Answer]]
"""Yields rounds of asks and returns all answers in order."""

Evidence = Literal["raw", "indexed", "padded", "matched"]
Control = Literal["independent", "serial", "batch"]
Supplied = Literal["gold", "wrong", "own"]


def _spell(parent: Parent, ctx: Context, plan: str, state: Callable[[int, str], Mapping[str, Any]]) -> ArmGenerator:
    """L positions in turn under the Copy instruction; fidelity is agreement with `plan`."""
    prefix, choices = "", list[Choice]()
    for t in positions(parent):
        shown = displayed(ctx, parent, ALPHABETS[parent.domain], position=t)
        (answer,) = yield [
            Ask(t, single(state(t, prefix), text(ctx, "copy"), shown, "character", strip=False), truth={"answer": plan[t - 1]})
        ]
        choices.append(answer.choice())
        prefix += answer.choice().taken()
    return scored(parent, prefix, choices, plan=plan, extra=gold_path(plan, choices))


def gold_copy(name: str = "gold_copy") -> Arm:
    """The gold target is supplied and the candidates are withheld. Keeps the probabilities of the target's characters."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        def state(t: int, prefix: str) -> Mapping[str, Any]:
            kept = {key: value for key, value in local_state(parent, t, prefix).items() if key != "candidates"}
            return kept | {"copy_target": parent.target}

        return _spell(parent, ctx, parent.target, state)

    return Arm(name, program, positions, factors={"interface": "gold_copy"})


def self_plan_spell(name: str = "self_plan_spell") -> Arm:
    """Serial's state with the item's main Native selection (payload `plan`) as copy target. Without one, `no_plan` says why."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        plan = parent.item.get("plan")
        if plan is None:
            return undefined(parent.item["no_plan"])
        return (yield from _spell(parent, ctx, plan, lambda t, prefix: local_state(parent, t, prefix) | {"copy_target": plan}))

    return Arm(name, program, positions, factors={"interface": "self_plan_spell"})


def copy_state(parent: Parent, target: str, evidence: Evidence, prefix: str | None) -> dict[str, Any]:
    """State of a copy control: the target, the problem, the length; with feedback the prefix; the evidence.

    `padded` adds punctuation so that the canonical state has the characters and bytes of the indexed one at the same prefix; `matched`
    the payload's padding, with which the whole request renders to as many tokens as the indexed one (`c2s/panels/choice/token_padding.py`).
    """
    state: dict[str, Any] = {"copy_target": target, "problem": parent.item["problem"], "target_length": parent.length}
    if prefix is not None:
        state["current_prefix"] = prefix
    indexed = state | {"indexed_characters": [{"character": c, "position": i} for i, c in enumerate(target, start=1)]}
    if evidence == "raw":
        return state
    if evidence == "indexed":
        return indexed
    if evidence == "matched":
        return state | {"padding": parent.item["padding"][len(prefix or "")]}
    missing = len(canonical_state(indexed)) - len(canonical_state(state | {"padding": ""}))
    return state | {"padding": "." * missing}


def _question(parent: Parent, ctx: Context, position: int) -> Question:
    shown = displayed(ctx, parent, ALPHABETS[parent.domain], position=position)
    return Question(text(ctx, "copy") + ours("copy_position").format(position=position), dict.fromkeys(shown))


def gold(parent: Parent, ctx: Context) -> str:
    return parent.target


def wrong(parent: Parent, ctx: Context) -> str:
    return parent.item["wrong_target"]


def fresh_plan(parent: Parent, ctx: Context) -> str | None:
    """The selection of this panel's own Native; None where it is none of the candidates."""
    output = ctx.outcomes["native"].output
    return output if output in parent.candidates else None


SUPPLIED: Mapping[Supplied, Callable[[Parent, Context], str | None]] = {"gold": gold, "wrong": wrong, "own": fresh_plan}
"""The string that a copy arm is given: the item's target, a wrong candidate, or the selection of the panel's own Native."""


def copy(
    name: str,
    evidence: Evidence,
    control: Control,
    supplied: Supplied = "gold",
    *,
    needs: tuple[str, ...] = (),
    select: str = "returned",
) -> Arm:
    """One evidence under one controller. `correct` is gold EM of the output, `fidelity` its agreement with the supplied target."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        plan = SUPPLIED[supplied](parent, ctx)
        if plan is None:
            return Outcome("", output="", correct=False, kind="empty", detail=NoPlanDetail(no_plan="Native chose none of the candidates"))
        asking = {"independent": _at_once, "serial": _in_turn, "batch": _bundled}[control]
        answers: list[Answer] = yield from asking(parent, ctx, plan, evidence, select)
        choices = [choice for answer in answers for choice in answer.choices.values()]
        output = "".join(choice.taken(select) for choice in choices)
        lengths: Extra = {"rendered": [[a.input_tokens, a.matched_tokens] for a in answers]} if evidence == "matched" else {}
        return scored(parent, output, choices, plan=plan, select=select, extra=lengths)

    factors = {"interface": "copy", "evidence": evidence, "controller": control, "supplied": supplied, "names": "literal"}
    return Arm(name, program, one_step if control == "batch" else positions, needs=needs, factors=factors)


def copy_request(parent: Parent, ctx: Context, t: int, plan: str, evidence: Evidence, prefix: str | None) -> Request:
    """One position of a copy control. Nothing is stripped from its answer (D.11)."""
    return Request(canonical_state(copy_state(parent, plan, evidence, prefix)), {"answer": _question(parent, ctx, t)}, strip=False)


def _ask(parent: Parent, ctx: Context, t: int, plan: str, evidence: Evidence, prefix: str | None) -> Ask:
    twin = copy_request(parent, ctx, t, plan, "indexed", prefix) if evidence == "matched" else None
    return Ask(t, copy_request(parent, ctx, t, plan, evidence, prefix), truth={"answer": plan[t - 1]}, matches=twin)


def _at_once(parent: Parent, ctx: Context, plan: str, evidence: Evidence, select: str) -> Answers:
    return (yield [_ask(parent, ctx, t, plan, evidence, None) for t in positions(parent)])


def _in_turn(parent: Parent, ctx: Context, plan: str, evidence: Evidence, select: str) -> Answers:
    prefix, answers = "", list[Answer]()
    for t in positions(parent):
        answers += yield [_ask(parent, ctx, t, plan, evidence, prefix)]
        prefix += answers[-1].choice().taken(select)
    return answers


def _bundled(parent: Parent, ctx: Context, plan: str, evidence: Evidence, select: str) -> Answers:
    questions = {f"position_{t}": _question(parent, ctx, t) for t in positions(parent)}
    truth = {f"position_{t}": plan[t - 1] for t in positions(parent)}
    return (yield [Ask(1, Request(canonical_state(copy_state(parent, plan, evidence, None)), questions), truth=truth)])


def rebound(name: str, evidence: Evidence) -> Arm:
    """The independent request of one preselected position with opaque option names; descriptions specify the characters (D.11)."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        t = parent.item["binding_position"]
        literal = _question(parent, ctx, t)
        names = {opaque_name(c): c for c in literal.options}
        question = Question(literal.instructions, names)
        state = canonical_state(copy_state(parent, parent.target, evidence, None))
        right = parent.target[t - 1]
        (answer,) = yield [Ask(1, Request(state, {"answer": question}, strip=False), truth={"answer": opaque_name(right)})]
        choice = answer.choice()
        character = names.get(choice.taken(), choice.taken())
        return scored(parent, character, [choice], target=right, plan=right)

    factors = {"interface": "copy", "evidence": evidence, "controller": "one_position", "supplied": "gold", "names": "opaque"}
    return Arm(name, program, one_step, factors=factors)
