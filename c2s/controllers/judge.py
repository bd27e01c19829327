"""Arms of the judge study: one request, one label; the candidate, the grading rule and the order of keys vary (judge paper, 4, A).

A candidate is a template over the source's earlier value X, wrong value Y and letters R. The label that is required follows from
the template alone: no answer decides it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from c2s.controllers.arm_factors import Factors
from c2s.controllers.details import JudgeDetail
from c2s.controllers.outcome import trace, undefined
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.errors import UsageError
from c2s.presentation.encode import COMPONENTS
from c2s.presentation.texts import contracts
from c2s.records import Ask, Choice, Item, Outcome, Parent, Question, Request
from c2s.settings import Settings

QUESTION = "verdict"
"""The name of the typed question (B.1)."""

CUES = ("random", "random_colon")
CONTROLS = ("bare_correct", "bare_wrong", "wrong_final", "valid_revision")
FIXTURES = ("no_answer_fixture", "unresolved_fixture")
PUBLISHED = ("FINAL3", "FINAL4")
RUBRIC = "RUBRIC"
"""The contract of a user's own rubric, whose text is in the run's settings."""

ACCEPT = "correct"

WHOLE_REQUEST = ("insertion", "sorted")
"""Presentations that every grading rule has; the others sort one object of the request."""


def contract(name: str, settings: Settings) -> Mapping[str, Any]:
    """Instruction, criteria in insertion order and, for a user's rubric, which of its labels accept and reject."""
    rule: Mapping[str, Any] | None = settings.rubric if name == RUBRIC else contracts()["judge"][name]
    if rule is None:
        raise UsageError("a rubric is asked for, and the settings hold none")
    return rule


def candidate(condition: str, item: Item) -> str:
    """The literal candidate text of Table 5."""
    template: str = contracts()["judge"]["candidates"][condition]["template"]
    return template.format(X=item["x"], Y=item["y"], R=item["r"])


def required(name: str, condition: str, settings: Settings) -> str:
    """The label that the grading rule requires, in the contract's own words."""
    label = contracts()["judge"]["candidates"][condition]["label"]
    if not isinstance(label, str):
        label = label.get(name, "no_answer")
    return str(contract(name, settings).get("labels", {}).get(label, label))


def judge_request(name: str, settings: Settings, question: str, references: Sequence[str], reply: str) -> Request:
    """State in insertion order question, trusted_reference, model_reply; one typed question over the named criteria."""
    rule = contract(name, settings)
    state = {"question": question, "trusted_reference": list(references), "model_reply": reply}
    return Request(state, {QUESTION: Question(rule["instruction"], dict(rule["criteria"]), unit="label")})


def verdict(choice: Choice, label: str, accept: str = ACCEPT) -> Outcome:
    """The native returned label, never the argmax. `accepted` and the displayed score of the accepting label are kept beside it."""
    output = choice.taken()
    correct = output == label
    score = None if choice.probabilities is None else choice.probabilities.get(accept)
    detail: JudgeDetail = {**trace([choice]), "accepted": output == accept, "score": score}
    kind = "strict_correct" if correct else "format_valid_wrong" if choice.offered else "other_invalid"
    return Outcome(arm="", output=output, correct=correct, kind=kind, min_confidence=detail["top"][0], detail=detail)


def arm_name(contract_name: str, presentation: str, condition: str) -> str:
    return f"{contract_name.lower()}.{presentation}.{condition}"


def judge_arm(contract_name: str, presentation: str, condition: str, *, replicates: int = 1) -> Arm:
    """One condition of Table 5 under one grading rule and one order of keys."""

    def ask(parent: Parent, settings: Settings) -> tuple[Request, str]:
        item = parent.item
        request = judge_request(contract_name, settings, item["question"], item["references"], candidate(condition, item))
        return request, required(contract_name, condition, settings)

    factors = {"condition": condition}
    return label_arm(arm_name(contract_name, presentation, condition), contract_name, presentation, ask, factors, replicates=replicates)


def label_arm(
    name: str,
    contract_name: str,
    presentation: str,
    ask: Callable[[Parent, Settings], tuple[Request, str]],
    factors: Factors,
    *,
    replicates: int = 1,
) -> Arm:
    """A one-request arm; `ask(parent, settings)` gives the request and the label that is required. `factors` is what it varies
    beside contract and presentation.

    It meets only parents that list the contract (and, for one sorted object, that presentation of it). Where a parent skips the
    contract, as after a failed preflight gate, the outcome is undefined with the parent's reason.
    """

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        reason = parent.skipped(contract_name)
        if reason is not None:
            return undefined(reason)
        request, label = ask(parent, ctx.settings)
        (answer,) = yield [Ask(1, request, truth={QUESTION: label}, presentation=presentation)]
        return verdict(answer.choice(QUESTION), label, required(contract_name, "bare_correct", ctx.settings))

    def only(parent: Parent) -> bool:
        listed = contract_name in parent.contracts
        return listed and (presentation in WHOLE_REQUEST or presentation in parent.components(contract_name))

    known: Factors = {"interface": "verdict", "contract": contract_name, "presentation": presentation, **factors}
    return Arm(name, program, _one, replicates=replicates, only=only, factors=known)


def _one(parent: Parent) -> Sequence[int]:
    return (1,)


def components_of(contract_name: str, settings: Settings) -> list[str]:
    """The one-object presentations that change bytes under this contract: FINAL3's criteria stand in sorted order already (A.4)."""
    criteria = list(contract(contract_name, settings)["criteria"])
    wanted = settings.components or COMPONENTS
    return [f"sorted:{name}" for name in COMPONENTS if name in wanted and (name != "criteria" or criteria != sorted(criteria))]
