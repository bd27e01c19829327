"""Responses and chat completions: exact bytes out, strict reading in."""

from __future__ import annotations

import contextlib
import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.controllers.outcome import compliance
from c2s.dialects import Malformed, dialect
from c2s.dialects.text_answers import read_value
from c2s.errors import InputError, UsageError
from c2s.presentation.texts import contracts
from c2s.records import Ask, Question, Request, Usage

VERDICT = Question("Judge.", {"correct": "It matches.", "incorrect": "It differs.", "no_answer": None}, unit="label")
STATE = {"question": "How many?", "trusted_reference": "14", "model_reply": "54"}


def judge(presentation: str = "insertion") -> Ask:
    return Ask(1, Request(STATE, {"verdict": VERDICT}), presentation=presentation)


def character(unit: str = "character", **named) -> Ask:
    return Ask(1, Request('{"position":2}', {"answer": Question("Which?", {"b": None, "a": "first"}, unit=unit)}, **named))


def test_responses_bytes_in_both_presentations():
    wire = dialect("responses")
    body = wire.encode(judge(), "gpt-6-sol")
    assert body == (
        b'{"model":"gpt-6-sol","service_tier":"default","store":false,"instructions":"Judge.\\ncorrect: It matches.\\nincorrect: It '
        b'differs.",'
        b'"input":"{\\"question\\":\\"How '
        b'many?\\",\\"trusted_reference\\":\\"14\\",\\"model_reply\\":\\"54\\"}","text":{"format":{"type":"json_schema",'
        b'"name":"judge_verdict","strict":true,"schema":{"type":"object","properties":{"verdict":{"type":"string","enum":["correct","incorrect",'
        b'"no_answer"]}},"required":["verdict"],"additionalProperties":false}}}}'
    )
    other = wire.encode(judge("sorted"), "gpt-6-sol")
    assert other.startswith(b'{"input":"{\\"model_reply\\":\\"54\\",\\"question\\"') and other != body
    assert b'"enum":["correct","incorrect","no_answer"]' in other  # the enumeration keeps its order
    first, second = orjson.loads(body), orjson.loads(other)
    assert orjson.loads(first.pop("input")) == orjson.loads(second.pop("input")) and first == second


def reply(text: str | None, *, status: str = "completed", refusal: bool = False, **more) -> bytes:
    content = ([] if text is None else [{"type": "output_text", "text": text}]) + (
        [{"type": "refusal", "refusal": "no"}] if refusal else []
    )
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": content}]
    usage = {"input_tokens": 170, "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 0}, "output_tokens": 55}
    return orjson.dumps({"id": "resp_1", "model": "gpt-6-sol", "status": status, "output": output, "usage": usage} | more)


def test_a_verdict_is_read_with_its_usage():
    answer = dialect("responses").decode(judge(), reply('{"verdict":"incorrect"}'))
    assert answer.choices["verdict"].returned == "incorrect" and answer.choices["verdict"].offered
    assert answer.model == "gpt-6-sol" and answer.usage == Usage(170, 55, cached_tokens=20)
    assert answer.choices["verdict"].probabilities is None and answer.choices["verdict"].argmax is None


@pytest.mark.parametrize(
    ("body", "truncated"),
    [
        (reply('{"verdict":"maybe"}'), False),
        (reply('{"verdict":"correct","more":1}'), False),
        (reply("correct"), False),
        (reply('{"verdict":"correct","verdict":"incorrect"}'), False),
        (reply('{"verdict":7}'), False),
        (reply(None, refusal=True), False),
        (reply('{"verdict":"correct"}', status="incomplete"), True),
        (reply(None, status="incomplete", incomplete_details={"reason": "max_output_tokens"}), True),
    ],
)
def test_what_the_model_got_wrong_is_scored_as_no_offered_option(body, truncated):
    choice = dialect("responses").decode(judge(), body).choices["verdict"]
    assert not choice.offered and choice.taken() == "_" and choice.truncated is truncated


@pytest.mark.parametrize(
    "body",
    [
        reply(None),
        reply("{}", status="failed"),
        b"[]",
        b"{}",
        reply("x", output=[{"type": "message", "content": [{"type": "output_text", "text": "a"}] * 2}]),
    ],
)
def test_what_the_server_got_wrong_is_malformed(body):
    with pytest.raises(Malformed):
        dialect("responses").decode(judge(), body)


def test_direct_bytes_follow_the_contract():
    wire = dialect("chat-direct")
    body = orjson.loads(wire.encode(character(), "qwen"))
    assert list(body) == ["model", "messages", "temperature", "max_tokens"] and body["max_tokens"] == 8 and body["temperature"] == 0
    (message,) = body["messages"]
    assert message["role"] == "user"
    assert message["content"] == (
        '{"state":"{\\"position\\":2}","question":"Which?\\na: first","allowed_values":["b","a"],'
        '"response_format":"Output only the single requested lowercase letter or digit."}'
    )
    whole = orjson.loads(wire.encode(character("whole"), "qwen"))
    assert whole["max_tokens"] == 32 and "Output only the requested complete string." in whole["messages"][0]["content"]
    own = orjson.loads(
        dialect("chat-direct:nothink").encode(character(system="Be brief.", response_format="One letter.", max_tokens=64), "qwen")
    )
    assert own["messages"][0] == {"role": "system", "content": "Be brief."} and own["max_tokens"] == 64
    assert own["chat_template_kwargs"] == {"enable_thinking": False} and "One letter." in own["messages"][1]["content"]


def completion(text, *, finish: str = "stop", logprobs=None, **more) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish, "logprobs": logprobs}
    return orjson.dumps({"model": "qwen", "choices": [choice], "usage": {"prompt_tokens": 80, "completion_tokens": 1}} | more)


@pytest.mark.parametrize("text", ["a", " a ", "a\n", "\t a\r\n"])
def test_outer_ascii_whitespace_alone_is_stripped(text):
    answer = dialect("chat-direct").decode(character(), completion(text))
    assert answer.choice().taken() == "a" and answer.choice().text == text and answer.usage == Usage(80, 1)


@pytest.mark.parametrize("text", ["A", "a.", "\u00a0a", "\u200ba", "a b", "", None, "\uff41", '"a"', "[/red]", "\x1b[31ma"])
def test_anything_else_is_no_offered_option(text):
    assert dialect("chat-direct").decode(character(), completion(text)).choice().taken() == "_"


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"choices":[]}',
        b'{"choices":[{"message":{"content":7}}]}',
        b'{"choices":[{}]}',
        b"<html>",
        b'{"choices":[{"message":{"content":"a","content":"b"}}]}',
    ],
)
def test_a_broken_completion_is_malformed(body):
    with pytest.raises(Malformed):
        dialect("chat-direct").decode(character(), body)


CODES = {"A": "585", "B": "589"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("585\n", "strict_correct"), (" 585 ", "strict_correct"), ("\uff15\uff18\uff15", "other_invalid"),
        ("\u0665\u0668\u0665", "other_invalid"),
        ("\u200b585", "extra_text"), ("585.", "extra_text"), ("5 8 5", "other_invalid"), ("", "empty"), (" \n", "empty"),
        ("589", "format_valid_wrong"),
        ("A", "bound_code"), ("B", "other_code"), ("The answer is 585", "extra_text"), ("C", "other_invalid"),
    ],
)  # fmt: skip
def test_kinds_in_the_studys_priority(text, expected):
    """CASES.md 20."""
    assert kind(text) == expected


def kind(text: str, *options: str, truncated: bool = False, strip: bool = True) -> str:
    options = options or ("585", "589")
    return compliance(read_value(text, dict(zip(options, options, strict=True)), truncated=truncated, strip=strip, codes=CODES), options[0])


def test_a_truncated_text_is_no_answer_whatever_it_says():
    """E.2: an exact listed value and a complete response."""
    assert {kind(text, truncated=True) for text in ("585", "", "589", "A", "585 and", "xyz")} == {"truncated"}
    assert kind("585\n", strip=False) == "extra_text" and kind("Apple", "apple") == "other_invalid"
    assert kind("the e", "e", "f") == "extra_text" and kind("Hello", "e", "f") == "other_invalid"
    assert kind("\n", "\n", " ") == "strict_correct" and kind(" \n", "\n", " ") == "empty"  # whitespace that is an option


def top(**p) -> dict:
    return {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": [{"token": t, "logprob": math.log(v)} for t, v in p.items()]}]}


def test_code_readout_reads_the_distribution_over_legal_codes():
    wire = dialect("chat-code-readout")
    body = orjson.loads(wire.encode(character(), "qwen"))
    assert body["max_tokens"] == 1 and body["logprobs"] is True and body["top_logprobs"] == 20
    assert body["messages"][0] == {"role": "system", "content": contracts()["readout"]["code"]["T0"]}
    user = orjson.loads(body["messages"][1]["content"])
    assert list(user) == ["state", "question", "choices", "response_format"]
    assert user["choices"] == {"A": {"option_name": "b", "criterion": "b"}, "B": {"option_name": "a", "criterion": "first"}}
    choice = wire.decode(character(), completion("A", logprobs=top(A=0.2, B=0.6, C=0.1, **{" A": 0.05}))).choice()
    assert choice.returned == "a" == choice.argmax and choice.mass == pytest.approx(0.8)
    assert choice.probabilities == pytest.approx({"b": 0.25, "a": 0.75}) and choice.confidence == pytest.approx(0.5)
    tie = wire.decode(character(), completion("B", logprobs=top(B=0.4, A=0.4))).choice()
    assert tie.returned == "b"  # displayed order breaks the tie
    none = wire.decode(character(), completion("x", logprobs=top(x=0.9))).choice()
    assert not none.offered and none.mass == 0.0
    with pytest.raises(Malformed, match="offers no code readout"):
        wire.decode(character(), completion("A"))


def test_code_readout_refuses_what_it_cannot_ask():
    many = Ask(1, Request("", {"answer": Question("q", {str(n): None for n in range(27)})}))
    with pytest.raises(InputError, match="1 to 26 options, not 27"):
        dialect("chat-code-readout").encode(many, "m")


def readout(contract: str, **more) -> Ask:
    """Two opaque options whose codes are bound against the displayed order."""
    question = Question("Which?", {"o_b": "7", "o_a": "4"}, codes={"o_a": "A", "o_b": "B"})
    return Ask(1, Request('{"query_position":2}', {"answer": question}, contract=contract, **more))


def test_a_request_demands_its_contract_whatever_the_models_own():
    code, character_ = contracts()["readout"]["code"], contracts()["readout"]["character"]
    for name in ("chat-direct", "chat-code-readout", "chat-code-generated"):
        generated = orjson.loads(dialect(name).encode(readout("code-generated"), "qwen"))
        assert list(generated) == ["model", "messages", "temperature", "max_tokens"] and generated["max_tokens"] == 8
        assert generated["messages"][0]["content"] == code["T0"]
        assert generated["messages"][1]["content"] == (
            '{"state":"{\\"query_position\\":2}","question":"Which?","choices":{"B":{"option_name":"o_b","criterion":"7"},'
            '"A":{"option_name":"o_a","criterion":"4"}},"response_format":"Select one choice and output only its single-character code."}'
        )
        written = orjson.loads(dialect(name).encode(readout("character", system=character_["T2"]), "qwen"))
        assert written["messages"][0]["content"] == character_["T2"] and written["max_tokens"] == 8
        assert orjson.loads(written["messages"][1]["content"])["response_format"] == contracts()["readout"]["character_response_format"]
        assert orjson.loads(dialect(name).encode(readout("direct"), "qwen"))["messages"][0]["role"] == "user"


@pytest.mark.parametrize(
    ("text", "code", "character_"),
    [
        ("A", "strict_correct", "bound_code"), ("B", "format_valid_wrong", "other_code"), ("4", "other_invalid", "strict_correct"),
        ("7", "other_invalid", "format_valid_wrong"), ("A.", "extra_text", "other_invalid"), ("4.", "other_invalid", "extra_text"),
        (" A", "extra_text", "other_invalid"), ("4\n", "other_invalid", "extra_text"), ("a", "other_invalid", "other_invalid"),
        ("", "empty", "empty"), ("C", "other_invalid", "other_invalid"), ("o_a", "other_invalid", "other_invalid"),
    ],
)  # fmt: skip
def test_generated_codes_and_characters_are_read_strictly(text, code, character_):
    """D.13 and E.6: no case repair, whitespace trimming or code mapping."""
    for contract, expected in (("code-generated", code), ("character", character_)):
        choice = dialect("chat-direct").decode(readout(contract), completion(text)).choice()
        assert compliance(choice, "o_a") == expected and choice.offered == (expected in ("strict_correct", "format_valid_wrong"))
        cut = dialect("chat-direct").decode(readout(contract), completion(text, finish="length")).choice()
        assert compliance(cut, "o_a") == "truncated" and cut.taken() == "_"


def test_responses_write_text_where_a_contract_is_demanded():
    wire = dialect("responses")
    body = orjson.loads(wire.encode(readout("code-generated"), "gpt"))
    assert list(body) == ["model", "service_tier", "store", "instructions", "input", "max_output_tokens"]
    assert body["instructions"] == contracts()["readout"]["code"]["T0"] and body["max_output_tokens"] == 16  # the API's least
    chat = orjson.loads(dialect("chat-direct").encode(readout("code-generated"), "gpt"))
    assert body["input"] == chat["messages"][1]["content"]
    whole = orjson.loads(wire.encode(character("whole", contract="direct", max_tokens=64), "gpt"))
    assert "instructions" not in whole and whole["max_output_tokens"] == 64
    assert compliance(wire.decode(readout("code-generated"), reply("A")).choice(), "o_a") == "strict_correct"
    assert compliance(wire.decode(readout("character"), reply("A")).choice(), "o_a") == "bound_code"
    cut = wire.decode(readout("character"), reply("4", status="incomplete")).choice()
    assert compliance(cut, "o_a") == "truncated" and cut.tokens == 55
    assert compliance(wire.decode(readout("character"), reply(None, refusal=True)).choice(), "o_a") == "empty"
    with pytest.raises(InputError, match="no beginning of an answer"):
        wire.encode(character("whole", contract="direct", prefill="5"), "gpt")


def test_a_prefill_is_an_assistant_message_that_goes_on():
    body = orjson.loads(dialect("chat-direct:nothink").encode(character("whole", prefill="58"), "qwen"))
    assert body["messages"][-1] == {"role": "assistant", "content": "58"} and [m["role"] for m in body["messages"]] == ["user", "assistant"]
    assert body["continue_final_message"] is True and body["add_generation_prompt"] is False
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    empty = dialect("chat-direct").encode(character("whole", prefill=""), "qwen")
    assert empty == dialect("chat-direct").encode(character("whole"), "qwen")  # the assistant boundary itself


def test_what_is_asked_decides_budget_and_closing_sentence():
    def sent(*options: str, **more):
        body = orjson.loads(
            dialect("chat-direct").encode(Ask(1, Request("", {"answer": Question("q", dict.fromkeys(options), **more)})), "m")
        )
        return body["max_tokens"], "letter or digit" in body["messages"][0]["content"]

    assert sent("a", "b") == (8, True) and sent("true", "false") == (8, False) and sent("a", "END") == (8, False)
    assert sent("o_266a58860677", "o_391552c099c1") == (32, False) and sent("585", "589", unit="whole") == (32, False)


def test_a_response_may_say_how_long_a_matched_request_is():
    wire, plain = dialect("chat-direct"), character()
    ask = Ask(1, plain.request, matches=Request("other", plain.request.questions))
    assert wire.decode(ask, completion("a", c2s={"matched_tokens": 80, "token_ids": [5]})).matched_tokens == 80
    assert wire.decode(plain, completion("a", c2s={"matched_tokens": 80})).matched_tokens is None
    for own in ([], {"matched_tokens": "80"}, {"matched_tokens": -1}, None):
        assert wire.decode(ask, completion("a", c2s=own)).matched_tokens is None


def test_several_fields_are_one_json_object():
    questions = {name: Question(f"Field: {name}.", {"yes": None, "no": None}, unit="field") for name in ("one", "two")}
    ask = Ask(1, Request({"dialogue_history": []}, questions))
    wire = dialect("chat-direct")
    body = orjson.loads(wire.encode(ask, "m"))
    assert body["max_tokens"] == 256 and list(orjson.loads(body["messages"][0]["content"])) == ["state", "field_queries", "response_format"]
    good = wire.decode(ask, completion(' {"two":"no","one":"yes"} ')).choices
    assert {name: choice.taken() for name, choice in good.items()} == {"one": "yes", "two": "no"}
    partly = wire.decode(ask, completion('{"two":"No","one":"yes"}')).choices
    assert {name: choice.taken() for name, choice in partly.items()} == {"one": "yes", "two": "_"}
    for text in ('{"one":"yes"}', '{"one":"yes","two":"no","three":"x"}', "yes", '{"one":"yes","one":"no","two":"no"}'):
        assert all(choice.taken() == "_" for choice in wire.decode(ask, completion(text)).choices.values())


def test_unknown_dialects_are_named():
    for name in ("http", "systemone:x", "chat-direct:fast"):
        with pytest.raises(UsageError, match="unknown dialect"):
            dialect(name)


@given(st.binary(max_size=300))
def test_no_body_raises_anything_but_malformed(raw):
    for name, ask in (("systemone", character()), ("responses", judge()), ("chat-direct", character()), ("chat-code-readout", character())):
        with contextlib.suppress(Malformed):
            dialect(name).decode(ask, raw)
        assert isinstance(dialect(name).usage(raw), Usage)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON, JSON)
def test_no_json_raises_anything_but_malformed(a, b, c):
    bodies = [
        {"model": a, "answers": {"answer": {"choice": b, "probabilities": c, "confidence": a}}, "usage": b},
        {
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": a}, b]}, c],
            "usage": {"input_tokens": c},
        },
        {
            "choices": [{"message": {"content": a}, "finish_reason": b, "logprobs": {"content": [{"top_logprobs": c}]}}],
            "usage": c,
            "model": b,
        },
    ]
    for body in bodies:
        raw = orjson.dumps(body)
        for name, ask in (
            ("systemone", character()),
            ("responses", judge()),
            ("chat-direct", character()),
            ("chat-code-readout", character()),
        ):
            with contextlib.suppress(Malformed):
                dialect(name).decode(ask, raw)
            assert isinstance(dialect(name).usage(raw), Usage)
