"""ParentProgram: the one mechanism, driven by hand."""

from __future__ import annotations

import random
import sys

import pytest

from c2s.controllers.program import Arm, Context, ParentProgram
from c2s.errors import ArmError
from c2s.records import INVALID, Answer, Ask, Choice, Outcome, Parent, Question, Request, Slot
from c2s.settings import Settings

PARENT = Parent("p1", "math", 3, {"target": "585", "candidates": ["585", "589"]})


def ask(step: int, text: str = "") -> Ask:
    return Ask(step, Request(text, {"answer": Question("pick", {"a": None, "b": None})}), truth={"answer": "a"})


def said(value: str) -> Answer:
    return Answer({"answer": Choice(value, offered=value in "ab")})


def serial(parent, ctx):
    prefix = ""
    for t in (1, 2, 3):
        (answer,) = yield [ask(t, prefix)]
        prefix += answer.choice().taken()
    return Outcome("", output=prefix)


def independent(parent, ctx):
    answers = yield [ask(t) for t in (1, 2, 3)]
    return Outcome("", output="".join(a.choice().taken() for a in answers))


def native(parent, ctx):
    (answer,) = yield [ask(1)]
    return Outcome("", output=answer.choice().taken())


def copy(parent, ctx):
    plan = ctx.outcomes["native"].output
    (answer,) = yield [ask(1, plan)]
    return Outcome("", output=answer.choice().taken(), fidelity=answer.choice().taken() == plan)


def early_end(parent, ctx):
    yield [ask(1)]
    return Outcome("", output="")


def silent(parent, ctx):
    return Outcome("", output="done")
    yield


ONE, THREE = (lambda p: (1,)), (lambda p: (1, 2, 3))


def program(*arms: Arm) -> ParentProgram:
    return ParentProgram("test", arms, PARENT, Settings(seed=1))


def test_serial_sees_its_own_prefix_with_the_invalid_marker():
    p = program(Arm("serial", serial, THREE))
    states = []
    asks = p.start()
    for value in ("a", "zz", "b"):
        ((slot, one),) = asks
        states.append(one.request.state)
        asks = p.receive(slot, said(value))
    assert states == ["", "a", "a" + INVALID] and asks == []
    assert p.closed and p.outcomes == [Outcome("serial", output=f"a{INVALID}b")] and p.skipped == {}


def test_arms_do_not_wait_for_each_other_unless_they_need_one():
    p = program(Arm("native", native, ONE), Arm("copy", copy, ONE, needs=("native",)), Arm("serial", serial, THREE))
    first = {slot.arm: slot for slot, _ in p.start()}
    assert set(first) == {"native", "serial"}
    ((slot, one),) = p.receive(first["native"], said("b"))
    assert slot.arm == "copy" and one.request.state == "b"
    p.receive(slot, said("b"))
    assert [o.arm for o in p.outcomes] == ["native", "copy"] and p.outcomes[1].fidelity and not p.closed


def test_an_error_blocks_what_followed_and_what_needed_it_but_not_other_arms():
    p = program(Arm("native", native, ONE), Arm("copy", copy, ONE, needs=("native",)), Arm("serial", serial, THREE))
    slots = {slot.arm: slot for slot, _ in p.start()}
    assert p.receive(slots["native"], None, "error: 500") == []
    native_outcome, copy_outcome = p.outcomes
    assert native_outcome.status == "undefined" and native_outcome.reason == "step 1: error: 500" and native_outcome.correct is None
    assert copy_outcome.status == "undefined" and "needs native" in copy_outcome.reason
    p.receive(slots["serial"], None, "unknown: lost")
    assert p.closed
    assert p.skipped == {
        Slot("test", "p1", "copy", 0, 1): "blocked",
        Slot("test", "p1", "serial", 0, 2): "blocked",
        Slot("test", "p1", "serial", 0, 3): "blocked",
    }


def test_a_round_with_an_error_still_takes_its_other_answers_and_names_the_lowest_step():
    for order in ([1, 2, 3], [3, 2, 1], [2, 3, 1]):
        p = program(Arm("independent", independent, THREE))
        slots = {slot.step: slot for slot, _ in p.start()}
        for step in order:
            assert not p.closed
            p.receive(slots[step], None if step > 1 else said("a"), f"error {step}")
        assert p.closed and p.outcomes[0].reason == "step 2: error 2"


def test_steps_that_an_arm_did_not_need_are_not_blocked():
    p = program(Arm("stop", early_end, THREE))
    ((slot, _),) = p.start()
    p.receive(slot, said("a"))
    assert set(p.skipped.values()) == {"not_needed"} and len(p.skipped) == 2


def test_an_arm_without_requests_closes_and_releases_what_needs_it():
    p = program(Arm("after", copy, ONE, needs=("native",)), Arm("native", silent, lambda p: ()))
    ((slot, one),) = p.start()
    assert slot.arm == "after" and one.request.state == "done"


def test_replicates_are_slots_of_their_own_and_need_their_own():
    p = program(Arm("native", native, ONE, replicates=2), Arm("copy", copy, ONE, needs=("native",), replicates=2))
    slots = {slot.replicate: slot for slot, _ in p.start()}
    ((second, one),) = p.receive(slots[1], said("b"))
    assert second == Slot("test", "p1", "copy", 1, 1) and one.request.state == "b"


def test_answers_in_any_order_give_the_same_outcomes():
    def play(seed: int):
        rng = random.Random(seed)
        p = program(
            Arm("native", native, ONE), Arm("independent", independent, THREE), Arm("serial", serial, THREE),
            Arm("copy", copy, ONE, needs=("native",)),
        )  # fmt: skip
        open_asks = p.start()
        requests = {}
        while open_asks:
            slot, one = open_asks.pop(rng.randrange(len(open_asks)))
            requests[slot] = one
            open_asks += p.receive(slot, said("ab"[hash((slot.arm, slot.step)) % 2]))
        return p.outcomes, requests

    expected = play(0)
    assert all(play(seed) == expected for seed in range(1, 20))


def test_unexpected_answers_and_unplanned_asks_are_refused():
    p = program(Arm("native", native, ONE))
    ((slot, _),) = p.start()
    p.receive(slot, said("a"))
    with pytest.raises(RuntimeError, match="not expected"):
        p.receive(slot, said("a"))
    with pytest.raises(ArmError, match="asked for steps"):
        program(Arm("serial", independent, ONE)).start()


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (lambda: sys.exit(0), "failed: SystemExit: 0"),
        (lambda: 1 / 0, "failed: ZeroDivisionError: division by zero"),
        (lambda: int("x" * 2000), "failed: ValueError: invalid literal for int"),
    ],
)
def test_whatever_an_arm_raises_names_the_panel_the_parent_and_the_arm(fault, sentence):
    def later(parent, ctx):
        yield [ask(1)]
        fault()

    p = program(Arm("odd", later, ONE))
    ((slot, _),) = p.start()
    with pytest.raises(ArmError) as raised:
        p.receive(slot, said("a"))
    assert str(raised.value).startswith(f"panel {p.panel}, parent p1: the arm odd {sentence}") and len(str(raised.value)) < 400
    with pytest.raises(ArmError, match="parent p1: the arm odd failed"):
        program(Arm("odd", lambda parent, ctx: fault(), ONE)).start()


def test_ctrl_c_in_an_arm_stays_ctrl_c():
    def interrupted(parent, ctx):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program(Arm("odd", interrupted, ONE)).start()


def test_context_gives_the_seed():
    assert Context(Settings(seed=7)).seed == 7


def test_an_arm_without_turns_cannot_need_one_with_turns():
    turned = Arm("turned", native, ONE, turns=lambda parent: 2)
    one_by_one = Arm("copy", copy, ONE, needs=("turned",), turns=lambda parent: 2)
    whole = Arm("copy", copy, ONE, needs=("turned",))
    assert [slot.turn for slot, _ in program(turned, one_by_one).start()] == [1, 2]
    with pytest.raises(ArmError, match="parent p1: the arm copy needs turned, which has no outcome for it"):
        program(turned, whole).start()
