"""Arms that copy, read out, stop and are interrupted: what their requests hold and how their answers are scored."""

from __future__ import annotations

import orjson
import pytest
from support.panels import play, truth

from c2s.banks.interventions import SEED, derangement, prefix_intervention, readout_record, wrong_target
from c2s.banks.natural import load_bank
from c2s.controllers.copying import copy, copy_state, gold_copy, rebound, self_plan_spell
from c2s.controllers.prefix import intervention
from c2s.controllers.readout import identity, readout
from c2s.controllers.stopping import CATEGORIES, alphabet, categorise, stopping
from c2s.controllers.whole_and_local import whole
from c2s.presentation.encode import canonical_state
from c2s.presentation.names import named, opaque_name
from c2s.records import Parent

CANDIDATES = ["585", "589", "385", "389", "485", "489", "685", "689"]
PARENT = Parent(
    "m", "math", 3, {"target": "585", "problem": "39 × 15 = ?", "candidates": CANDIDATES, "wrong_target": "589", "binding_position": 2}
)


def state(ask) -> dict:
    return orjson.loads(ask.request.state)


def test_gold_copy_withholds_the_candidates_and_self_plan_spell_keeps_them():
    outcomes, asked = play(PARENT, [gold_copy()], truth)
    assert sorted(state(asked[0][1])) == ["copy_target", "current_prefix", "position", "problem", "target_length"]
    assert outcomes["gold_copy"].fidelity and outcomes["gold_copy"].correct
    planned = Parent("m", "math", 3, {**PARENT.payload, "plan": "589"})
    outcomes, asked = play(planned, [self_plan_spell()], truth)
    assert sorted(state(asked[0][1])) == ["candidates", "copy_target", "current_prefix", "position", "problem", "target_length"]
    assert state(asked[2][1])["copy_target"] == "589" and state(asked[2][1])["current_prefix"] == "58"
    assert outcomes["self_plan_spell"].fidelity is True and outcomes["self_plan_spell"].correct is False
    assert outcomes["self_plan_spell"].kind == "strict_correct"  # compliance is with what was asked: the plan


@pytest.mark.parametrize("prefix", [None, "", "5", "58"])
def test_padding_has_the_characters_and_bytes_of_the_index(prefix):
    for item in load_bank().split("test")[::25]:
        parent = Parent(item.id, item.domain, item.length, {"problem": "39 × 15 = ?"})
        indexed, padded = (canonical_state(copy_state(parent, item.target, e, prefix)) for e in ("indexed", "padded"))
        assert len(indexed) == len(padded) and len(indexed.encode()) == len(padded.encode())
        assert not set(orjson.loads(padded)["padding"]) & set("0123456789abcdefghijklmnopqrstuvwxyz")


def test_batch_asks_the_questions_of_independent_over_its_state():
    _, one_by_one = play(PARENT, [copy("i", "indexed", "independent")], truth)
    outcomes, bundled = play(PARENT, [copy("b", "indexed", "batch")], truth)
    ((_, ask),) = bundled
    assert list(ask.request.questions.values()) == [a.request.questions["answer"] for _, a in one_by_one]
    assert {ask.request.state} == {a.request.state for _, a in one_by_one}
    assert outcomes["b"].output == "585" and outcomes["b"].fidelity
    _, serial = play(PARENT, [copy("s", "indexed", "serial")], truth)
    for (_, a), (_, b) in zip(one_by_one, serial, strict=True):
        assert a.request.questions == b.request.questions
        assert {k: v for k, v in state(b).items() if k != "current_prefix"} == state(a)


def test_a_wrong_target_is_copied_faithfully_and_scores_no_gold():
    outcomes, asked = play(PARENT, [copy("w", "indexed", "serial", "wrong")], truth)
    assert outcomes["w"].output == "589" and outcomes["w"].fidelity is True and outcomes["w"].correct is False
    assert state(asked[0][1])["indexed_characters"] == [{"character": c, "position": i} for i, c in enumerate("589", 1)]


def test_a_plan_is_the_fresh_selection_and_none_where_native_named_no_candidate():
    arms = [whole(select="argmax"), copy("c", "indexed", "serial", "own", needs=("native",), select="argmax")]
    outcomes, _ = play(PARENT, arms, lambda slot, ask: "389" if slot.arm == "native" else dict(ask.truth))
    assert outcomes["c"].output == "389" and outcomes["c"].fidelity and not outcomes["c"].correct
    outcomes, asked = play(PARENT, arms, lambda slot, ask: "999" if slot.arm == "native" else dict(ask.truth))
    assert [slot.arm for slot, _ in asked] == ["native"]
    assert outcomes["c"].fidelity is None and outcomes["c"].correct is False and outcomes["c"].status == "ok"


def test_rebinding_keeps_state_order_and_instructions_and_changes_the_names():
    _, literal = play(PARENT, [copy("i", "raw", "independent")], truth)
    outcomes, asked = play(PARENT, [rebound("o", "raw")], truth)
    ((_, opaque),) = asked
    same = literal[1][1]  # position 2
    assert opaque.request.state == same.request.state
    assert opaque.request.questions["answer"].instructions == same.request.questions["answer"].instructions
    assert list(opaque.request.questions["answer"].options.values()) == list(same.request.questions["answer"].options)
    assert outcomes["o"].correct and outcomes["o"].output == "8"


def test_stopping_has_51_options_and_ends_where_it_says():
    options = alphabet()
    assert len(options) == len(set(options)) == 51 and options[-1] == "END"
    outcomes, asked = play(PARENT, [stopping()], truth)
    outcome = outcomes["serial_with_end"]
    assert outcome.output == "585" and outcome.correct and outcome.detail["end"] == 4 and len(asked) == 4
    assert set(asked[0][1].request.questions["answer"].options) == set(options)
    outcomes, asked = play(PARENT, [stopping()], lambda slot, ask: "5")
    assert len(asked) == PARENT.length + 3 and outcomes["serial_with_end"].detail["category"] == "step_cap_exhaustion"
    outcomes, asked = play(PARENT, [stopping()], lambda slot, ask: "END")
    assert len(asked) == 1 and outcomes["serial_with_end"].detail["category"] == "premature_end"


@pytest.mark.parametrize(
    ("content", "ended", "category"),
    [
        ("585", True, "exact_completion"),
        ("58", True, "premature_end"),
        ("", True, "premature_end"),
        ("12", True, "premature_end"),
        ("585585", False, "correct_content_without_end"),
        ("125585", False, "step_cap_exhaustion"),
        ("589", True, "wrong_content"),
        ("5855", True, "wrong_content"),
        ("12345", True, "wrong_content"),
    ],
)
def test_categories_are_exclusive_and_in_the_papers_priority(content, ended, category):
    assert categorise(content, "585", ended) == category and category in CATEGORIES


def test_an_error_draft_differs_in_one_preceding_character():
    for item in load_bank().split("test"):
        found = prefix_intervention(item)
        right = item.target[: found["position"] - 1]
        assert 2 <= found["position"] <= item.length and len(found["error_draft"]) == len(right)
        assert [i for i, (a, b) in enumerate(zip(right, found["error_draft"], strict=True), 1) if a != b] == [found["error_at"]]


def test_interventions_share_the_supplied_state_between_readouts():
    parent = Parent("m", "math", 3, {**PARENT.payload, "position": 3, "error_draft": "98"})
    arms = [intervention(r, d) for r in ("whole", "local") for d in ("correct", "error")]
    outcomes, asked = play(parent, arms, truth)
    states = {slot.arm: state(ask) for slot, ask in asked}
    assert states["whole_error"] == states["local_error"] and states["whole_correct"] == states["local_correct"]
    assert states["local_error"]["current_prefix"] == "98" and states["local_correct"]["current_prefix"] == "58"
    assert all(o.correct for o in outcomes.values())


def test_wrong_targets_are_observed_where_a_run_has_one():
    item = load_bank().split("test")[0]
    made = wrong_target(item, {})
    assert made["wrong_kind"] == "constructed" and made["wrong_target"] in item.candidates and made["wrong_target"] != item.target
    seen = wrong_target(item, {item.id: {"output": made["wrong_target"], "model": "jev", "run": "r1"}})
    assert seen["wrong_kind"] == "observed" and seen["wrong_from"] == {"model": "jev", "run": "r1"}


def test_a_derangement_has_no_fixed_point():
    for key in range(200):
        for characters in ("0123456789", "ab", "abcdefghijklmnopqrstuvwxyz"):
            other = derangement(characters, key)
            assert sorted(other) == sorted(characters) and all(a != b for a, b in zip(characters, other, strict=True))
    assert SEED == 20261008


def test_names_bind_to_descriptions_in_every_condition():
    records = [readout_record("585", "0123456789", "m")]
    parent = Parent("m", "math", 3, {"target": "585", "records": records})
    arms = [readout(e, n, replicates=1) for e in ("raw", "indexed", "direct") for n in ("opaque", "remapped", "aligned", "conflicting")]
    outcomes, asked = play(parent, [*arms, identity()], truth)
    assert all(o.correct and all(o.detail["right"]) for o in outcomes.values()) and len(asked) == 12 + 2
    shown = {slot.arm: ask.request.questions["answer"].options for slot, ask in asked if slot.arm != "identity"}
    orders = {tuple(options.values()) for options in shown.values()}
    assert len(orders) == 1  # the same criteria in the same order everywhere
    assert set(shown["raw_opaque"]) == set(shown["raw_remapped"]) and not set(shown["raw_opaque"].items()) & set(
        shown["raw_remapped"].items()
    )
    assert all(name == f"character_{c}" for name, c in shown["raw_aligned"].items())
    assert all(name != f"character_{c}" for name, c in shown["raw_conflicting"].items())
    keys = {slot.arm: set(state(ask)) for slot, ask in asked}
    assert keys["indexed_opaque"] - keys["raw_opaque"] == {"indexed_characters"}
    assert keys["direct_opaque"] - keys["indexed_opaque"] == {"query_character"}


def test_opaque_names_are_distinct_and_say_nothing():
    names = named(list("0123456789abcdefghijklmnopqrstuvwxyz"), "opaque", {})
    assert len(names) == 36 and all(name == opaque_name(c) and len(name) == 14 for name, c in names.items())
