"""Fields from a model that writes text: one JSON object, exact values, nothing repaired (appendix E.4)."""

from __future__ import annotations

import json
from dataclasses import replace

import orjson
import pytest
from support.panels import SETTINGS

from c2s.controllers.program import ParentProgram
from c2s.dialects.chat import Chat
from c2s.panels.dialogue.states import ACCESS, CONSTRUCTION
from c2s.presentation.texts import contracts
from c2s.records import Answer
from c2s.settings import Inputs
from c2s.sources.dialogues import DIALOGUES

WIRE = Chat(thinking=False)
BOATS = next(parent for parent in DIALOGUES.parents(SETTINGS, Inputs()) if parent.payload["service"] == "Boats_1")
GOLD = BOATS.payload["gold"][0]


def response(text: str, finish: str = "stop") -> bytes:
    body = {
        "model": "m",
        "choices": [{"message": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 70, "completion_tokens": 9},
    }
    return orjson.dumps(body)


def first_joint() -> tuple:
    program = ParentProgram("dialogue-construction", CONSTRUCTION.arms, BOATS, SETTINGS)
    slot, ask = next((s, a) for s, a in program.start() if s.arm == "joint" and s.turn == 1)
    return program, slot, ask


def outcome(text: str, finish: str = "stop"):
    program, slot, ask = first_joint()
    program.receive(slot, WIRE.decode(ask, response(text, finish)))
    return next(o for o in program.outcomes if (o.arm, o.turn) == ("joint", 1))


def test_the_request_is_one_user_message_with_the_printed_keys():
    _, _, ask = first_joint()
    body = json.loads(WIRE.encode(ask, "m"))
    assert body["max_tokens"] == 256 and body["temperature"] == 0 and body["chat_template_kwargs"] == {"enable_thinking": False}
    (message,) = body["messages"]
    user = json.loads(message["content"])
    assert message["role"] == "user" and list(user) == ["state", "field_queries", "response_format"]
    assert user["response_format"] == contracts()["dialogue"]["response_format"]
    assert list(user["field_queries"]) == [f["name"] for f in BOATS.payload["fields"]]
    assert user["field_queries"]["boat_kind"]["allowed_values"] == ["UNSET", "DONTCARE", "Rowing boat", "Sailing boat", "Pedal boat"]
    assert user["field_queries"]["active_intent"]["allowed_values"] == ["NONE", "FindBoat", "ReserveBoat"]
    assert json.loads(user["state"])["dialogue_history"][0]["speaker"] == "USER"


def test_a_field_asked_alone_has_the_same_contract():
    program = ParentProgram("dialogue-construction", CONSTRUCTION.arms, BOATS, SETTINGS)
    _slot, ask = next((s, a) for s, a in program.start() if s.arm == "independent")
    user = json.loads(json.loads(WIRE.encode(ask, "m"))["messages"][0]["content"])
    assert list(user["field_queries"]) == list(ask.request.questions) and len(ask.request.questions) == 1
    assert json.loads(WIRE.encode(ask, "m"))["max_tokens"] == 256


def test_the_right_object_is_right_with_its_tokens():
    for text in (json.dumps(GOLD), f"\n {json.dumps(GOLD, indent=2)} \n", json.dumps(dict(reversed(GOLD.items())))):
        found = outcome(text)
        record = found.detail["turns"][0]
        assert found.correct and found.kind == "strict_correct" and json.loads(found.output) == GOLD
        assert (record["input_tokens"], record["output_tokens"], record["valid_calls"]) == (70, 9, 1)
    assert outcome(json.dumps(GOLD | {"active_intent": "NONE"})).kind == "format_valid_wrong"


FAULTS = {
    "fenced": (f"```json\n{json.dumps(GOLD)}\n```", "stop", "malformed"),
    "two objects": (json.dumps(GOLD) * 2, "stop", "malformed"),
    "a list": (json.dumps([GOLD]), "stop", "malformed"),
    "twice the same key": ('{"boat_kind": "UNSET", ' + json.dumps(GOLD)[1:], "stop", "malformed"),
    "nothing": ("", "stop", "malformed"),
    "a lone surrogate": ('{"a": "\\ud800"}', "stop", "malformed"),
    "an extra key": (json.dumps(GOLD | {"colour": "red"}), "stop", "extra_key"),
    "a missing key": (json.dumps({k: v for k, v in GOLD.items() if k != "boat_kind"}), "stop", "missing_key"),
    "an id": (json.dumps(GOLD | {"boat_kind": "v2"}), "stop", "illegal_value"),
    "another case": (json.dumps(GOLD | {"boat_kind": "unset"}), "stop", "illegal_value"),
    "null": (json.dumps(GOLD | {"boat_kind": None}), "stop", "illegal_value"),
    "a number": (json.dumps(GOLD | {"passengers": 2}), "stop", "illegal_value"),
    "a list of values": (json.dumps(GOLD | {"passengers": ["2"]}), "stop", "illegal_value"),
    "cut but whole": (json.dumps(GOLD), "length", "truncated"),
    "cut": (json.dumps(GOLD)[:-9], "length", "truncated"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_other_text_fails_as_what_it_is(name: str):
    text, finish, kind = FAULTS[name]
    found = outcome(text, finish)
    record = found.detail["turns"][0]
    assert not found.correct and found.kind == kind and record["valid_calls"] == 0
    spoiled = 1 if kind == "illegal_value" else 4  # an illegal value spoils its own field, a broken object all
    assert list(record["state"].values()).count("_") == spoiled and sum(record["right"]) == 4 - spoiled


def test_a_broken_object_stays_in_rollouts_state_as_invalid_fields():
    program = ParentProgram("dialogue-access", ACCESS.arms, BOATS, SETTINGS)
    ((slot, ask),) = [(s, a) for s, a in program.start() if s.arm == "rollout"]
    ((_, second),) = program.receive(slot, WIRE.decode(ask, response("I cannot say")))
    assert json.loads(second.request.state)["previous_state"] == dict.fromkeys(GOLD, "_")


def test_ids_and_values_read_alike_for_a_writer():
    for naming in ("ids", "values"):
        program = ParentProgram("dialogue-construction", CONSTRUCTION.arms, BOATS, replace(SETTINGS, field_options=naming))
        slot, ask = next((s, a) for s, a in program.start() if s.arm == "joint")
        answer: Answer = WIRE.decode(ask, response(json.dumps(GOLD)))
        program.receive(slot, answer)
        assert next(o for o in program.outcomes if o.arm == "joint").correct
