"""`POST /v1/systemone`: typed decisions, as Jev and every compatible server speak it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from c2s.dialects import Malformed
from c2s.dialects.body import answer_of, confidence, finite, object_of, usage_in
from c2s.errors import InputError
from c2s.presentation.encode import arranged, encode
from c2s.records import Answer, Ask, Choice, Question, Usage

MAX_OPTIONS = 255
TOKENS = {"input_tokens": ("input_tokens",), "output_tokens": ("output_tokens",)}


class SystemOne:
    """Named typed questions in, a choice with probabilities for each out."""

    name = "systemone"

    def encode(self, ask: Ask, model: str) -> bytes:
        """Members in the order state, model, questions; a question in the order type, instructions, criteria.

        A single option is allowed here (UnionCall and TrieCall ask for singletons); none, or more than 255, is an InputError.
        """
        order = ask.presentation
        questions = {}
        for name, q in ask.request.questions.items():
            if not 1 <= len(q.options) <= MAX_OPTIONS:
                raise InputError(f"question {name!r} has {len(q.options)} options; System One takes 1 to {MAX_OPTIONS}")
            criteria = arranged("criteria", dict(q.options), order)
            questions[name] = arranged("question", {"type": q.type, "instructions": q.instructions, "criteria": criteria}, order)
        state = arranged("state", ask.request.state, order)
        return encode(arranged("outer", {"state": state, "model": model, "questions": questions}, order), order)

    def decode(self, ask: Ask, raw: bytes) -> Answer:
        body = object_of(raw)
        answers = body.get("answers")
        if not isinstance(answers, dict):
            raise Malformed("the response has no `answers` object")
        choices = {}
        for name, question in ask.request.questions.items():
            if not isinstance(answers.get(name), dict):
                raise Malformed(f"no answer to question {name!r}")
            choices[name] = _choice(name, question, answers[name])
        return answer_of(body, choices, usage_in(body, TOKENS, cost=("cost",)))

    def usage(self, raw: bytes) -> Usage:
        """OpenRouter adds `usage.cost` in USD."""
        return usage_in(raw, TOKENS, cost=("cost",))


def _choice(name: str, question: Question, answer: Mapping[str, Any]) -> Choice:
    returned = answer.get("choice")
    if not isinstance(returned, str):
        raise Malformed(f"the answer to {name!r} has no `choice` string")
    probabilities = _probabilities(name, answer.get("probabilities"))
    argmax = sure = None
    offered = {option: probabilities[option] for option in question.options if option in probabilities} if probabilities else {}
    if offered:
        argmax = max(offered, key=offered.__getitem__)  # max keeps the first: displayed order breaks ties
        sure = confidence(offered[argmax], len(question.options))
    reported = answer.get("confidence")
    return Choice(
        returned=returned,
        offered=returned in question.options,
        argmax=argmax,
        probabilities=probabilities,
        reported_confidence=finite(f"the confidence of {name!r}", reported) if reported is not None else None,
        confidence=sure,
    )


def _probabilities(name: str, value: Any) -> dict[str, float] | None:
    """As reported, not renormalised: sums of 0.99 or 1.01 and exact zeros are normal for a rounding service."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Malformed(f"the probabilities of {name!r} are not an object")
    if all(type(p) is float for p in value.values()) and math.isfinite(sum(value.values())):
        return value
    return {option: finite(f"a probability of {name!r}", p) for option, p in value.items()}
