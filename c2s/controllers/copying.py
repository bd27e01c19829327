"""Arms that are given the string to write: GoldCopy and SelfPlanSpell with their own prefix (Choice2Seq, A.4, B.1, B.2, E.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from c2s.controllers.natural import gold_path
from c2s.controllers.outcome import scored, undefined
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.requests import ALPHABETS, displayed, local_state, positions, single, text
from c2s.records import Ask, Choice, Parent


def _spell(parent: Parent, ctx: Context, plan: str, state: Callable[[int, str], Mapping[str, Any]]) -> ArmGenerator:
    """L positions in turn under the Copy instruction; fidelity is agreement with `plan`."""
    prefix, choices = "", list[Choice]()
    for t in positions(parent):
        shown = displayed(ctx, parent, ALPHABETS[parent.domain], position=t)
        (answer,) = yield [Ask(t, single(state(t, prefix), text(ctx, "copy"), shown, "character"), truth={"answer": plan[t - 1]})]
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

    return Arm(name, program, positions)


def self_plan_spell(name: str = "self_plan_spell") -> Arm:
    """Serial's state with the item's main Native selection (payload `plan`) as copy target. Without one, `no_plan` says why."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        plan = parent.payload.get("plan")
        if plan is None:
            return undefined(parent.payload["no_plan"])
        return (yield from _spell(parent, ctx, plan, lambda t, prefix: local_state(parent, t, prefix) | {"copy_target": plan}))

    return Arm(name, program, positions)
