"""Sparrow in process: what is spared and kept between requests changes no token and no byte of an answer."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.backends.base import Call
from c2s.dialects.systemone import SystemOne
from c2s.records import Ask, Parent, Question, Request, Slot

sparrow_decider = pytest.importorskip("sparrow_decider", reason="needs sparrow-decider")


def asks() -> list[Ask]:
    digits, letters = dict.fromkeys("3141592687"[:8]), dict.fromkeys("qwertz", "a letter") | {"é": "x: 3"}
    states = ['{"problem":"39 × 15 = ?"}', {"battery": "6%"}, "a" * 3000, "", *(f"state {n}" for n in range(40))]
    return [
        Ask(1, Request(state, {"one": Question(f"Which, number {n % 3}?", digits), "two": Question("And here?", letters)}))
        for n, state in enumerate(states * 2)
    ]


def test_kept_vectors_change_nothing() -> None:
    from c2s.backends.local.sparrow import Sparrow

    plain, wire = sparrow_decider.Decider.load(), SystemOne()
    slot, parent = Slot("main", "p", "native", 0, 1), Parent("p", "math", 3, {})
    bodies = [wire.encode(ask, "sparrow") for ask in asks()]
    came = list(Sparrow("sparrow").call([Call(slot, parent, ask, body) for ask, body in zip(asks(), bodies, strict=True)]))
    for body, exchange in zip(bodies, came, strict=True):
        request = orjson.loads(body)
        answers = orjson.loads(exchange.raw)["answers"]
        assert answers == orjson.loads(orjson.dumps(plain.ask(request["state"], request["questions"]), option=orjson.OPT_SERIALIZE_NUMPY))


@pytest.fixture(scope="module")
def tokenizers():
    from c2s.backends.local.sparrow import Sparrow

    return sparrow_decider.Decider.load().static.tok, Sparrow("sparrow")._decider.static.tok


def test_every_character_is_read_alike(tokenizers):
    plain, ours = tokenizers
    for c in map(chr, range(0x400)):
        for text in (c, f"a{c}b", f"A {c}{c} .", f"ÀÉ{c}"):
            assert ours.encode(text) == plain.encode(text)


@given(
    text=st.text(st.characters(max_codepoint=0x17F) | st.sampled_from("Σσς漢\u0301\ufffd\u2028 \n\t"), max_size=200),
    longest=st.integers(1, 20),
)
def test_every_text_is_read_alike(text: str, longest: int, tokenizers):
    plain, ours = tokenizers
    assert ours.encode(text, longest) == plain.encode(text, longest)
    assert ours.encode(text * 30) == plain.encode(text * 30)


def test_another_version_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    from c2s.backends.local.sparrow import Sparrow

    monkeypatch.setattr(sparrow_decider, "__version__", "0.3.0")
    assert "encode" not in vars(Sparrow("sparrow")._decider.static.tok)
