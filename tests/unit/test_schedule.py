"""Schedules: the judge study's interleaving, rounds by position, and the plan's own order."""

from __future__ import annotations

import hashlib

import pytest
from support.panels import Listed
from support.runs import drive, make_run, rows

from c2s.backends.scripted import Scripted
from c2s.controllers.program import Arm
from c2s.errors import UsageError
from c2s.panels.base import Panel
from c2s.records import Ask, Outcome, Parent, Question, Request, Slot
from c2s.runner.schedule import interleaving, request_id, slot_key


def test_interleaving_is_sha256_of_compact_json():
    text = b'[20261007154,"interleave","drop:1/random_colon/sorted"]'
    assert interleaving(20261007154, "drop:1/random_colon/sorted") == hashlib.sha256(text).hexdigest()
    assert interleaving(1, "é×") == hashlib.sha256('[1,"interleave","é×"]'.encode()).hexdigest()


def test_request_ids_are_distinct_for_repeats():
    assert request_id(Slot("p", "a", "x", 0, 1)) == "p/a/x/1"
    assert request_id(Slot("p", "a", "x", 1, 1)) == "p/a/x/1/repeat1"


def test_keys_order_by_parent_by_round_and_by_hash():
    slots = [(n, Slot("p", f"q{n}", "x", 0, step)) for n in (1, 2, 3) for step in (1, 2)]
    by_parent = sorted(slots, key=lambda s: slot_key("parent", 0, *s))
    by_round = sorted(slots, key=lambda s: slot_key("round", 0, *s))
    by_seeded_round = sorted(slots, key=lambda s: slot_key("round:5", 0, *s))
    by_hash = sorted(slots, key=lambda s: slot_key("hash:5", 0, *s))
    assert [n for n, _ in by_parent] == [1, 1, 2, 2, 3, 3]
    assert [(s.step, n) for n, s in by_round] == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert by_seeded_round == sorted(slots, key=lambda s: (s[1].step, interleaving(5, request_id(s[1])))) != by_round
    assert by_hash == sorted(slots, key=lambda s: interleaving(5, request_id(s[1])))
    assert slot_key("hash:5", 0, *slots[0]) < slot_key("hash:5", 1, *slots[0])  # panels follow one another


def test_an_unknown_schedule_is_named():
    with pytest.raises(UsageError, match="unknown schedule 'random'; known: parent, round, round:SEED, hash:SEED"):
        slot_key("random", 0, 1, Slot("p", "a", "x", 0, 1))


def panel(schedule: str, steps: int = 2, replicates: int = 2) -> Panel:
    def program(parent, ctx):
        output = ""
        for step in range(1, steps + 1):
            (answer,) = yield [
                Ask(step, Request(f"{parent.id} {step}", {"answer": Question("q", {"a": None, "b": None})}), truth={"answer": "a"})
            ]
            output += answer.choice().taken()
        return Outcome("", output=output, correct=True)

    arms = tuple(Arm(name, program, lambda p: tuple(range(1, steps + 1)), replicates=replicates) for name in ("x", "y"))
    made = [Parent(f"p{n:02}", "math", 1, {"target": "a", "candidates": ["a"]}) for n in range(20)]
    return Panel("toy", "toy", arms, Listed(made), schedule=schedule)


def order_of(schedule: str, path) -> list[Slot]:
    asked = []

    def answer(call):
        asked.append(call.slot)
        return "a"

    toy = panel(schedule)
    backend = Scripted("script:test", answer, uses_truth=True, max_batch=1)
    run = make_run(path, backend, panels=(toy,), settings={"domain": None, "limit": None})
    assert drive(run, backend, panels=(toy,), report=False).finished
    return asked


@pytest.mark.parametrize("schedule", ["parent", "round", "round:20261010", "hash:20261007154"])
def test_a_run_sends_in_the_order_of_its_schedule(schedule, tmp_path):
    """Each request leaves when it is the first by key of those that may leave: later steps wait for their answers."""
    asked = order_of(schedule, tmp_path / "run")
    assert len(asked) == len(set(asked)) == 160
    keys = [slot_key(schedule, 0, int(slot.parent[1:]) + 1, slot) for slot in asked]
    first_steps = [key for key, slot in zip(keys, asked, strict=True) if slot.step == 1]
    assert first_steps == sorted(first_steps)
    if schedule.startswith("round"):
        assert keys == sorted(keys)
    if schedule.startswith("hash"):
        everything = sorted(keys)
        released = set()
        for key in keys:  # nothing that was free to go was passed over
            free = [k for k in everything if k not in released]
            earlier = [s for s in asked if s.step == 1 and slot_key(schedule, 0, 0, s) == free[0]]
            assert key == free[0] or not earlier
            released.add(key)
        assert len({slot.parent for slot in asked[:40]}) > 10  # mixed, not parent by parent


def test_a_duplicate_may_run_first_and_stays_the_duplicate(tmp_path):
    """CASES.md 4: two calls, two records; the primary is the planned replicate 0 whatever left first."""
    toy = panel("hash:3")
    backend = Scripted("script:test", lambda call: "a" if call.slot.replicate == 0 else "b", max_batch=1)
    run = make_run(tmp_path / "run", backend, panels=(toy,), settings={"domain": None, "limit": None})
    drive(run, backend, panels=(toy,), report=False)
    pairs = rows(
        run,
        "SELECT p.id, s.arm, min(CASE WHEN replicate = 0 THEN e.id END), min(CASE WHEN replicate = 1 THEN e.id END), count(DISTINCT "
        "e.body_sha256), count(*)"
        " FROM slots s JOIN exchanges e ON e.slot = s.id JOIN parents p ON p.id = s.parent WHERE s.step = 1 GROUP BY p.id, s.arm",
    )
    assert all(bodies == 1 and calls == 2 for *_, bodies, calls in pairs)
    assert any(repeat < primary for _, _, primary, repeat, _, _ in pairs)
    outputs = rows(run, "SELECT replicate, output FROM outcomes GROUP BY replicate, output")
    assert outputs == [(0, "aa"), (1, "bb")]
