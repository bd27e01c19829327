"""Reading response bodies strictly: one JSON object, every name once, numbers that are numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from c2s.dialects import Malformed
from c2s.records import Answer, Choice, Usage


def object_of(raw: bytes) -> dict[str, Any]:
    """The JSON object in a body. orjson refuses NaN, lone surrogates and deep nesting; a name that occurs twice is refused here."""
    try:
        body = orjson.loads(raw)
        if not _plainly_once(raw, body):
            _STRICT.decode(raw.decode())
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the response is not JSON: {str(error)[:200]}") from None
    if not isinstance(body, dict):
        raise Malformed(f"the response is a JSON {type(body).__name__}, not an object")
    return body


def _plainly_once(raw: bytes, body: Any) -> bool:
    """Whether counting colons shows that no name occurs twice; False decides nothing.

    Written again without what a repeated name hides, a body loses at least the colon after that name, and no string gains one
    as long as none is written as an escape.
    """
    try:
        return b"\\u" not in raw and orjson.dumps(body).count(b":") == raw.count(b":")
    except TypeError:  # orjson writes less deep nesting than it reads
        return False


def _once(pairs: Sequence[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("an object has the same name twice")


_STRICT = json.JSONDecoder(object_pairs_hook=_once)


def usage_in(body: Any, names: Mapping[str, tuple[str, ...]], cost: tuple[str, ...] = ()) -> Usage:
    """Token counts by the paths under `usage`; whatever is not a positive count is None. `body` is a parsed one, or bytes. Never raises."""
    if isinstance(body, bytes):
        try:
            body = orjson.loads(body)
        except ValueError:
            return Usage()
    found = body.get("usage") if isinstance(body, dict) else None
    price = _at(found, cost) if cost else None
    counts = {name: count(_at(found, path)) for name, path in names.items()}
    return Usage(**counts, cost_usd=_positive(price))


def _positive(value: Any) -> float | None:
    sound = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    return float(value) if sound else None


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def count(value: Any) -> int | None:
    """A count as an integer; some servers write 120.0. SQLite holds 63 bits, and no request has so many tokens."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 2**53 or value != int(value):
        return None
    return int(value)


def finite(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Malformed(f"{what} is not a finite number")
    return float(value)


def answer_of(body: Mapping[str, Any], choices: Mapping[str, Choice], usage: Usage, matched_tokens: int | None = None) -> Answer:
    """The answer with what every protocol's response says of itself: its model, its id, the fingerprint of the system."""
    model, response_id, fingerprint = (
        value if isinstance(value := body.get(key), str) else None for key in ("model", "id", "system_fingerprint")
    )
    return Answer(choices, model, usage, matched_tokens, response_id, fingerprint)


def confidence(top: float, n: int) -> float:
    """(m - 1/n) / (1 - 1/n) for the largest probability m of n options."""
    return (top - 1 / n) / (1 - 1 / n) if n > 1 else 1.0
