"""The decision head: lettered options, groups beyond 26, temperatures and hidden names (BACKENDS.md, StartLux-style readout)."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
import orjson
import pytest
from support.tiny_checkpoints import saved  # skips where torch is absent

from c2s.backends.base import Call
from c2s.backends.local.decision import Contest
from c2s.backends.registry import open_model
from c2s.dialects import dialect
from c2s.records import Ask, Parent, Question, Request, Slot


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory):
    backend = open_model(f"hf:{saved(tmp_path_factory.mktemp('head') / 'm', 'qwen3')}?contract=decision&temperature=choice:2")
    yield backend
    backend.close()


def ask(backend: Any, options: dict[str, str | None], *, questions: int = 1, state: Any = "s") -> tuple[dict[str, Any], Any]:
    request = Request(state, {f"q{i}": Question("Which?", options) for i in range(questions)})
    made = Ask(1, request)
    (came,) = backend.call(
        [Call(Slot("p", "q", "a", 0, 1), Parent("q", "math", 1, {}), made, dialect("systemone").encode(made, backend.model))]
    )
    assert came.verdict == "ok", came.message
    return orjson.loads(came.raw), dialect("systemone").decode(made, came.raw)


def letters(backend: Any, text: str, count: int) -> np.ndarray:
    """Log-probabilities of the letters after one user message, by a forward of its own."""
    import torch

    tokenizer = backend.renderer.tokenizer
    ids = tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True, tokenize=True, return_dict=False)
    with torch.inference_mode():
        logs = torch.log_softmax(backend.engine.model(input_ids=torch.tensor([ids])).logits[0, -1].double(), -1)
    return np.array([float(logs[tokenizer.convert_tokens_to_ids(letter)]) for letter in string.ascii_uppercase[:count]])


def test_the_answer_is_the_softmax_over_the_letters_divided_by_the_temperature(head: Any):
    raw, answer = ask(head, {"apple": "a fruit", "7": "a digit", "b": None})
    text = "s\n\nWhich?\nA. apple: a fruit\nB. 7: a digit\nC. b\n\nAnswer with the letter of one option."
    shares = np.exp(letters(head, text, 3) / 2)
    np.testing.assert_allclose(list(answer.choice("q0").probabilities.values()), shares / shares.sum(), atol=1e-4)
    assert list(answer.choice("q0").probabilities) == ["apple", "7", "b"] and raw["c2s"]["forwards"] == 1
    assert (
        answer.choice("q0").returned == answer.choice("q0").argmax and answer.input_tokens == raw["c2s"]["questions"]["q0"]["prompt_tokens"]
    )
    assert head.fingerprint["temperature"] == {"choice": 2.0, "noul": 1.0}


def test_fifty_one_options_are_three_groups_of_seventeen_and_four_forwards(head: Any):
    options = {f"o{i}": None for i in range(51)}
    raw, answer = ask(head, options, questions=2)
    assert raw["c2s"]["forwards"] == 8 and raw["c2s"]["questions"]["q1"]["groups"] == [[17, 17, 17], [9]]
    shares = answer.choice("q0").probabilities
    assert list(shares) == list(options) and sum(shares.values()) == pytest.approx(1)
    fell = [p for p in shares.values() if p == pytest.approx(1e-3 / 42, rel=1e-12)]
    assert len(fell) == 42
    names, finalists = list(options), []
    for group in (names[:17], names[17:34], names[34:]):
        lines = [f"{letter}. {name}" for letter, name in zip(string.ascii_uppercase, group, strict=False)]
        logs = letters(head, "\n".join(["s", "", "Which?", *lines, "", "Answer with the letter of one option."]), 17)
        finalists += [group[i] for i in sorted(np.argsort(-logs)[:3])]
    lines = [f"{letter}. {name}" for letter, name in zip(string.ascii_uppercase, finalists, strict=False)]
    last = np.exp(letters(head, "\n".join(["s", "", "Which?", *lines, "", "Answer with the letter of one option."]), 9) / 2)
    expected = dict(zip(finalists, 0.999 * last / last.sum(), strict=True))
    for name in finalists:
        assert shares[name] == pytest.approx(expected[name], abs=1e-4)


def test_options_up_to_26_need_one_forward_and_255_several_rounds(head: Any):
    raw, _ = ask(head, {f"o{i}": None for i in range(26)})
    assert raw["c2s"]["questions"]["q0"]["groups"] == [[26]]
    raw, answer = ask(head, {f"o{i}": None for i in range(255)})
    sizes = raw["c2s"]["questions"]["q0"]["groups"]
    assert (
        [len(row) for row in sizes] == [11, 2, 1]
        and sum(sizes[0]) == 255
        and max(sizes[0]) - min(sizes[0]) <= 1
        and sizes[1:] == [[16, 17], [6]]
    )
    assert raw["c2s"]["forwards"] == 14 and sum(answer.choice("q0").probabilities.values()) == pytest.approx(1)
    raw, answer = ask(head, {"only": None})
    assert answer.choice("q0").probabilities == {"only": 1.0} and answer.choice("q0").confidence == 1.0


def test_bare_names_are_hidden_where_every_option_is_described():
    def lines(options: dict[str, str | None]) -> list[str]:
        from c2s.backends.local.decision import _contests

        (contest,) = _contests({"state": "s", "questions": {"q": {"type": "choice", "instructions": "I", "criteria": options}}})
        return contest.text(list(options)).split("\n")[3:-2]

    assert lines({"a": "first", "12": "second"}) == ["A. first", "B. second"]
    assert lines({"a": "first", "word": "second"}) == ["A. a: first", "B. word: second"]
    assert lines({"a": "first", "b": None}) == ["A. a: first", "B. b"]
    assert lines({"a": None, "b": None}) == ["A. a", "B. b"]


def test_groups_are_near_equal_and_in_request_order():
    for n in range(1, 256):
        contest = Contest("q", "choice", "", "", {}, True, [str(i) for i in range(n)])
        groups = contest.groups()
        assert [o for group in groups for o in group] == contest.standing
        assert len(groups) == (1 if n <= 26 else -(-n // 25)) and max(map(len, groups)) - min(map(len, groups)) <= 1


def test_an_unknown_type_is_an_error_of_that_request_alone(head: Any):
    made = Ask(1, Request("s", {"q": Question("?", {"a": None, "b": None}, type="score")}))
    good = Ask(1, Request({"k": [1]}, {"q": Question("?", {"a": None, "b": None})}))
    wire = dialect("systemone")
    calls = [Call(Slot("p", "q", "a", 0, 1), Parent("q", "math", 1, {}), a, wire.encode(a, head.model)) for a in (made, good)]
    first, second = head.call(calls)
    assert first.verdict == "error" and "is of type 'score'" in first.message and second.verdict == "ok"


def test_every_question_of_a_batch_request_is_its_own_prompt(head: Any):
    raw, answer = ask(head, {"a": None, "b": None}, questions=3, state={"x": [1, 2]})
    assert len(answer.choices) == 3 and raw["c2s"]["forwards"] == 3
    first, *others = (choice.probabilities for choice in answer.choices.values())
    assert all(other == first for other in others)
