"""Values to exact bytes. The member order of an object is part of the experiment, so it is decided here and only here.

Judge study, section 3 ("insertion" and "sorted" presentations); Choice2Seq, appendix E.1 (canonical JSON state).
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

PRESENTATIONS = ("insertion", "sorted")


def encode(value: Any, presentation: str = "insertion") -> bytes:
    """Compact UTF-8 JSON: members in insertion order, or sorted recursively. Raises ValueError on another name."""
    if presentation == "insertion":
        return orjson.dumps(value)
    if presentation == "sorted":
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    raise ValueError(f"unknown presentation {presentation!r}; known: {', '.join(PRESENTATIONS)}")


def canonical_state(value: Any) -> str:
    """The canonical JSON string of a state: sorted keys, no spaces, UTF-8 (appendix E.1)."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def body_hash(body: bytes) -> str:
    """SHA-256 of the exact bytes, hexadecimal."""
    return hashlib.sha256(body).hexdigest()


def content_hash(body: bytes) -> str:
    """SHA-256 of the same JSON with sorted keys: equal for requests that differ in member order alone."""
    return hashlib.sha256(orjson.dumps(orjson.loads(body), option=orjson.OPT_SORT_KEYS)).hexdigest()
