"""Three two-option decisions that build an output from facts: named fields or a binary string (A.5, B.4)."""

from __future__ import annotations

from dataclasses import replace

from c2s.controllers.outcome import scored
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.requests import displayed, local_state, positions, single, text
from c2s.presentation.texts import ours
from c2s.records import INVALID, Ask, Choice, Parent


def serial_decisions(name: str = "serial") -> Arm:
    """Payload `pieces`: per decision {option: what it writes}; `joiner` stands between pieces; `answers`: the right options.

    Named fields are asked with a text of ours, since they are no characters; binary digits with Serial's own.
    """

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        item = parent.item
        pieces, joiner, answers = item["pieces"], item["joiner"], item["answers"]
        instructions = text(ctx, "serial") if item["unit"] == "character" else ours("semantic_field")
        written: list[str] = []
        choices: list[Choice] = []
        for t in positions(parent):
            prefix = "".join(piece + joiner for piece in written)
            shown = displayed(ctx, parent, list(pieces[t - 1]), position=t)
            request = single(local_state(parent, t, prefix), instructions, shown, item["unit"])
            (answer,) = yield [Ask(t, request, truth={"answer": answers[t - 1]})]
            choices.append(answer.choice())
            written.append(pieces[t - 1].get(choices[-1].taken(), INVALID))
        outcome = scored(parent, joiner.join(written), choices)
        wrong = [t for t, (c, right) in enumerate(zip(choices, answers, strict=True), start=1) if c.taken() != right]
        return replace(outcome, first_wrong=wrong[0] if wrong else None)

    return Arm(name, program, positions, factors={"interface": "serial"})
