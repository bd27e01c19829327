"""Driving a program with answers that are known already."""

from __future__ import annotations

import itertools

from c2s.backends.simulated.decisions import uniform
from c2s.controllers.outcome import scored
from c2s.controllers.program import Arm, ArmGenerator, Context, ParentProgram
from c2s.controllers.replay import Reply, drive
from c2s.records import Answer, Ask, Choice, Parent, Question, Request, Slot
from c2s.runner.schedule import request_id, slot_key
from c2s.settings import Settings

PARENT = Parent("p", "math", 3, {"target": "abc", "candidates": ["abc"]})


def letters(parent: Parent, ctx: Context) -> ArmGenerator:
    """Asks for a letter at a time."""
    prefix = ""
    for step, letter in enumerate(parent.target, start=1):
        (answer,) = yield [Ask(step, Request(prefix, {"answer": Question("Next.", {letter: None, "x": None})}), {"answer": letter})]
        prefix += answer.choice().taken()
    return scored(parent, prefix, [None] * len(prefix))


def program(replicates: int = 1) -> ParentProgram:
    return ParentProgram("test", (Arm("letters", letters, lambda p: (1, 2, 3), replicates=replicates),), PARENT, Settings())


def right(slot: Slot, ask: Ask) -> Reply:
    return Reply(Answer({"answer": Choice(ask.truth["answer"], offered=True)}))


def test_every_answer_known_closes_the_program():
    p = program()
    asked: list[int] = []

    def known(slot: Slot, ask: Ask) -> Reply:
        asked.append(slot.step)
        return right(slot, ask)

    assert drive(p, known) == [] and p.closed and asked == [1, 2, 3]
    (outcome,) = p.outcomes
    assert outcome.output == "abc" and outcome.correct


def test_what_is_not_known_stays_open_and_goes_on_later():
    p = program(replicates=2)
    first = drive(p, lambda slot, ask: right(slot, ask) if slot.step < 2 + slot.replicate else None)
    assert sorted((slot.replicate, slot.step) for slot, _ in first) == [(0, 2), (1, 3)] and not p.closed
    assert drive(p, right, first) == [] and p.closed
    again = program(replicates=2)
    drive(again, right)
    assert again.outcomes == p.outcomes, "when answers come changes nothing"


def test_a_slot_without_an_answer_gives_its_reason():
    p = program()
    drive(p, lambda slot, ask: Reply.failed("error", "no luck") if slot.step == 2 else right(slot, ask))
    (outcome,) = p.outcomes
    assert (outcome.status, outcome.reason) == ("undefined", "step 2: error: no luck")
    assert p.skipped == {Slot("test", "p", "letters", 0, 3): "blocked"}


def test_instances_of_an_arm_are_keyed_apart():
    """What schedules and draws are keyed by: a turn counts where a replicate would, so that neither moves an order or a draw."""
    repeat, turn = Slot("p", "q", "a", 2, 1), Slot("p", "q", "a", 0, 1, 3)
    assert repeat.key == turn.key == ("p", "q", "a", 2, 1) and repeat.instance == turn.instance == 2
    assert repeat.outcome_key == ("a", 2, 0) and turn.outcome_key == ("a", 0, 3)
    assert (str(repeat), str(turn)) == ("p/q/a replicate 2 step 1", "p/q/a turn 3 step 1")
    values = {  # computed by commit eaca22a, where turn 3 was replicate 2
        Slot("dialogue-access", "d1", "oracle", 0, 1, 1): ("", "b5d8da18f0d5aba4", 0.728277135764955),
        Slot("dialogue-access", "d1", "oracle", 0, 1, 3): ("/repeat2", "89a0421b441626cd", 0.2840903354561318),
        Slot("repeats", "p1", "serial", 2, 3): ("/repeat2", "58b499783632577b", 0.24119290927855042),
    }
    for slot, (suffix, order, draw) in values.items():
        assert request_id(slot) == f"{slot.panel}/{slot.parent}/{slot.arm}/{slot.step}{suffix}"
        assert slot_key("hash:7", 1, 4, slot)[1].startswith(order) and slot_key("round:7", 1, 4, slot)[2].startswith(order)
        assert uniform(11, *slot.key, "answer", "what") == draw
    slots = [Slot("p", "q", "a", r, 1, t) for r, t in itertools.product((0, 1), (0, 1, 2))]
    assert len({slot.outcome_key for slot in slots}) == 6
