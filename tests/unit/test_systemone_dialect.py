"""System One: exact request bytes, and every way in which a response can be wrong (CASES 17, 18)."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.dialects import Malformed
from c2s.dialects.systemone import SystemOne
from c2s.presentation.encode import body_hash, content_hash
from c2s.records import INVALID, Ask, Question, Request

ONE = SystemOne()
ASK = Ask(1, Request('{"b":1}', {"answer": Question("Pick é.", {"z": None, "a": None, "m": "mid"})}))


def response(**answer) -> bytes:
    return json.dumps({"model": "jev-1.13.0", "answers": {"answer": {"type": "choice", "choice": "a"} | answer}}).encode()


def test_request_bytes_are_exact_and_keep_the_displayed_order():
    assert (
        ONE.encode(ASK, "jev-1.13.0")
        == (
            '{"state":"{\\"b\\":1}","model":"jev-1.13.0","questions":{"answer":{"type":"choice","instructions":"Pick é.",'
            '"criteria":{"z":null,"a":null,"m":"mid"}}}}'
        ).encode()
    )


def test_sorted_presentation_is_another_request_with_the_same_content():
    other = Ask(1, ASK.request, presentation="sorted")
    insertion, ordered = ONE.encode(ASK, "m"), ONE.encode(other, "m")
    assert ordered.startswith(b'{"model":"m","questions":{"answer":{"criteria":{"a":null,"m":"mid","z":null},"instructions"')
    assert body_hash(insertion) != body_hash(ordered) and content_hash(insertion) == content_hash(ordered)


def test_the_truth_never_reaches_the_wire():
    secret = Ask(1, ASK.request, truth={"answer": "TRUTH-MARK"})
    assert ONE.encode(secret, "m") == ONE.encode(ASK, "m")


def test_a_rounding_service_with_ties_and_a_choice_that_is_not_the_argmax():
    answer = ONE.decode(ASK, response(choice="m", probabilities={"a": 0.33, "z": 0.33, "m": 0.33}, confidence=0.5))
    choice = answer.choice()
    assert (choice.returned, choice.argmax, choice.disagrees) == ("m", "z", True)
    assert choice.taken() == "m" and choice.taken("argmax") == "z"
    assert choice.reported_confidence == 0.5 and choice.confidence == pytest.approx((0.33 - 1 / 3) / (2 / 3))


def test_an_option_that_was_not_offered_is_a_scored_wrong_answer():
    choice = ONE.decode(ASK, response(choice="A")).choice()
    assert choice.taken() == INVALID and not choice.offered and choice.returned == "A"


@pytest.mark.parametrize("usage", [{}, {"input_tokens": 0, "output_tokens": 0}, {"input_tokens": None}, {"input_tokens": True}, "no", None])
def test_absent_or_zero_usage_is_not_reported(usage):
    body = json.loads(response()) | {"usage": usage}
    answer = ONE.decode(ASK, json.dumps(body).encode())
    assert (answer.input_tokens, answer.output_tokens) == (None, None)


def test_usage_and_model_are_kept():
    body = json.loads(response()) | {"usage": {"input_tokens": 12, "output_tokens": 3}}
    answer = ONE.decode(ASK, json.dumps(body).encode())
    assert (answer.model, answer.input_tokens, answer.output_tokens) == ("jev-1.13.0", 12, 3)


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\xff", b"null", b"[]", b"{}", b'{"answers":[]}', b'{"answers":{}}', b'{"answers":{"answer":null}}',
        b'{"answers":{"answer":{}}}', b'{"answers":{"answer":{"choice":1}}}', b'{"answers":{"answer":{"choice":"a"}}',
        b'{"answers":{"answer":{"choice":"a","probabilities":[]}}}',
        b'{"answers":{"answer":{"choice":"a","probabilities":{"a":NaN}}}}',
        b'{"answers":{"answer":{"choice":"a","probabilities":{"a":"0.5"}}}}',
        b'{"answers":{"answer":{"choice":"a","probabilities":{"a":true}}}}',
        b'{"answers":{"answer":{"choice":"a","probabilities":{"a":1e999}}}}',
        b'{"answers":{"answer":{"choice":"a","confidence":"high"}}}',
        b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_response_that_breaks_the_protocol_is_malformed(raw):
    with pytest.raises(Malformed):
        ONE.decode(ASK, raw)


def test_a_batch_that_lacks_one_question_is_malformed_as_a_whole():
    two = Ask(1, Request("s", {"p1": Question("?", {"a": None, "b": None}), "p2": Question("?", {"a": None, "b": None})}))
    with pytest.raises(Malformed, match="p2"):
        ONE.decode(two, b'{"answers":{"p1":{"choice":"a"}}}')
    assert ONE.decode(two, b'{"answers":{"p1":{"choice":"a"},"p2":{"choice":"b"},"x":1}}').choice("p2").returned == "b"


SCALARS = st.none() | st.booleans() | st.floats() | st.text()
JSON_BODIES = st.recursive(SCALARS, lambda s: st.lists(s) | st.dictionaries(st.text(), s)).map(lambda v: json.dumps(v).encode())


@given(st.binary(max_size=200) | JSON_BODIES)
def test_decode_raises_nothing_but_malformed(raw):
    with contextlib.suppress(Malformed):
        ONE.decode(ASK, raw)
