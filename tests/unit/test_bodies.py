"""The short cuts that every request and response takes, against slow readings of the same rules."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.dialects import Malformed
from c2s.dialects.body import object_of
from c2s.dialects.systemone import SystemOne
from c2s.presentation.encode import content_hash
from c2s.records import Ask, Question, Request

TEXT = st.text(st.sampled_from('ab:{}[]",\\u é\n'), max_size=6)
LEAF = st.none() | st.booleans() | st.integers(-99, 99) | TEXT
PAIRS = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(TEXT, inner), max_size=4).map(tuple), max_leaves=12
)
"""JSON values whose objects are tuples of pairs, so that a name may stand twice."""


def written(value: Any, ascii_only: bool, gap: str) -> str:
    if isinstance(value, tuple):
        members = [f"{json.dumps(name, ensure_ascii=ascii_only)}{gap}:{gap}{written(member, ascii_only, gap)}" for name, member in value]
        return "{" + f",{gap}".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(member, ascii_only, gap) for member in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


def repeats(value: Any) -> bool:
    if isinstance(value, tuple):
        names = [name for name, _ in value]
        return len(set(names)) < len(names) or any(repeats(member) for _, member in value)
    return isinstance(value, list) and any(map(repeats, value))


@given(st.lists(st.tuples(TEXT, PAIRS), max_size=4).map(tuple), st.booleans(), st.sampled_from(["", " ", "\n\t"]))
def test_a_name_that_stands_twice_is_refused_and_nothing_else_is(value: Any, ascii_only: bool, gap: str) -> None:
    raw = written(value, ascii_only, gap).encode()
    if repeats(value):
        with pytest.raises(Malformed, match="same name twice"):
            object_of(raw)
    else:
        assert object_of(raw) == json.loads(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1,"a":2}',
        b'{"a":1,"\\u0061":2}',
        b'{"a":{"b":1,"b":1}}',
        b'{"a:":":","a":1,"a":"\\u003a"}',
        b'[{"a":1}]',
        b"{} {}",
        b'{"a":1',
        b"nul",
    ],
)
def test_bodies_that_are_refused(raw: bytes) -> None:
    with pytest.raises(Malformed):
        object_of(raw)


@pytest.mark.parametrize("depth", [100, 300, 900, 5_000, 200_000])
def test_deep_nesting_is_read_or_malformed_and_nothing_else(depth: int) -> None:
    raw = b'{"answers":' + b"[" * depth + b"]" * depth + b"}"
    try:
        assert list(object_of(raw)) == ["answers"]
    except Malformed as error:
        assert depth > 100 and "not JSON" in str(error)
    with pytest.raises(Malformed):
        object_of(raw[:-1] + b',"answers":1}')


def slow_content(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: slow_content(member) for key, member in value.items()}
    if isinstance(value, list):
        return [slow_content(member) for member in value]
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return {"json": slow_content(orjson.loads(value))}
        except orjson.JSONDecodeError:
            return value
    return value


NESTED = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=12)


@given(st.dictionaries(TEXT, NESTED | NESTED.map(lambda value: orjson.dumps(value).decode()), max_size=4))
def test_content_hash_reads_strings_that_are_json(value: dict[str, Any]) -> None:
    expected = hashlib.sha256(orjson.dumps(slow_content(value), option=orjson.OPT_SORT_KEYS)).hexdigest()
    assert content_hash(orjson.dumps(value)) == expected
    assert content_hash(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)) == expected


@pytest.mark.parametrize("sick", ["1e999", "true", '"0.5"', "null"])
def test_a_probability_that_is_no_finite_number_is_malformed(sick: str) -> None:
    ask = Ask(1, Request("s", {"answer": Question("i", {"a": None, "b": None})}))
    raw = f'{{"answers":{{"answer":{{"choice":"a","probabilities":{{"a":0.5,"b":{sick}}}}}}}}}'
    with pytest.raises(Malformed):
        SystemOne().decode(ask, raw.encode())


def test_integers_among_the_probabilities_are_read_as_numbers() -> None:
    ask = Ask(1, Request("s", {"answer": Question("i", {"a": None, "b": None})}))
    raw = b'{"answers":{"answer":{"choice":"a","probabilities":{"a":1,"b":0}}}}'
    probabilities = SystemOne().decode(ask, raw).choice().probabilities
    assert probabilities == {"a": 1.0, "b": 0.0} and all(type(p) is float for p in probabilities.values())
