"""The prefix intervention (A.4): a correct or a one-error draft, read out as a whole answer or as a local character."""

from __future__ import annotations

from c2s.controllers.outcome import distribution, scored
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.requests import ALPHABETS, displayed, local_state, one_step, single, text
from c2s.records import Ask, Parent


def intervention(readout: str, draft: str) -> Arm:
    """Arm `readout_draft`. The supplied state is Serial's in all four arms; only draft, instruction and options differ."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        t = parent.item["position"]
        prefix = parent.target[: t - 1] if draft == "correct" else parent.item["error_draft"]
        whole = readout == "whole"
        options = parent.candidates if whole else ALPHABETS[parent.domain]
        right = parent.target if whole else parent.target[t - 1]
        shown = displayed(ctx, parent, options, position=0 if whole else t)
        instructions = text(ctx, "native" if whole else "serial")
        request = single(local_state(parent, t, prefix), instructions, shown, "whole" if whole else "character")
        (answer,) = yield [Ask(1, request, truth={"answer": right})]
        choice = answer.choice()
        return scored(parent, choice.taken(), [choice], target=right, extra={"distribution": [distribution(choice, options)]})

    return Arm(f"{readout}_{draft}", program, one_step, factors={"interface": "draft", "readout": readout, "draft": draft})
