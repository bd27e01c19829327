"""OpenAI's Responses API: the options become the enumeration of a strict JSON schema; there are no probabilities.

The judge study's comparator. Members stand in the order of its wire format; with the "sorted" presentation every object
is sorted recursively, also the JSON inside the input string, while the enumeration keeps its order (appendix A.4).

A request that demands a contract (`c2s/dialects/forms.py`) has no schema: its user message is the input, its system text the instructions,
and the text is read as that contract says. The API takes no budget below 16 tokens, so a smaller one becomes 16 (ours).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from c2s.dialects import Malformed
from c2s.dialects.body import answer_of, object_of, usage_in
from c2s.dialects.forms import FORMS
from c2s.dialects.text_answers import rubric
from c2s.errors import InputError
from c2s.presentation.encode import arranged, embedded, encode
from c2s.records import Answer, Ask, Choice, Contract, Usage

TOKENS = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cached_tokens": ("input_tokens_details", "cached_tokens"),
    "cache_write_tokens": ("input_tokens_details", "cache_write_tokens"),
}


LEAST = 16


class Responses:
    """One categorical verdict by a strict JSON schema, or a text under a contract."""

    name = "responses"

    def encode(self, ask: Ask, model: str) -> bytes:
        if ask.request.contract is not None:
            return encode(arranged("outer", self._written(ask, model, ask.request.contract), ask.presentation), ask.presentation)
        questions = ask.request.questions
        if not all(len(q.options) >= 2 for q in questions.values()):
            raise InputError("a categorical schema needs at least two options")
        state = ask.request.state
        schema = {
            "type": "object",
            "properties": {name: {"type": "string", "enum": list(q.options)} for name, q in questions.items()},
            "required": list(questions),
            "additionalProperties": False,
        }
        label = "judge_verdict" if all(q.unit == "label" for q in questions.values()) else "answer"
        body: dict[str, Any] = {
            "model": model,
            "service_tier": "default",
            "store": False,
            "instructions": "\n\n".join(filter(None, [ask.request.system, *map(rubric, questions.values())])),
            "input": state if isinstance(state, str) else embedded(state, ask.presentation),
            "text": {"format": {"type": "json_schema", "name": label, "strict": True, "schema": schema}},
        }
        if ask.request.max_tokens is not None:
            body["max_output_tokens"] = ask.request.max_tokens
        return encode(arranged("outer", body, ask.presentation), ask.presentation)

    def _written(self, ask: Ask, model: str, contract: Contract) -> dict[str, Any]:
        request = ask.request
        if request.prefill:
            raise InputError("the Responses API goes on from no beginning of an answer")
        form = FORMS[contract]
        system = request.system if request.system is not None else form.system()
        body: dict[str, Any] = {"model": model, "service_tier": "default", "store": False}
        body |= {"instructions": system} if system is not None else {}
        return body | {
            "input": embedded(form.user(request), ask.presentation),
            "max_output_tokens": max(LEAST, form.sampling(request)["max_tokens"]),
        }

    def decode(self, ask: Ask, raw: bytes) -> Answer:
        """A refusal or an incomplete answer is the model's, so it is scored as no offered option; a broken reply is Malformed."""
        body = object_of(raw)
        status = body.get("status")
        if status not in ("completed", "incomplete"):
            error = body.get("error")
            message = error.get("message") if isinstance(error, dict) else None
            raise Malformed(f"the response's status is {status!r}: {str(message)[:200]}")
        text, refused = _output(body)
        if text is None:
            if status == "completed" and not refused:
                raise Malformed("the response has no output text and no refusal")
            text = ""
        cut = status == "incomplete"
        usage = usage_in(body, TOKENS)
        if ask.request.contract is not None:
            read = FORMS[ask.request.contract].read(ask.request, text, cut, {})
            choices = {name: replace(choice, tokens=usage.output_tokens) for name, choice in read.items()}
            return answer_of(body, choices, usage)
        try:
            values = object_of(text.encode())
        except Malformed:
            values = {}
        keys = set(values) == set(ask.request.questions)
        choices = {}
        for name, question in ask.request.questions.items():
            value = values.get(name) if keys else None
            offered = isinstance(value, str) and value in question.options
            choices[name] = Choice(
                returned=value if isinstance(value, str) else text, offered=offered and not cut, text=text, truncated=cut
            )
        return answer_of(body, choices, usage)

    def usage(self, raw: bytes) -> Usage:
        return usage_in(raw, TOKENS)


def _output(body: dict[str, Any]) -> tuple[str | None, bool]:
    """The one output text, and whether there is a refusal."""
    texts: list[str] = []
    refused = False
    output = body.get("output")
    for item in output if isinstance(output, list) else []:
        content = item.get("content") if isinstance(item, dict) and item.get("type") == "message" else None
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and part.get("type") == "output_text" and isinstance(part.get("text"), str):
                texts.append(part["text"])
            refused = refused or (isinstance(part, dict) and part.get("type") == "refusal")
    if len(texts) > 1:
        raise Malformed("the response has more than one output text")
    return (texts[0] if texts else None), refused
