"""The nouns that every layer shares: parents, requests, asks, answers, outcomes.

They hold no behaviour beyond what follows from their fields, import nothing of c2s, and never change once made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, cast, get_args

INVALID = "_"
"""Stands in an output where an answer was not one of the offered options; belongs to no panel's alphabet (ours)."""

ASCII_WHITESPACE = " \t\n\r\x0b\x0c"
"""What is stripped from the ends of a text answer where anything is; no other space is."""

VALID_KINDS = ("strict_correct", "format_valid_wrong")
"""Kinds of outcomes whose every answer is an offered option, right or wrong."""

Unit = Literal["whole", "character", "field", "label"]

Contract = Literal["direct", "code-readout", "code-generated", "character"]
"""What a model that writes text is asked to write: the value itself; a choice code, read from the next-token distribution or
generated; or the character that an option's description specifies, beside the codes."""


Transition = Literal["both", "lost", "gained", "neither", "undefined"]
"""What became of a parent between the two arms of a pair: right in both, only in the first, only in the second, in neither; or undefined,
where an arm has no scored outcome."""

TRANSITIONS: tuple[Transition, ...] = get_args(Transition)


def transition(first: bool | None, second: bool | None) -> Transition:
    """The transition of a parent from whether each arm of the pair is right (None: it has no scored outcome)."""
    if first is None or second is None:
        return "undefined"
    if first:
        return "both" if second else "lost"
    return "gained" if second else "neither"


class Slot(NamedTuple):
    """Identity of one planned request: where it stands, never what it says.

    `step` counts from 1 within an arm. `replicate` counts identical repeats from 0. `turn` is the turn of the dialogue that the arm
    answers on its own, from 1; 0 where the arm has no turns. Two slots with identical bytes are two slots.
    """

    panel: str
    parent: str
    arm: str
    replicate: int
    step: int
    turn: int = 0

    @property
    def instance(self) -> int:
        """The number of this instance of its arm, from 0: the replicate, or the turn less one."""
        return self.turn - 1 if self.turn else self.replicate

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What schedules and the random draws of simulated models are keyed by: (panel, parent, arm, instance, step)."""
        return (self.panel, self.parent, self.arm, self.instance, self.step)

    @property
    def outcome_key(self) -> tuple[str, int, int]:
        """(arm, replicate, turn): the key of the outcome that its answer enters."""
        return (self.arm, self.replicate, self.turn)

    def __str__(self) -> str:
        instance = f" turn {self.turn}" if self.turn else f" replicate {self.replicate}" if self.replicate else ""
        return f"{self.panel}/{self.parent}/{self.arm}{instance} step {self.step}"


class Record(TypedDict):
    """One position (from 1) of a supplied string. `alphabet` is in matched order, `other` the same characters with none in its place."""

    target: str
    position: int
    alphabet: str
    other: NotRequired[str]


class Item(TypedDict, total=False):
    """Members of a frozen item that arms, sources and reports read. An item has those of its panel, beside facts that only readers see."""

    problem: str
    target: str
    candidates: Sequence[str]
    alphabet: str
    """The characters of this item, where they are not its domain's."""
    unit: Unit
    pieces: Sequence[Mapping[str, str]]
    """Per decision: what each option writes; `joiner` stands between pieces, `answers` are the right options."""
    joiner: str
    answers: Sequence[str]
    presentations: Mapping[str, Item]
    stratum_of_bootstrap: str
    records: Sequence[Record]
    position: int
    error_draft: str
    binding_position: int
    wrong_target: str
    padding: Sequence[str]
    """By position: the text that makes a padded request as long as the indexed one."""
    plan: str
    """Main's Native selection; where there is none, `no_plan` says why."""
    no_plan: str
    question: str
    references: Sequence[str]
    x: str
    """Of a judge source: the earlier value; `y` is the wrong one, `w` another wrong one, `r` the letters of the cue."""
    y: str
    w: str
    r: str
    distance: str
    contracts: Sequence[str]
    components: Mapping[str, Sequence[str]]
    skip: Mapping[str, str]
    """Grading rule -> why it is not asked."""


@dataclass(frozen=True, slots=True)
class Parent:
    """The independent unit: everything asked about it is resampled with it.

    `payload` is the frozen item as plain JSON values (problem text included); its declared members are read through `item` and the
    properties. `pair` names the partner across domains.
    """

    id: str
    domain: str
    length: int
    payload: Mapping[str, Any]
    pair: str | None = None

    @property
    def item(self) -> Item:
        """The payload with the types of its declared members."""
        return cast(Item, self.payload)

    @property
    def target(self) -> str:
        return self.item["target"]

    @property
    def candidates(self) -> tuple[str, ...]:
        return tuple(self.item["candidates"])

    @property
    def presentations(self) -> Mapping[str, Item]:
        """The forms in which a symbolic or semantic parent is presented, by name; empty where it has one form."""
        return self.item.get("presentations", {})

    @property
    def stratum(self) -> str | int:
        """What a bootstrap keeps fixed: the length, unless the item names something finer."""
        return self.item.get("stratum_of_bootstrap", self.length)

    @property
    def contracts(self) -> Sequence[str]:
        """The grading rules under which a judge source is asked; none where it is no judge source."""
        return self.item.get("contracts", ())

    def components(self, contract: str) -> Sequence[str]:
        """The one-object presentations of a judge request under this grading rule."""
        return self.item.get("components", {}).get(contract, ())

    def skipped(self, contract: str) -> str | None:
        """Why a judge source is not asked under this grading rule after all; None where it is."""
        return self.item.get("skip", {}).get(contract)


@dataclass(frozen=True, slots=True)
class Question:
    """One typed question. `options` maps each option in displayed order to its description (None: no description).

    `unit` says what an answer is: a whole candidate, one character, a field value or a label. Where the options are ids,
    `values` maps each to what it stands for: that is what a model which writes text is shown and answers. `codes` binds each option to
    its choice code where the binding must outlive a change of the displayed order; without it codes follow that order.
    """

    instructions: str
    options: Mapping[str, str | None]
    unit: Unit = "character"
    type: str = "choice"
    values: Mapping[str, str] | None = None
    codes: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, independent of the provider: a state and its ordered, named questions.

    The rest concerns models that answer with text alone and never enters a decision request: a system text, the closing
    sentence on the form of the answer and the budget in new tokens. None: what the contract says for the question's unit.
    `contract` demands one instead of the model's own. `prefill` is how the answer begins: an assistant message without an end of
    turn, which the model goes on from. Without `strip` not even outer whitespace is taken from a text answer.
    """

    state: Any
    questions: Mapping[str, Question]
    system: str | None = None
    response_format: str | None = None
    max_tokens: int | None = None
    contract: Contract | None = None
    prefill: str | None = None
    strip: bool = True


@dataclass(frozen=True, slots=True)
class Ask:
    """One step of an arm. `truth` holds the right option per question for simulated models; it never reaches the wire.

    `presentation` is the member order of the bytes: "insertion" or "sorted". `matches` is another request whose rendered prompt must have
    as many tokens as this one's; a backend with a tokenizer counts both (`Answer.matched_tokens`).
    """

    step: int
    request: Request
    truth: Mapping[str, str] = field(default_factory=dict)
    presentation: str = "insertion"
    matches: Request | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer to one question. Probabilities are as reported; `confidence` is ours, (m - 1/n)/(1 - 1/n).

    `argmax` is the most probable option, the first in displayed order on a tie; `returned` is the service's own choice.
    Where a model wrote text, `text` is that text unstripped, `truncated` says that it met its token budget, and `mass` is the
    probability that a code readout gives to all legal codes together. `fault` says what is wrong with the form of a text
    answer: truncated, empty, other_code, extra_text or other_invalid; of fields in one JSON object: truncated, malformed, extra_key,
    missing_key or illegal_value. `bound` is the option whose code was written where its value was asked for; `tokens` are the new tokens
    of the text, special ones included.
    """

    returned: str
    offered: bool
    argmax: str | None = None
    probabilities: Mapping[str, float] | None = None
    reported_confidence: float | None = None
    confidence: float | None = None
    text: str | None = None
    truncated: bool = False
    mass: float | None = None
    fault: str | None = None
    bound: str | None = None
    tokens: int | None = None

    def taken(self, select: str = "returned") -> str:
        """What an arm goes on with: the returned choice (the invalid marker if it was not offered), or the argmax.

        Formal construction scores the returned choice; readout and plan panels the argmax (appendix A.7).
        """
        if select == "argmax" and self.argmax is not None:
            return self.argmax
        return self.returned if self.offered else INVALID

    @property
    def disagrees(self) -> bool:
        """Whether the returned choice is not the argmax of the reported probabilities."""
        return self.argmax is not None and self.argmax != self.returned


@dataclass(frozen=True, slots=True)
class Usage:
    """What a response says of its own cost. Absent or zero is None: not reported, never free.

    `cached_tokens` and `cache_write_tokens` are parts of `input_tokens`; `cost_usd` is a price that the service itself names.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as every provider's is read. `matched_tokens` is the rendered length of the request that the ask's must match in length,
    beside `input_tokens`, which is its own. `response_id` and `system_fingerprint` are the provider's names for this response and for the
    configuration that made it; None where the response names none."""

    choices: Mapping[str, Choice]
    model: str | None = None
    usage: Usage = Usage()
    matched_tokens: int | None = None
    response_id: str | None = None
    system_fingerprint: str | None = None

    @property
    def input_tokens(self) -> int | None:
        return self.usage.input_tokens

    @property
    def output_tokens(self) -> int | None:
        return self.usage.output_tokens

    def choice(self, question: str = "answer") -> Choice:
        return self.choices[question]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one arm of a finished parent leaves behind.

    `status` is "ok" or "undefined"; an undefined outcome has a `reason` and no scores. `correct` is task correctness,
    `fidelity` agreement with a supplied plan, `kind` output compliance: three endpoints that are never mixed.
    `first_wrong` is a one-based position, `min_confidence` the smallest top probability among the answers used. `replicate` and `turn`
    are those of the slots whose answers it is made from.
    """

    arm: str
    replicate: int = 0
    status: Literal["ok", "undefined"] = "ok"
    output: str | None = None
    correct: bool | None = None
    fidelity: bool | None = None
    kind: str | None = None
    first_wrong: int | None = None
    min_confidence: float | None = None
    reason: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    turn: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """(arm, replicate, turn): which instance of an arm it belongs to."""
        return (self.arm, self.replicate, self.turn)
