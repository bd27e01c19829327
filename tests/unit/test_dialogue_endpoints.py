"""Endpoints of one dialogue, survival and components, against plain definitions."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from c2s.records import Outcome, Parent
from c2s.reports.data import Row
from c2s.reports.dialogue.construction import costs
from c2s.reports.dialogue.turns import ArmTurns, compared, components, per_dialogue, survival

turns = st.sampled_from([4, 6, 8]).flatmap(lambda n: st.lists(st.sampled_from([True, False]), min_size=n, max_size=n))


def record(turn: int, right: bool, fields: int = 2, tokens: int | None = 10) -> dict:
    return {
        "turn": turn, "state": {}, "right": [True] * (fields - 1) + [right], "kind": "", "calls": 1, "valid_calls": int(right),
        "input_tokens": tokens, "output_tokens": None, "p": [], "top": [],
    }  # fmt: skip


def row(arms: dict[str, list[bool | None]]) -> Row:
    """A dialogue with one instance per turn in every arm; None is an undefined turn."""
    length = len(next(iter(arms.values())))
    outcomes = {}
    for arm, marks in arms.items():
        for t, right in enumerate(marks):
            detail = {} if right is None else {"turns": [record(t + 1, right)]}
            outcomes[arm, t] = Outcome(arm, t, status="undefined" if right is None else "ok", detail=detail)
    return Row(Parent("d", "dialogue", length, {}), outcomes)


def read(rows: list[Row], arms: list[str]):
    found, dropped = compared(rows, arms)
    return {arm: per_dialogue(t, [r.parent.length for r in rows]) for arm, t in found.items()}, found, dropped


@given(st.lists(turns, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_endpoints_follow_their_definitions(dialogues: list[list[bool]]):
    found, _, dropped = read([row({"a": marks}) for marks in dialogues], ["a"])
    assert dropped == 0
    for d, marks in enumerate(dialogues):
        per = found["a"]
        assert per.mean_turn[d] == sum(marks) / len(marks) and per.final[d] == marks[-1] and per.trajectory[d] == all(marks)
        assert per.mean_field[d] == np.mean([1.0 if right else 0.5 for right in marks])
        assert per.valid[d] == sum(marks) / len(marks)
        if all(marks):
            assert per.survived[d] == len(marks) and math.isnan(per.any_recovery[d]) and math.isnan(per.final_recovery[d])
        else:
            first = marks.index(False)
            assert per.survived[d] == first and per.any_recovery[d] == any(marks[first:]) and per.final_recovery[d] == marks[-1]


@given(st.lists(turns, min_size=1, max_size=15))
@settings(max_examples=60, deadline=None)
def test_survival_is_the_product_limit(dialogues: list[list[bool]]):
    found, _, _ = read([row({"a": marks}) for marks in dialogues], ["a"])
    steps = survival(found["a"], [len(marks) for marks in dialogues])
    share = 1.0
    for step in steps:
        t = step["turn"]
        at_risk = [marks for marks in dialogues if len(marks) >= t and all(marks[: t - 1])]
        if at_risk:
            share *= sum(marks[t - 1] for marks in at_risk) / len(at_risk)
        assert step["at_risk"] == len(at_risk) and math.isclose(step["survival"], share, abs_tol=1e-15)
    if len({len(marks) for marks in dialogues}) == 1:  # nothing is cut off: the share itself
        assert math.isclose(steps[-1]["survival"], sum(map(all, dialogues)) / len(dialogues), abs_tol=1e-15)


def test_a_missing_turn_drops_from_all_arms_that_are_compared():
    rows = [row({"a": [True, None, True, True], "b": [False, True, True, True]}), row({"a": [True] * 4, "b": [True, True, True, None]})]
    found, turns_, dropped = read(rows, ["a", "b"])
    assert dropped == 2 and np.isnan(turns_["b"].right[0, 1]) and np.isnan(turns_["a"].right[1, 3])
    a, b = found["a"], found["b"]
    assert (a.mean_turn[0], b.mean_turn[0]) == (1, 2 / 3) and (a.final[0], b.final[0]) == (1, 1)
    assert all(math.isnan(x) for x in (a.trajectory[0], b.trajectory[0], a.survived[0], a.final[1], b.final[1], b.trajectory[1]))
    alone, _, dropped = read(rows, ["a"])
    assert dropped == 1 and alone["a"].trajectory[1] == 1 and alone["a"].final[1] == 1
    nothing, _, dropped = read([row({"a": [None] * 4})], ["a"])
    assert dropped == 4 and math.isnan(nothing["a"].mean_turn[0]) and math.isnan(nothing["a"].valid[0])


def test_tokens_are_summed_only_where_every_response_reports_them():
    reported = np.array([[10.0, 20.0], [30.0, np.nan]])
    right = np.array([[1.0, 0.0], [1.0, np.nan]])
    ones = np.where(np.isnan(right), np.nan, 1.0)
    found = costs(ArmTurns(right, right, 2 * ones, ones, reported, np.array([[1.0, np.nan], [1.0, np.nan]])))
    assert found["turns"] == 3 and found["calls"] == 6 and found["calls_per_turn"] == 2 and found["valid"] == 0.5
    assert found["input_tokens"] == 60 and found["input_tokens_per_turn"] == 20
    assert found["output_tokens"] is None and found["output_tokens_per_turn"] is None


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=15))
    )
)
@settings(max_examples=100, deadline=None)
def test_components_join_what_is_linked_and_nothing_else(case: tuple[int, list[tuple[int, int]]]):
    count, links = case
    numbers = components(links, count)
    near = {i: {i} for i in range(count)}
    for _ in range(count):
        for a, b in links:
            joined = near[a] | near[b]
            for i in joined:
                near[i] = joined
    assert all((numbers[i] == numbers[j]) == (j in near[i]) for i in range(count) for j in range(count))
    assert sorted(set(numbers)) == list(range(len(set(numbers)))) and numbers[0] == 0
