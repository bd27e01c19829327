"""What the panels of text models ask: counts, codes and orders, states and prefills, padding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import orjson
import pytest
from support.panels import SETTINGS

from c2s.controllers.continuous import first_character, prefix_continue, whole_generate
from c2s.controllers.program import ParentProgram
from c2s.dialects import dialect
from c2s.errors import UsageError
from c2s.panels.choice.token_padding import PATTERNS, TOKEN_PADDING
from c2s.panels.registry import PANELS, select
from c2s.presentation.encode import canonical_state
from c2s.presentation.texts import contracts
from c2s.records import Ask, Choice, Outcome, Parent, Request, Slot
from c2s.settings import Inputs, Settings

WIRE = dialect("chat-direct:nothink")
PARENT = Parent(
    "i1", "math", 3, {"problem": "39 × 15 = ?", "target": "585", "candidates": ["585", "589", "385", "389", "485", "489", "685", "689"]}
)


def completion(text: str, tokens: int = 2, finish: str = "stop", **own: int) -> bytes:
    body = {
        "choices": [{"message": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 70, "completion_tokens": tokens},
    }
    return orjson.dumps(body | {"c2s": own})


def play(
    arms, say: Callable[[Slot, Ask], bytes], parent: Parent = PARENT, settings=SETTINGS
) -> tuple[dict[str, Outcome], list[tuple[Slot, dict]]]:
    """Outcomes by arm and the bodies that were sent, in order."""
    program = ParentProgram("p", arms, parent, settings)
    waiting, sent = program.start(), []
    while waiting:
        slot, ask = waiting.pop(0)
        sent.append((slot, orjson.loads(WIRE.encode(ask, "m"))))
        waiting += program.receive(slot, WIRE.decode(ask, say(slot, ask)))
    return {outcome.arm: outcome for outcome in program.outcomes}, sent


@pytest.mark.parametrize(
    ("name", "parents", "requests"),
    [
        ("generation", 132, 864),
        ("grid", 96, 3456),
        ("templates", 192, 3744),
        ("whole-answer", 768, 1536),
        ("continuous", 192, 2496),
        ("token-padding", 96, 1584),
    ],
)
def test_the_papers_counts(name, parents, requests):
    assert PANELS[name].count(SETTINGS) == (parents, requests)


def test_position_queries_and_records():
    by_domain = {"math": Counter(), "lexical": Counter()}
    for parent in PANELS["continuous"].source.outline(SETTINGS):
        by_domain[parent.domain].update(slot.arm for slot in PANELS["continuous"].slots(parent))
    assert all(found == {"native": 96, "whole_generate": 96, "position": 528, "prefix_continue": 528} for found in by_domain.values())
    records = Counter(p.domain for p in PANELS["generation"].source.outline(SETTINGS) for _ in p.payload["records"])
    assert records == {"math": 60, "lexical": 60, "symbolic": 24} and sum(records.values()) == 144
    copied = {p.id for p in PANELS["copying"].source.outline(SETTINGS)}
    assert (
        {p.id for p in PANELS["grid"].source.outline(SETTINGS)}
        == copied
        == {p.id for p in PANELS["token-padding"].source.outline(SETTINGS)}
    )


def test_what_a_panel_requires_a_decision_model_lacks():
    from c2s.backends.hosted.servers import Responses, SystemOneServer
    from c2s.backends.registry import open_model

    assert set(select(["all"], Responses.lacks).skipped) == {
        "continuous",
        "token-padding",
        "support",
        "lexical-audit",
        "confidence",
        "projection",
    }
    for lacks in (SystemOneServer.lacks, open_model("sim:oracle").lacks):
        skipped = select(["all"], lacks).skipped
        assert {"whole-answer", "continuous", "generation", "grid", "token-padding"} <= set(skipped) and "templates" not in skipped
    chat = open_model("chat:m", {"base_url": "http://127.0.0.1:1"})
    assert set(select(["all"], chat.lacks).skipped) == {"token-padding", "confidence", "projection"}
    with pytest.raises(UsageError, match=r"token-padding cannot be run.*the server's tokenizer is not at hand"):
        select(["token-padding"], chat.lacks)
    code = open_model("chat:m?contract=code", {"base_url": "http://127.0.0.1:1"})
    skipped = select(["all"], code.lacks).skipped
    assert {"stopping", "copying", "dialogue-access", "dialogue-construction", "token-padding"} <= set(skipped)
    assert not {"main", "union", "support", "factors", "readout", "generation", "grid", "continuous", "confidence"} & set(skipped)


@pytest.fixture(scope="module")
def grid() -> list[tuple[Slot, Ask, dict]]:
    panel = PANELS["grid"]
    parent = next(p for p in panel.source.outline(SETTINGS) if p.domain == "math")
    return [(slot, ask, orjson.loads(WIRE.encode(ask, "m"))) for slot, ask in ParentProgram("grid", panel.arms, parent, SETTINGS).start()]


def test_grid_requests_are_the_printed_contracts(grid):
    """E.5: one system message, one user message with ordered JSON, eight tokens, greedy, thinking off."""
    assert len(grid) == 36
    for slot, _, body in grid:
        evidence, output, template, _ = slot.arm.split("_")
        system, user = body["messages"]
        assert body["max_tokens"] == 8 and body["temperature"] == 0 and body["chat_template_kwargs"] == {"enable_thinking": False}
        assert system == {"role": "system", "content": contracts()["readout"][output][template]}
        shown = orjson.loads(user["content"])
        assert (
            list(shown) == ["state", "question", "choices", "response_format"] and shown["question"] == contracts()["readout"]["question"]
        )
        assert shown["response_format"] == contracts()["readout"][f"{output}_response_format"]
        assert ("query_character" in shown["state"]) is (evidence == "direct") and "indexed_characters" in shown["state"]
        assert all(choice["option_name"].startswith("o_") for choice in shown["choices"].values())


def test_displayed_orders_keep_the_bindings(grid):
    lines: dict[str, list] = {}
    for slot, _, body in grid:
        choices = orjson.loads(body["messages"][1]["content"])["choices"]
        lines.setdefault(slot.arm[-2:], []).append(tuple((code, c["option_name"], c["criterion"]) for code, c in choices.items()))
    orders = {order: set(found) for order, found in lines.items()}
    assert all(len(found) == 1 for found in orders.values())  # the same for every evidence, output and wording
    first, second, third = (next(iter(orders[f"O{k}"])) for k in (0, 1, 2))
    assert [code for code, *_ in first] == list("ABCDEFGHIJ")  # the reference order gives the codes
    assert len({first, second, third}) == 3 and set(first) == set(second) == set(third)


def test_whole_generation_and_continuation_are_told_apart_by_state_and_boundary():
    """E.3."""
    _, sent = play((whole_generate(), prefix_continue()), lambda slot, ask: completion(ask.truth["answer"]))
    direct = contracts()["direct"]
    whole = orjson.loads(sent[0][1]["messages"][0]["content"])
    assert (
        list(whole) == direct["user_keys"]
        and whole["question"] == direct["whole_question"]
        and whole["response_format"] == direct["whole_response"]
    )
    assert sorted(whole["allowed_values"]) == sorted(PARENT.candidates) and sent[0][1]["max_tokens"] == 32
    steps = [body for slot, body in sent if slot.arm == "prefix_continue"]
    for step, body in enumerate(steps):
        user = orjson.loads(body["messages"][0]["content"])
        assert isinstance(whole["state"], str) and isinstance(user["state"], dict)
        assert canonical_state(user["state"]) == whole["state"] and set(user["state"]) == {"candidates", "problem", "target_length"}
        assert {**user, "state": 0} == {**whole, "state": 0} and body["max_tokens"] == 32
        assert [m["content"] for m in body["messages"][1:]] == ([PARENT.target[:step]] if step else [])
        assert body.get("continue_final_message", False) is bool(step)


def test_a_wider_budget_for_the_whole_answer():
    (arm,) = [arm for arm in PANELS["whole-answer"].arms if arm.name == "whole_generate"]
    outcomes, sent = play((arm,), lambda slot, ask: completion(" 585\n", tokens=4))
    assert sent[0][1]["max_tokens"] == 64 and outcomes["whole_generate"].correct
    assert outcomes["whole_generate"].detail["tokens"] == [4] and outcomes["whole_generate"].detail["whitespace"] == [1]
    outcomes, _ = play((arm,), lambda slot, ask: completion("585", tokens=64, finish="length"))
    assert not outcomes["whole_generate"].correct and outcomes["whole_generate"].kind == "truncated"


@pytest.mark.parametrize(
    ("suffix", "output", "kind", "initial", "markers"),
    [
        (lambda done: "585"[done:], "585", "strict_correct", True, 0),
        (lambda done: "585", "555", "format_valid_wrong", True, 0),
        (lambda done: "" if done else "585", "5__", "empty", True, 2),
        (lambda done: " 85" if done == 1 else "585"[done:], "5_5", "other_invalid", True, 1),
        (lambda done: "5", "555", "format_valid_wrong", False, 0),
        (lambda done: "The answer is 585", "___", "other_invalid", False, 3),
    ],
)
def test_the_first_character_of_every_suffix_is_consumed(suffix, output, kind, initial, markers):
    prefills = []

    def say(slot, ask):
        prefills.append(ask.request.prefill)
        return completion(suffix(len(ask.request.prefill)))

    outcomes, _ = play((prefix_continue(),), say)
    found = outcomes["prefix_continue"]
    assert (found.output, found.kind, found.detail["initial"], found.detail["markers"]) == (output, kind, initial, markers)
    assert prefills == [output[:k] for k in range(3)]  # an invalid marker stays in the prefix
    assert found.correct is (output == "585")


def test_a_truncated_suffix_fails_in_form_alone():
    outcomes, _ = play(
        (prefix_continue(),),
        lambda slot, ask: completion("585"[len(ask.request.prefill) :] + "." * 40, finish="length" if slot.step == 2 else "stop"),
    )
    found = outcomes["prefix_continue"]
    assert found.correct and found.kind == "truncated" and found.detail["truncated"] == [2] and found.detail["initial"] is False
    empty = first_character(Choice("", False, text=None, truncated=True), "0123456789")
    assert empty.fault == "truncated" and empty.taken() == "_"


def rough(request: Request) -> int:
    """Rendered tokens of a toy: three characters each."""
    return len(WIRE.encode(Ask(1, request), "m")) // 3


def padded() -> list[Parent]:
    """A plan's parents without the texts of lexical items, which need WordNet."""
    return TOKEN_PADDING.source.parents(Settings(domain="math", limit=4), Inputs(rendered_tokens=rough))


def test_padding_is_found_at_plan_time_and_counted_in_the_run():
    parents = padded()
    for parent in parents:
        paddings = parent.payload["padding"]
        assert len(paddings) == parent.length and all(set(p) <= set("".join(PATTERNS)) for p in paddings)
        assert not any(c in "".join(paddings) for c in "0123456789abcdefghijklmnopqrstuvwxyz")

        def say(slot, ask):
            body = {"choices": [{"message": {"content": ask.truth["answer"]}}], "usage": {"prompt_tokens": rough(ask.request)}}
            return orjson.dumps(body | ({"c2s": {"matched_tokens": rough(ask.matches)}} if ask.matches else {}))

        outcomes, sent = play(TOKEN_PADDING.arms, say, parent)
        assert all(o.fidelity for o in outcomes.values())
        rendered = outcomes["padded"].detail["rendered"]
        assert len(rendered) == parent.length and all(a == b for a, b in rendered)
        states = [orjson.loads(orjson.loads(b["messages"][0]["content"])["state"]) for s, b in sent if s.arm == "padded"]
        assert all("indexed_characters" not in s and s["padding"] == p for s, p in zip(states, paddings, strict=True))


def test_frozen_padding_is_checked_and_a_length_that_cannot_be_had_is_refused():
    from dataclasses import replace

    parents = padded()
    settings = Settings(domain="math", limit=4)
    assert TOKEN_PADDING.source.check(parents, settings) == []
    for padding in (["7"] * parents[0].length, [".."]):
        changed = replace(parents[0], payload={**parents[0].payload, "padding": padding})
        assert any("not punctuation" in line for line in TOKEN_PADDING.source.check([changed, *parents[1:]], settings))
    with pytest.raises(UsageError, match="no punctuation makes the padded request"):
        TOKEN_PADDING.source.parents(settings, Inputs(rendered_tokens=lambda request: 1 if "padding" in request.state else 5))
    with pytest.raises(UsageError, match="tokenizer is at hand"):
        TOKEN_PADDING.source.parents(settings, Inputs())
