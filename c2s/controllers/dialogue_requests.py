"""What dialogue arms ask: states, typed questions, and how answers become states (section 6.2, appendix C, E.4).

A dialogue's payload is a row of `c2s.banks.dialogue`. A version is the original texts and displayed order, the paraphrased user turns,
or the permuted displayed order of values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from c2s.presentation.encode import canonical_state
from c2s.presentation.texts import contracts
from c2s.records import INVALID, Answer, Ask, Choice, Parent, Question, Request
from c2s.settings import Settings

ORIGINAL, PARAPHRASE, PERMUTED = "original", "paraphrase", "permuted"
IDS, VALUES = "ids", "values"
"""Names of options: stable value ids whose criteria describe the values (E.4), or the values themselves (StartLux, text models)."""

State = dict[str, str]


class OptionRow(TypedDict):
    """A legal value of a field."""

    id: str
    value: str
    description: str | None


class FieldRow(TypedDict):
    """A field of the state; its first option is the value before the first turn."""

    name: str
    description: str
    options: Sequence[OptionRow]


class TurnRow(TypedDict):
    """What was said in one exchange; the first has no system turn."""

    system: str | None
    user: str


class DialogueRow(TypedDict):
    """A dialogue's frozen item. `gold` has the state after each user turn; `permuted` the displayed order of each field's option ids."""

    service: str
    description: str
    fields: Sequence[FieldRow]
    turns: Sequence[TurnRow]
    gold: Sequence[State]
    paraphrase: Sequence[str] | None
    permuted: Mapping[str, Sequence[str]] | None


def dialogue(parent: Parent) -> DialogueRow:
    """The frozen dialogue of a parent."""
    return cast(DialogueRow, parent.payload)


@dataclass(frozen=True, slots=True)
class View:
    """One version of one dialogue, with the options named as a run wants them."""

    row: DialogueRow
    version: str = ORIGINAL
    naming: str = IDS

    @property
    def fields(self) -> list[str]:
        """Field names in the frozen order."""
        return [field["name"] for field in self.row["fields"]]

    def initial(self) -> State:
        """The state before the first turn: intent NONE, every slot UNSET; both stand first among their options."""
        return {field["name"]: field["options"][0]["value"] for field in self.row["fields"]}

    def gold(self, turn: int) -> State:
        """The state after user turn `turn` (from 1); before the first, the initial state."""
        return self.row["gold"][turn - 1] if turn else self.initial()

    def exchange(self, turn: int) -> list[dict[str, str]]:
        """What the system and then the user said in this turn; the first turn has the user alone."""
        spoken = self.row["turns"][turn - 1]
        paraphrase = self.row["paraphrase"]
        user = paraphrase[turn - 1] if self.version == PARAPHRASE and paraphrase is not None else spoken["user"]
        system = [] if spoken["system"] is None else [{"speaker": "SYSTEM", "utterance": spoken["system"]}]
        return [*system, {"speaker": "USER", "utterance": user}]

    def history(self, turn: int) -> list[dict[str, str]]:
        """Everything said up to and including user turn `turn`."""
        return [entry for t in range(1, turn + 1) for entry in self.exchange(t)]

    def schema(self) -> dict[str, Any]:
        """The service and its fields in the frozen order, values in displayed order."""
        fields = [
            {"name": f["name"], "description": f["description"], "values": [shown(o) for o in self.options(f)]} for f in self.row["fields"]
        ]
        return {"service": self.row["service"], "description": self.row["description"], "fields": fields}

    def options(self, field: FieldRow) -> Sequence[OptionRow]:
        """The field's values in displayed order."""
        permuted = self.row["permuted"]
        if self.version != PERMUTED or permuted is None:
            return field["options"]
        place = {name: i for i, name in enumerate(permuted[field["name"]])}
        return sorted(field["options"], key=lambda option: place[option["id"]])

    def ask(self, step: int, state: Mapping[str, Any], fields: Sequence[str], gold: Mapping[str, str]) -> Ask:
        """One request for some fields, in the frozen order; `schema` joins the state."""
        wanted = {field["name"]: field for field in self.row["fields"] if field["name"] in fields}
        questions = {name: self._question(field) for name, field in wanted.items()}
        truth = {name: self._name(next(o for o in field["options"] if o["value"] == gold[name])) for name, field in wanted.items()}
        return Ask(step, Request(canonical_state({**state, "schema": self.schema()}), questions), truth)

    def _question(self, field: FieldRow) -> Question:
        options = self.options(field)
        if self.naming == VALUES:
            return Question(_instructions(field), {option["value"]: option["description"] for option in options}, "field")
        values = {option["id"]: option["value"] for option in options}
        return Question(_instructions(field), {option["id"]: shown(option) for option in options}, "field", values=values)

    def _name(self, option: OptionRow) -> str:
        return option["value"] if self.naming == VALUES else option["id"]

    def values(self, answers: Sequence[Answer]) -> State:
        """The state in the answers to one turn, fields in the frozen order; the invalid marker where an answer was not legal."""
        choices = {name: choice for answer in answers for name, choice in answer.choices.items()}
        return {field["name"]: self._value(field, choices[field["name"]]) for field in self.row["fields"] if field["name"] in choices}

    def _value(self, field: FieldRow, choice: Choice) -> str:
        return next((o["value"] for o in field["options"] if self._name(o) == choice.taken()), INVALID)


def view(parent: Parent, settings: Settings, version: str = ORIGINAL) -> View:
    return View(dialogue(parent), version, settings.field_options)


def shown(option: OptionRow) -> str:
    """A value with its description in the schema, where it has one."""
    return option["value"] if option["description"] is None else f"{option['value']}: {option['description']}"


def _instructions(field: FieldRow) -> str:
    texts = contracts()["dialogue"]
    return f"{texts['field']} {texts['field_suffix'].format(field_name=field['name'], schema_description=field['description'])}"
