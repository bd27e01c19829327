"""Full, union and trie controllers: what is offered, what is supplied, what ends early."""

from __future__ import annotations

import orjson
import pytest
from support.panels import SETTINGS, play, truth

from c2s.banks.natural import load_bank
from c2s.controllers.whole_and_local import ambiguous_steps, serial, supported, teacher_forced, whole
from c2s.records import INVALID, Parent

# Two pairs per initial as in the bank: 58/38/48/68 then 5 or 9.
MATH = Parent(
    "m", "math", 3, {"target": "585", "problem": "39 × 15 = ?", "candidates": ["585", "589", "385", "389", "485", "489", "685", "689"]}
)
WORDS = Parent("w", "lexical", 3, {"target": "cat", "problem": "?", "candidates": ["cat", "cot", "dog", "dig", "hen", "hat", "pig", "pit"]})

ARMS = {
    "full": serial("full"),
    "union_call": serial("union_call", support="union"),
    "union_fill": serial("union_fill", support="union", fill="union"),
    "trie_call": serial("trie_call", support="trie"),
    "trie_fill": serial("trie_fill", support="trie", fill="trie"),
    "full_fill": serial("full_fill", fill="union"),
}


def options_by_step(parent: Parent, name: str, say=truth) -> tuple[dict[int, str], object]:
    outcomes, asked = play(parent, [ARMS[name]], say)
    return {slot.step: "".join(sorted(ask.request.questions["answer"].options)) for slot, ask in asked}, outcomes[name]


@pytest.mark.parametrize(
    ("name", "math", "lexical"),
    [
        ("full", {1: "0123456789", 2: "0123456789", 3: "0123456789"}, None),
        ("union_call", {1: "3456", 2: "8", 3: "59"}, {1: "cdhp", 2: "aeio", 3: "gnt"}),
        ("union_fill", {1: "3456", 3: "59"}, {1: "cdhp", 2: "aeio", 3: "gnt"}),
        ("trie_call", {1: "3456", 2: "8", 3: "59"}, {1: "cdhp", 2: "ao", 3: "t"}),
        ("trie_fill", {1: "3456", 3: "59"}, {1: "cdhp", 2: "ao"}),
        ("full_fill", {1: "0123456789", 3: "0123456789"}, None),
    ],
)
def test_every_controller_offers_its_support_and_supplies_its_singletons(name, math, lexical):
    for parent, expected in ((MATH, math), (WORDS, lexical)):
        offered, outcome = options_by_step(parent, name)
        assert outcome.correct and outcome.output == parent.target and outcome.kind == "strict_correct"
        if expected is not None:
            assert offered == expected
        filled = [t for t in (1, 2, 3) if t not in offered]
        assert outcome.detail.get("filled", []) == filled
        assert outcome.detail["p"] == [None, None, None]  # nothing was reported, and a supplied position has none anyway


def test_filters_keep_the_order_of_the_full_list():
    shown = {}
    for name in ("full", "union_call", "trie_call"):
        _, asked = play(WORDS, [ARMS[name]], truth)
        shown[name] = [list(ask.request.questions["answer"].options) for _, ask in asked]
    for name in ("union_call", "trie_call"):
        for full, kept in zip(shown["full"], shown[name], strict=True):
            assert kept == [c for c in full if c in kept]


def test_a_union_can_leave_the_candidates_and_a_trie_cannot():
    say = {1: "p", 2: "o", 3: "t"}
    outcomes, _ = play(WORDS, [ARMS["union_call"]], lambda slot, ask: say[slot.step])
    assert outcomes["union_call"].output == "pot" and outcomes["union_call"].kind == "format_valid_wrong"
    outcomes, _asked = play(WORDS, [ARMS["trie_fill"]], lambda slot, ask: next(iter(ask.request.questions["answer"].options)))
    assert outcomes["trie_fill"].output in WORDS.candidates


def test_an_answer_that_was_not_offered_becomes_the_marker_and_ends_a_trie():
    outcomes, asked = play(WORDS, [ARMS["trie_call"]], lambda slot, ask: "z" if slot.step == 2 else dict(ask.truth))
    outcome = outcomes["trie_call"]
    assert outcome.output == "c" + INVALID and outcome.detail["aborted"] == 3 and [slot.step for slot, _ in asked] == [1, 2]
    assert outcome.kind == "other_invalid" and outcome.correct is False and outcome.first_wrong == 2
    outcomes, asked = play(WORDS, [ARMS["full"]], lambda slot, ask: "?" if slot.step == 2 else dict(ask.truth))
    assert outcomes["full"].output == f"c{INVALID}t"
    assert [orjson.loads(ask.request.state)["current_prefix"] for _, ask in asked] == ["", "c", "c_"]


def test_askable_steps_are_exact():
    """Brute force: a step can be asked if and only if some prefix of candidates leaves more than one continuation."""
    for item in load_bank().split("test")[::7]:
        for fill in ("union", "trie"):
            expected = []
            for t in range(1, item.length + 1):
                prefixes = {c[: t - 1] for c in item.candidates} if fill == "trie" else {item.target[: t - 1]}
                if any(len(supported(item.candidates, p, fill, tuple("0123456789abcdefghijklmnopqrstuvwxyz"))) > 1 for p in prefixes):
                    expected.append(t)
            parent = Parent(item.id, item.domain, item.length, {"target": item.target, "candidates": list(item.candidates)})
            assert list(ambiguous_steps(fill)(parent)) == expected


def test_first_steps_of_serial_and_teacher_forced_have_the_same_bytes_and_later_ones_differ_in_the_prefix():
    def wrong(slot, ask):
        return "1" if slot.arm == "serial" else dict(ask.truth)

    _, asked = play(MATH, [serial(), teacher_forced()], wrong)
    states = {(slot.arm, slot.step): orjson.loads(ask.request.state) for slot, ask in asked}
    assert states["serial", 1] == states["teacher_forced", 1]
    assert states["serial", 3]["current_prefix"] == "11" and states["teacher_forced", 3]["current_prefix"] == "58"


def test_orders_and_templates_change_only_what_they_name():
    arms = [whole(), whole("other_order", order=1), whole("v2", template="v2")]
    _, asked = play(MATH, arms, truth)
    questions = {slot.arm: ask.request.questions["answer"] for slot, ask in asked}
    assert len({ask.request.state for _, ask in asked}) == 1
    assert list(questions["native"].options) != list(questions["other_order"].options)
    assert set(questions["native"].options) == set(questions["other_order"].options)
    assert list(questions["native"].options) == list(questions["v2"].options)
    assert questions["native"].instructions == questions["other_order"].instructions != questions["v2"].instructions
    assert SETTINGS.template == "v1"
