"""Values to exact bytes. The member order of an object is part of the experiment, so it is decided here and only here.

Judge study, section 3 ("insertion" and "sorted" presentations); Choice2Seq, appendix E.1 (canonical JSON state).
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

COMPONENTS = ("outer", "question", "criteria", "state")
"""The objects of a request that `sorted` sorts together and `sorted:NAME` one at a time (ours: the paper left them unseparated)."""

PRESENTATIONS = ("insertion", "sorted", *(f"sorted:{name}" for name in COMPONENTS))


def encode(value: Any, presentation: str = "insertion") -> bytes:
    """Compact UTF-8 JSON: members in insertion order, or (`sorted`) sorted recursively. Raises ValueError on another name.

    For `sorted:NAME` the caller has passed the objects of that name through `arranged`; the others keep their order.
    """
    if presentation == "sorted":
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if presentation in PRESENTATIONS:
        return orjson.dumps(value)
    raise ValueError(f"unknown presentation {presentation!r}; known: {', '.join(PRESENTATIONS)}")


def arranged(component: str, value: Any, presentation: str) -> Any:
    """`value`, an object of the request that goes by this name, as `presentation` wants it: a state is sorted recursively,
    the others are sorted themselves and leave what they hold alone, since that has a name of its own."""
    if presentation != f"sorted:{component}" or not isinstance(value, dict):
        return value
    if component == "state":
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
    return {key: value[key] for key in sorted(value)}


def embedded(state: Any, presentation: str) -> str:
    """A state as the JSON text inside a text model's input; `sorted` sorts it too (judge paper, A.4)."""
    return encode(state, "sorted" if presentation in ("sorted", "sorted:state") else "insertion").decode()


def canonical_state(value: Any) -> str:
    """The canonical JSON string of a state: sorted keys, no spaces, UTF-8 (appendix E.1)."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def body_hash(body: bytes) -> str:
    """SHA-256 of the exact bytes, hexadecimal."""
    return hashlib.sha256(body).hexdigest()


def content_hash(body: bytes) -> str:
    """SHA-256 of the same JSON with sorted keys: equal for requests that differ in member order alone.

    A string that is itself a JSON object or list (a state inside a text model's input) counts by its content, too.
    """
    value = orjson.loads(body)
    if b'"{' in body or b'"[' in body:
        value = _content(value)
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _content(value: Any) -> Any:
    """`value`, which is changed in place, with every string that is a JSON object or list replaced by what it holds.

    One loop, since it runs for every request: most members are nulls and short strings, and cost no call.
    """
    if type(value) is str and value[:1] in _OPENING:
        try:
            return {"json": _content(orjson.loads(value))}
        except orjson.JSONDecodeError:
            return value
    kind = type(value)
    for key, member in value.items() if kind is dict else enumerate(value) if kind is list else ():
        if member is not None and (type(member) in (dict, list) or (type(member) is str and member[:1] in _OPENING)):
            value[key] = _content(member)
    return value


_OPENING = ("{", "[")
