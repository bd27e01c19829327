"""OpenAI-compatible chat completions: direct text, and code readout where the server offers log-probabilities.

Direct (Choice2Seq, A.7 and appendix E): one user message, a JSON object with the contract's keys in the contract's order;
greedy; budgets by unit. Code readout: every option gets one uppercase letter, and the choice is the most probable legal
code at the first token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from c2s.dialects import Malformed
from c2s.dialects.body import confidence, finite, object_of, text_or_none, usage_in
from c2s.dialects.text import read_fields, read_value, rubric, shown_values
from c2s.errors import InputError
from c2s.presentation.contracts import contracts
from c2s.presentation.encode import arranged, encode
from c2s.records import Answer, Ask, Choice, Question, Request, Usage

TOKENS = {
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("completion_tokens",),
    "cached_tokens": ("prompt_tokens_details", "cached_tokens"),
}
CODES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TOP_LOGPROBS = 20
"""The most that vLLM and OpenAI give."""


class _Chat:
    contract = ""

    def __init__(self, thinking: bool = True) -> None:
        self.thinking = thinking
        self.name = f"chat-{self.contract}" + ("" if thinking else ":nothink")

    def encode(self, ask: Ask, model: str) -> bytes:
        """Sorted presentations also sort the JSON inside the user message: its members are the outer request's, its state is the state."""
        order = ask.presentation
        request = replace(ask.request, state=arranged("state", ask.request.state, order))
        user = encode(arranged("outer", self.user(request), order), order).decode()
        messages = [{"role": "system", "content": request.system}] if request.system is not None else []
        body: dict[str, Any] = {"model": model, "messages": [*messages, {"role": "user", "content": user}], "temperature": 0}
        body |= self.sampling(request)
        if not self.thinking:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return encode(arranged("outer", body, order), order)

    def decode(self, ask: Ask, raw: bytes) -> Answer:
        body = object_of(raw)
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise Malformed("the response has no `choices`")
        first = choices[0]
        message = first.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(text, str):
            if text is not None or not isinstance(message, dict):
                raise Malformed("the response's message has no `content` text")
            text = ""  # a refusal, or nothing at all: the model's answer, not a broken reply
        cut = first.get("finish_reason") == "length"
        return Answer(self.read(ask.request, text, cut, first), model=text_or_none(body.get("model")), usage=usage_in(body, TOKENS, cost=("cost",)))

    def usage(self, raw: bytes) -> Usage:
        return usage_in(raw, TOKENS, cost=("cost",))

    def user(self, request: Request) -> dict[str, Any]:
        raise NotImplementedError

    def sampling(self, request: Request) -> dict[str, Any]:
        raise NotImplementedError

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        raise NotImplementedError


class ChatDirect(_Chat):
    contract = "direct"

    def user(self, request: Request) -> dict[str, Any]:
        """state, question (with the options' descriptions, where there are any), allowed_values, response_format; fields: state, field_queries,
        response_format (the form of a query is ours)."""
        questions = request.questions
        if as_fields(request):
            queries = {name: {"question": q.instructions, "allowed_values": list(shown_values(q).values())} for name, q in questions.items()}
            values: tuple[Any, ...] = (request.state, queries, request.response_format or contracts()["dialogue"]["response_format"])
            return dict(zip(contracts()["dialogue"]["user_keys"], values, strict=True))
        (question,) = questions.values()
        direct = contracts()["direct"]
        closing = request.response_format or direct["local_response" if question.unit == "character" else "native_response"]
        return dict(zip(direct["user_keys"], (request.state, rubric(question), list(question.options), closing), strict=True))

    def sampling(self, request: Request) -> dict[str, Any]:
        return {"max_tokens": request.max_tokens or budget(request)}

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        if as_fields(request):
            return read_fields(text, request.questions, truncated=cut)
        ((name, question),) = request.questions.items()
        return {name: read_value(text, question.options, truncated=cut)}


class ChatCode(_Chat):
    contract = "code"

    def user(self, request: Request) -> dict[str, Any]:
        question = _only(request)
        choices = {code: {"option_name": option, "criterion": text} for code, (option, text) in zip(CODES, question.options.items())}
        readout = contracts()["readout"]
        values = (request.state, question.instructions, choices, request.response_format or readout["code_response_format"])
        return dict(zip(readout["user_keys"], values, strict=True))

    def sampling(self, request: Request) -> dict[str, Any]:
        return {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP_LOGPROBS}

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        """Probabilities renormalised over the legal codes that the server lists; `mass` is their sum before that."""
        ((name, question),) = request.questions.items()
        options = list(question.options)
        listed = _first_token(choice)
        mass = sum(listed.get(code, 0.0) for code in CODES[: len(options)])
        if mass <= 0:
            return {name: Choice(returned=text, offered=False, text=text, mass=0.0)}
        probabilities = {option: listed.get(code, 0.0) / mass for code, option in zip(CODES, options)}
        best = max(options, key=probabilities.__getitem__)
        sure = confidence(probabilities[best], len(options))
        return {name: Choice(best, True, best, probabilities, confidence=sure, text=text, mass=mass)}


def as_fields(request: Request) -> bool:
    """Whether the answer is one JSON object: several questions, or a field even if it is asked alone."""
    return len(request.questions) > 1 or any(question.unit == "field" for question in request.questions.values())


def budget(request: Request) -> int:
    """New tokens by what is asked: a character, a whole answer, or the JSON object of fields."""
    limits = contracts()["direct"]["max_new_tokens"]
    if as_fields(request):
        return limits["dialogue"]
    (question,) = request.questions.values()
    return limits["local" if question.unit == "character" else "native"]


def _only(request: Request) -> Question:
    if len(request.questions) != 1:
        raise InputError("code readout takes one question a request")
    (question,) = request.questions.values()
    if not 2 <= len(question.options) <= len(CODES):
        raise InputError(f"code readout takes 2 to {len(CODES)} options, not {len(question.options)}")
    return question


def _first_token(choice: Mapping[str, Any]) -> dict[str, float]:
    """Probability of each listed first token. Raises Malformed where the server gave no log-probabilities."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    top = first.get("top_logprobs") if isinstance(first, dict) else None
    if not isinstance(top, list):
        raise Malformed("the response has no `top_logprobs`; this server offers no code readout: use contract=direct")
    found: dict[str, float] = {}
    for entry in top:
        if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
            raise Malformed("an entry of `top_logprobs` has no token")
        value = entry.get("logprob")
        p = math.exp(min(0.0, finite("a log-probability", value)))
        found[entry["token"]] = found.get(entry["token"], 0.0) + p
    return found
