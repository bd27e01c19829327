"""`POST /v1/systemone`: typed decisions, as Jev and every compatible server speak it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from c2s.dialects import Malformed
from c2s.presentation.encode import arranged, encode
from c2s.records import Answer, Ask, Choice, Question


class SystemOne:
    name = "systemone"

    def encode(self, ask: Ask, model: str) -> bytes:
        """Members in the order state, model, questions; a question in the order type, instructions, criteria."""
        order = ask.presentation
        questions = {
            name: arranged(
                "question", {"type": q.type, "instructions": q.instructions, "criteria": arranged("criteria", dict(q.options), order)}, order
            )
            for name, q in ask.request.questions.items()
        }
        state = arranged("state", ask.request.state, order)
        return encode(arranged("outer", {"state": state, "model": model, "questions": questions}, order), order)

    def decode(self, ask: Ask, raw: bytes) -> Answer:
        body = _object(raw)
        answers = body.get("answers")
        if not isinstance(answers, dict):
            raise Malformed("the response has no `answers` object")
        choices = {}
        for name, question in ask.request.questions.items():
            if not isinstance(answers.get(name), dict):
                raise Malformed(f"no answer to question {name!r}")
            choices[name] = _choice(name, question, answers[name])
        usage = body.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        model = body.get("model")
        return Answer(
            choices,
            model=model if isinstance(model, str) else None,
            input_tokens=_tokens(usage.get("input_tokens")),
            output_tokens=_tokens(usage.get("output_tokens")),
        )


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except (orjson.JSONDecodeError, RecursionError) as error:
        raise Malformed(f"the response is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Malformed(f"the response is a JSON {type(body).__name__}, not an object")
    return body


def _choice(name: str, question: Question, answer: Mapping[str, Any]) -> Choice:
    returned = answer.get("choice")
    if not isinstance(returned, str):
        raise Malformed(f"the answer to {name!r} has no `choice` string")
    probabilities = _probabilities(name, answer.get("probabilities"))
    argmax = confidence = None
    offered = [option for option in question.options if probabilities and option in probabilities]
    if offered:
        argmax = max(offered, key=probabilities.__getitem__)  # max keeps the first: displayed order breaks ties
        n = len(question.options)
        confidence = (probabilities[argmax] - 1 / n) / (1 - 1 / n) if n > 1 else 1.0
    reported = answer.get("confidence")
    return Choice(
        returned=returned,
        offered=returned in question.options,
        argmax=argmax,
        probabilities=probabilities,
        reported_confidence=_finite(name, "confidence", reported) if reported is not None else None,
        confidence=confidence,
    )


def _probabilities(name: str, value: Any) -> dict[str, float] | None:
    """As reported, not renormalised: sums of 0.99 or 1.01 and exact zeros are normal for a rounding service."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Malformed(f"the probabilities of {name!r} are not an object")
    return {option: _finite(name, "probability", p) for option, p in value.items()}


def _finite(name: str, what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Malformed(f"a {what} of {name!r} is not a finite number")
    return float(value)


def _tokens(value: Any) -> int | None:
    """Zero or absent usage is not reported, never free."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
