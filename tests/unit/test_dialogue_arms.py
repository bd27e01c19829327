"""Dialogue arms by hand: what each request shows, how answers become states, and what an error spoils."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from support.panels import SETTINGS
from support.shared import ROOT

from c2s.banks.dialogue import load_dialogues
from c2s.controllers.dialogue_requests import IDS, PARAPHRASE, PERMUTED, VALUES, View
from c2s.controllers.program import ParentProgram
from c2s.dialects.chat import Chat
from c2s.dialects.systemone import SystemOne
from c2s.panels.dialogue.states import ACCESS, CONSTRUCTION
from c2s.panels.registry import panel
from c2s.records import INVALID, Answer, Choice, Parent, Slot
from c2s.settings import Inputs
from c2s.sources.dialogues import DIALOGUES

PARENTS = DIALOGUES.parents(SETTINGS, Inputs())
PERTURBED = next(parent for parent in PARENTS if parent.payload["permuted"])
BOATS = next(parent for parent in PARENTS if parent.payload["service"] == "Boats_1")


def play(panel, parent: Parent, say, settings=SETTINGS):
    """Program and everything asked, with say(slot, ask) -> {field: option}, or None for an error."""
    program = ParentProgram(panel.name, panel.arms, parent, settings)
    asked, waiting = {}, program.start()
    while waiting:
        slot, ask = waiting.pop(0)
        asked[slot] = ask
        said = say(slot, ask)
        answer = None if said is None else Answer({n: Choice(o, o in ask.request.questions[n].options) for n, o in said.items()})
        waiting += program.receive(slot, answer, "error: scripted")
    assert program.closed
    return {(o.arm, o.turn): o for o in program.outcomes}, asked, program


def truth(slot, ask):
    return ask.truth


def test_request_counts_follow_from_turns_and_fields():
    turns = sum(p.length for p in PARENTS)
    fields = sum(p.length * len(p.payload["fields"]) for p in PARENTS)
    assert (turns, fields) == (108, 324)
    assert sum(len(CONSTRUCTION.slots(p)) for p in PARENTS) == turns + 2 * fields
    perturbed = sum(p.length * ((p.payload["paraphrase"] is not None) + (p.payload["permuted"] is not None)) for p in PARENTS)
    assert sum(len(ACCESS.slots(p)) for p in PARENTS) == 3 * turns + 2 * perturbed == 432


def test_every_construction_request_shows_the_same_history_and_schema():
    _, asked, _ = play(CONSTRUCTION, BOATS, truth)
    by_turn: dict[int, set[str]] = {}
    for slot, ask in asked.items():
        state = json.loads(ask.request.state)
        assert set(state) == {"dialogue_history", "schema"} | ({"partial_current_state"} if slot.arm == "serial" else set())
        by_turn.setdefault(slot.turn, set()).add(json.dumps([state["dialogue_history"], state["schema"]]))
        names = list(ask.request.questions)
        assert names == (
            [f["name"] for f in BOATS.payload["fields"]] if slot.arm == "joint" else [BOATS.payload["fields"][slot.step - 1]["name"]]
        )
    assert {len(texts) for texts in by_turn.values()} == {1} and len(by_turn) == BOATS.length
    history = json.loads(asked[Slot("dialogue-construction", BOATS.id, "joint", 0, 1, 3)].request.state)["dialogue_history"]
    assert [entry["speaker"] for entry in history] == ["USER", "SYSTEM", "USER", "SYSTEM", "USER"]
    assert history[-1]["utterance"] == BOATS.payload["turns"][2]["user"]


def test_a_field_question_is_the_printed_contract():
    _, asked, _ = play(CONSTRUCTION, BOATS, truth)
    joint = asked[Slot("dialogue-construction", BOATS.id, "joint", 0, 1, 1)].request.questions
    independent = asked[Slot("dialogue-construction", BOATS.id, "independent", 0, list(joint).index("boat_kind") + 1, 1)].request.questions
    question = joint["boat_kind"]
    assert independent == {"boat_kind": question} and question.unit == "field"
    assert question.instructions.startswith("Determine the current service state after the latest USER turn.")
    assert question.instructions.endswith("Return each requested field. Field: boat_kind. Kind of boat")
    assert dict(question.options) == {"v0": "UNSET", "v1": "DONTCARE", "v2": "Rowing boat", "v3": "Sailing boat", "v4": "Pedal boat"}
    assert joint["active_intent"].options["v1"] == "FindBoat: Look for a boat"


def test_serial_sees_its_own_earlier_fields_of_this_turn_alone():
    def wrong(slot, ask):
        return {name: list(q.options)[-1] for name, q in ask.request.questions.items()}

    outcomes, asked, _ = play(CONSTRUCTION, BOATS, wrong)
    fields = [f["name"] for f in BOATS.payload["fields"]]
    last = {f["name"]: f["options"][-1]["value"] for f in BOATS.payload["fields"]}
    for turn in range(BOATS.length):
        for step in range(1, len(fields) + 1):
            state = json.loads(asked[Slot("dialogue-construction", BOATS.id, "serial", 0, step, turn + 1)].request.state)
            assert state["partial_current_state"] == {name: last[name] for name in fields[: step - 1]}
    assert json.loads(outcomes["serial", 1].output) == last
    record = outcomes["serial", 1].detail["turns"][0]
    assert record["calls"] == record["valid_calls"] == 4 and record["turn"] == 1 and record["input_tokens"] is None


def test_names_of_options_are_ids_or_values():
    for naming in (IDS, VALUES):
        outcomes, asked, _ = play(CONSTRUCTION, BOATS, truth, replace(SETTINGS, field_options=naming))
        assert all(o.correct and o.kind == "strict_correct" and o.first_wrong is None for o in outcomes.values())
        options = asked[Slot("dialogue-construction", BOATS.id, "joint", 0, 1, 1)].request.questions["active_intent"].options
        assert options == (
            {"v0": "NONE", "v1": "FindBoat: Look for a boat", "v2": "ReserveBoat: Reserve a boat for a day"}
            if naming == IDS
            else {"NONE": None, "FindBoat": "Look for a boat", "ReserveBoat": "Reserve a boat for a day"}
        )


def test_access_shows_the_latest_exchange_and_the_right_previous_state():
    def first_only(slot, ask):
        """Right in the first turn, and that state ever after (where it is asked for the whole state)."""
        gold = View(BOATS.payload).gold(1)
        options = {f["name"]: {o["value"]: o["id"] for o in f["options"]} for f in BOATS.payload["fields"]}
        return {name: options[name][gold[name]] for name in ask.request.questions}

    outcomes, asked, _ = play(ACCESS, BOATS, first_only)
    view = View(BOATS.payload)
    for turn in range(1, BOATS.length + 1):
        oracle = json.loads(asked[Slot("dialogue-access", BOATS.id, "oracle", 0, 1, turn)].request.state)
        rollout = json.loads(asked[Slot("dialogue-access", BOATS.id, "rollout", 0, turn)].request.state)
        assert set(oracle) == set(rollout) == {"latest_exchange", "previous_state", "schema"}
        assert oracle["latest_exchange"] == rollout["latest_exchange"] == view.exchange(turn)
        assert len(view.exchange(turn)) == (1 if turn == 1 else 2)
        assert oracle["previous_state"] == (view.gold(turn - 1) if turn > 1 else view.initial())
        assert rollout["previous_state"] == (view.gold(1) if turn > 1 else view.initial())
    assert view.initial()["active_intent"] == "NONE" and outcomes["oracle", 1].correct
    assert outcomes["rollout", 0].first_wrong == 2 and not outcomes["rollout", 0].correct
    assert [record["state"] for record in outcomes["rollout", 0].detail["turns"]] == [dict(view.gold(1))] * BOATS.length


def test_an_answer_that_was_not_offered_becomes_the_invalid_marker_and_stays():
    def stray(slot, ask):
        return {name: "v99" if name == "boat_kind" else option for name, option in ask.truth.items()}

    outcomes, asked, _ = play(ACCESS, BOATS, stray)
    second = json.loads(asked[Slot("dialogue-access", BOATS.id, "rollout", 0, 2)].request.state)
    assert second["previous_state"]["boat_kind"] == INVALID
    assert second["previous_state"]["active_intent"] == BOATS.payload["gold"][0]["active_intent"]
    for outcome in outcomes.values():
        assert not outcome.correct and outcome.kind == "other_invalid"
        place = [f["name"] for f in BOATS.payload["fields"]].index("boat_kind")
        for record in outcome.detail["turns"]:
            assert record["right"] == [i != place for i in range(4)] and record["valid_calls"] == 0 and record["calls"] == 1


def test_perturbed_arms_change_what_they_should_and_nothing_else():
    _, asked, _ = play(ACCESS, PERTURBED, truth)
    plain = View(PERTURBED.payload)
    fields = [f["name"] for f in PERTURBED.payload["fields"]]
    for turn in range(PERTURBED.length):
        base = asked[Slot("dialogue-access", PERTURBED.id, "oracle", 0, 1, turn + 1)]
        reworded = asked[Slot("dialogue-access", PERTURBED.id, "oracle_paraphrase", 0, 1, turn + 1)]
        permuted = asked[Slot("dialogue-access", PERTURBED.id, "oracle_permuted", 0, 1, turn + 1)]
        states = [json.loads(ask.request.state) for ask in (base, reworded, permuted)]
        assert states[1] | {"latest_exchange": 0} == states[0] | {"latest_exchange": 0}
        assert states[1]["latest_exchange"][-1]["utterance"] == PERTURBED.payload["paraphrase"][turn]
        assert states[1]["latest_exchange"][:-1] == states[0]["latest_exchange"][:-1]
        assert states[2] | {"schema": 0} == states[0] | {"schema": 0}
        assert reworded.request.questions == base.request.questions and reworded.truth == base.truth == permuted.truth
        for name in fields:
            a, b = (dict(ask.request.questions[name].options) for ask in (base, permuted))
            assert a == b and list(a) != list(b) and list(b) == PERTURBED.payload["permuted"][name]
    assert plain.history(2) == View(PERTURBED.payload, PERMUTED).history(2) != View(PERTURBED.payload, PARAPHRASE).history(2)
    other = next(p for p in PARENTS if p.payload["paraphrase"] is None)
    assert {slot.arm for slot in play(ACCESS, other, truth)[1]} == {"history_recompute", "rollout", "oracle"}


def test_an_error_spoils_its_own_turn_alone_except_in_the_trajectory():
    def say(slot, ask):
        turn = slot.turn or slot.step
        return None if turn == 3 else ask.truth

    outcomes, _, program = play(ACCESS, BOATS, say)
    states = Counter((arm, o.status) for (arm, _), o in outcomes.items())
    assert states["oracle", "undefined"] == states["history_recompute", "undefined"] == 1
    assert states["oracle", "ok"] == BOATS.length - 1
    assert outcomes["rollout", 0].status == "undefined" and outcomes["rollout", 0].reason == "step 3: error: scripted"
    assert {slot.step for slot, state in program.skipped.items() if state == "blocked"} == set(range(4, BOATS.length + 1))
    assert {slot.arm for slot in program.skipped} == {"rollout"}


def test_parents_are_the_test_dialogues_in_their_order_and_are_checked():
    assert [p.id for p in DIALOGUES.parents(replace(SETTINGS, limit=5), Inputs())] == [p.id for p in PARENTS[:5]]
    assert len(PARENTS) == 18 and {p.domain for p in PARENTS} == {"dialogue"} and all(p.length == p.payload["user_turns"] for p in PARENTS)
    assert DIALOGUES.parents(replace(SETTINGS, domain="math"), Inputs()) == []
    assert DIALOGUES.check(PARENTS, SETTINGS) == []
    assert "not those of the shipped set" in DIALOGUES.check(PARENTS[1:], SETTINGS)[0]
    own = replace(SETTINGS, data={"dialogue": "x"})
    assert DIALOGUES.check(PARENTS, own) == []
    assert "order" in DIALOGUES.check(PARENTS[::-1], own)[0]
    broken = Parent(BOATS.id, "dialogue", BOATS.length, dict(BOATS.payload) | {"gold": []})
    assert any("not whole" in text for text in DIALOGUES.check([broken if p is BOATS else p for p in PARENTS], own))


@pytest.mark.parametrize("name", ["dialogue-construction", "dialogue-access"])
def test_the_panels_are_registered_and_read_dialogue_data(name: str):
    assert panel(name).data == "dialogue" and panel(name).domains == ("dialogue",)
    assert len(load_dialogues().rows) == 21


def test_the_documented_requests_are_what_is_sent():
    """docs/protocol.md prints golden requests of one dialogue's second turn."""
    text = (ROOT / "docs/protocol.md").read_text()
    parent = next(p for p in PARENTS if p.id == "synthetic-test-1_00029")
    construction, access = play(CONSTRUCTION, parent, truth)[1], play(ACCESS, parent, truth)[1]
    golden = [
        (construction[Slot(CONSTRUCTION.name, parent.id, "joint", 0, 1, 2)], SystemOne(), "jev"),
        (construction[Slot(CONSTRUCTION.name, parent.id, "serial", 0, 2, 2)], SystemOne(), "jev"),
        (access[Slot(ACCESS.name, parent.id, "oracle", 0, 1, 2)], SystemOne(), "jev"),
        (construction[Slot(CONSTRUCTION.name, parent.id, "joint", 0, 1, 2)], Chat(thinking=False), "MODEL"),
    ]
    for ask, wire, model in golden:
        assert f"\n    {wire.encode(ask, model).decode()}\n" in text
    history = access[Slot(ACCESS.name, parent.id, "history_recompute", 0, 1, 2)]
    assert SystemOne().encode(history, "jev") == SystemOne().encode(golden[0][0], "jev")
