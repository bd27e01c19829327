"""One position of a supplied string, written as a choice code or as the character itself (A.5, B.6, D.13, E.5, E.6).

Evidence, question, opaque names, codes and displayed order are the same for both contracts. Codes bind to characters once per parent,
in the reference order; another order moves the lines and keeps the bindings.
"""

from __future__ import annotations

from c2s.controllers.arm_factors import Factors
from c2s.controllers.details import RenderingDetail
from c2s.controllers.outcome import compliance, trace
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.readout import records_of, shown, state_of
from c2s.presentation.encode import canonical_state
from c2s.presentation.names import opaque_name
from c2s.presentation.option_order import CODES
from c2s.presentation.texts import contracts
from c2s.records import INVALID, Ask, Contract, Outcome, Parent, Question, Request

OUTPUTS: dict[str, Contract] = {"code": "code-generated", "character": "character"}
TEMPLATES = ("T0", "T1", "T2")
ORDERS = (0, 1, 2)


def rendering(name: str, evidence: str, output: str, *, template: str = "T0", order: int = 0) -> Arm:
    """All records of a parent at once, a record a step. `kinds` and `right` are per record; `correct` if every one is."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        asks: list[Ask] = []
        characters: list[dict[str, str]] = []  # per record: option name -> character
        for step, record in enumerate(parent.item["records"], start=1):
            codes = {opaque_name(c): code for c, code in zip(shown(parent, ctx, record), CODES, strict=False)}
            names = {opaque_name(c): c for c in shown(parent, ctx, record, order)}
            characters.append(names)
            request = Request(
                canonical_state(state_of(record, evidence)),
                {"answer": Question(contracts()["readout"]["question"], names, codes=codes)},
                system=contracts()["readout"][output][template],
                contract=OUTPUTS[output],
                strip=False,
            )
            asks.append(Ask(step, request, truth={"answer": opaque_name(record["target"][record["position"] - 1])}))
        answers = yield asks
        choices = [answer.choice() for answer in answers]
        kinds = [compliance(choice, ask.truth["answer"]) for choice, ask in zip(choices, asks, strict=True)]
        right = [kind == "strict_correct" for kind in kinds]
        outputs = [written[c.returned] if c.offered else INVALID for c, written in zip(choices, characters, strict=True)]
        kind = next((kind for kind in kinds if kind != "strict_correct"), "strict_correct")
        return Outcome(
            "", output=" ".join(outputs), correct=all(right), kind=kind, detail=RenderingDetail(**trace(choices), kinds=kinds, right=right)
        )

    factors: Factors = {"interface": "rendering", "evidence": evidence, "output": output, "template": template, "order": order}
    return Arm(name, program, records_of, factors=factors)
