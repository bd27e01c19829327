"""Simulated models: their truths, and that nothing but the slot decides an answer."""

from __future__ import annotations

import json
import random

import orjson
import pytest

from c2s.backends.base import Call
from c2s.backends.registry import open_model
from c2s.backends.simulated.decisions import JOINT, uniform
from c2s.dialects.systemone import SystemOne
from c2s.errors import UsageError
from c2s.records import Ask, Parent, Question, Request, Slot
from tests.support.shared import shared_file

OPTIONS = dict.fromkeys("abcdefgh")


def call(arm: str, parent: str, step: int, *, unit: str = "character", domain: str = "math", options=OPTIONS, length: int = 4) -> Call:
    ask = Ask(step, Request("s", {"answer": Question("?", options, unit=unit)}), truth={"answer": "c"})
    return Call(Slot("main", parent, arm, 0, step), Parent(parent, domain, length, {}), ask, b"")


def answers(model: str, calls: list[Call]) -> list[str]:
    backend = open_model(model)
    return [orjson.loads(e.raw)["answers"]["answer"]["choice"] for e in backend.call(calls)]


def share(values: list[str]) -> float:
    return sum(v == "c" for v in values) / len(values)


LOCAL = [call("serial", f"p{i}", 1 + i % 4) for i in range(4000)]
WHOLE = [call("native", f"p{i}", 1, unit="whole") for i in range(4000)]
ALONE = [call("candidates_only", f"p{i}", 1, unit="whole") for i in range(4000)]


def test_oracle_random_and_positions_have_their_declared_rates():
    assert share(answers("sim:oracle", LOCAL)) == 1
    assert abs(share(answers("sim:random", LOCAL)) - 1 / 8) < 0.026  # five standard errors
    model = "sim:positions?p=0.7&native=0.9"
    for calls, rate in ((LOCAL, 0.7), (WHOLE, 0.9), (ALONE, 1 / 8)):
        assert abs(share(answers(model, calls)) - rate) < 0.037


def test_answers_do_not_depend_on_order_or_batch():
    calls = LOCAL[:500]
    expected = dict(zip((c.slot for c in calls), answers("sim:positions?p=0.5", calls), strict=True))
    shuffled = random.Random(1).sample(calls, len(calls))
    assert dict(zip((c.slot for c in shuffled), answers("sim:positions?p=0.5", shuffled), strict=True)) == expected
    assert {c.slot: answers("sim:positions?p=0.5", [c])[0] for c in calls[:50]} == {c.slot: expected[c.slot] for c in calls[:50]}


def test_seed_and_slot_change_answers():
    a, b = answers("sim:random", LOCAL), answers("sim:random?seed=1", LOCAL)
    assert a != b and 0.05 < sum(x == y for x, y in zip(a, b, strict=True)) / len(a) < 0.2
    assert uniform(0, "a", 1) != uniform(0, "a", 2) != uniform(1, "a", 2)


def test_a_truth_that_is_not_offered_gives_any_option():
    options = dict.fromkeys("xyz")
    values = answers("sim:oracle", [call("trie", f"p{i}", 1, options=options) for i in range(300)])
    assert set(values) == set("xyz")


def test_published_rates_are_those_of_table_1():
    for row in json.loads(shared_file("spec/published.json").read_text())["choice2seq"]["table1_joint"]["rows"]:
        assert JOINT[row["model"]][row["domain"]] == tuple(row["joint"])


def test_published_draws_the_joint_cell_once_per_parent():
    n = 3000
    native = answers("sim:published?model=jev", [call("native", f"p{i}", 1, unit="whole") for i in range(n)])
    steps = [answers("sim:published?model=jev", [call("serial", f"p{i}", t) for i in range(n)]) for t in (1, 2, 3, 4)]
    serial = [all(s[i] == "c" for s in steps) for i in range(n)]
    assert all(sum(s[i] != "c" for s in steps) <= 1 for i in range(n))
    both, lost, gained, neither = (x / 384 for x in JOINT["jev"]["math"])
    found = [(a == "c", b) for a, b in zip(native, serial, strict=True)]
    for cell, rate in {(True, True): both, (True, False): lost, (False, True): gained, (False, False): neither}.items():
        assert abs(found.count(cell) / n - rate) < 0.045


def test_reported_probabilities_read_back():
    calls = LOCAL[:20]
    for c, exchange in zip(calls, open_model("sim:positions?p=0.7").call(calls), strict=True):
        choice = SystemOne().decode(c.ask, exchange.raw).choice()
        assert sum(choice.probabilities.values()) == pytest.approx(1) and choice.argmax == choice.returned


@pytest.mark.parametrize("name", ["sim:oracle?delay_ms=-1", "sim:oracle?delay_ms=x", "sim:oracle?", "sim:oracle?a", "sim:", "systemone:"])
def test_bad_names_are_refused(name):
    if name == "sim:oracle?":
        assert open_model(name).model == "sim:oracle"
        return
    with pytest.raises(UsageError):
        open_model(name)
