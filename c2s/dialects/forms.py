"""What a model that writes text is shown and how its text is read, by contract (Choice2Seq, A.5, A.7, D.13, E.2-E.6).

direct          one user message with the values; the text is the value, outer ASCII whitespace stripped unless the request says otherwise
code-readout    every option has an uppercase code; the choice is the most probable legal code at the first token
code-generated  the same message; the code is generated, in eight tokens, and nothing is stripped
character       the same message; what is generated is the character that the option's criterion names, and nothing is stripped

The last three have a system message: the request's, else template T0 of the readout.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from c2s.dialects import Malformed
from c2s.dialects.body import confidence, finite
from c2s.dialects.text_answers import read_fields, read_value, rubric, shown_values
from c2s.errors import InputError
from c2s.presentation.option_order import CODES
from c2s.presentation.texts import contracts
from c2s.records import Choice, Question, Request

TOP_LOGPROBS = 20
"""The most that vLLM and OpenAI give."""
SHORT = 8
"""Options of at most so many characters fit the local budget, whatever the tokenizer (ours)."""


class Form(Protocol):
    """A contract: what a model that writes text is shown, and how its text is read."""

    def system(self) -> str | None:
        """The system text of a request that brings none."""
        ...

    def user(self, request: Request) -> dict[str, Any]:
        """The members of the user message, in their order."""
        ...

    def sampling(self, request: Request) -> dict[str, Any]:
        """Members of the body; `max_tokens` always."""
        ...

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        """Choices by question in the text, or in the rest of the response's choice. Raises Malformed."""
        ...


class Direct:
    """The value itself is written."""

    def system(self) -> str | None:
        return None

    def user(self, request: Request) -> dict[str, Any]:
        """The members of the user's message.

        For one question: state, question (with the options' descriptions, where there are any), allowed_values, response_format. For
        several fields: state, field_queries, response_format (the form of a query is ours, not the paper's).
        """
        questions, direct = request.questions, contracts()["direct"]
        if as_fields(request):
            queries = {
                name: {"question": q.instructions, "allowed_values": list(shown_values(q).values())} for name, q in questions.items()
            }
            values: tuple[Any, ...] = (request.state, queries, request.response_format or contracts()["dialogue"]["response_format"])
            return dict(zip(contracts()["dialogue"]["user_keys"], values, strict=True))
        (question,) = questions.values()
        closing = request.response_format or direct["local_response" if symbols(question) else "native_response"]
        return dict(zip(direct["user_keys"], (request.state, rubric(question), list(question.options), closing), strict=True))

    def sampling(self, request: Request) -> dict[str, Any]:
        return {"max_tokens": request.max_tokens or budget(request)}

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        if as_fields(request):
            return read_fields(text, request.questions, truncated=cut)
        ((name, question),) = request.questions.items()
        return {name: read_value(text, {option: option for option in question.options}, truncated=cut, strip=request.strip)}


class _Coded:
    """Ordered choices: a displayed code maps to option_name and criterion. Without a description the option is its own criterion."""

    output = "code"

    def system(self) -> str | None:
        instruction: str = contracts()["readout"][self.output]["T0"]
        return instruction

    def user(self, request: Request) -> dict[str, Any]:
        question, readout = only(request), contracts()["readout"]
        named = {code: {"option_name": option, "criterion": criteria(question)[option]} for option, code in codes(question).items()}
        closing = request.response_format or readout[f"{self.output}_response_format"]
        return dict(zip(readout["user_keys"], (request.state, question.instructions, named, closing), strict=True))

    def sampling(self, request: Request) -> dict[str, Any]:
        return {"max_tokens": request.max_tokens or contracts()["direct"]["max_new_tokens"]["local"]}


class CodeReadout(_Coded):
    """The code is read from the next-token distribution; nothing is written."""

    def sampling(self, request: Request) -> dict[str, Any]:
        return {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP_LOGPROBS}

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        """Probabilities renormalised over the legal codes that the server lists; `mass` is their sum before that."""
        ((name, question),) = request.questions.items()
        bound, listed = codes(question), _first_token(choice)
        mass = sum(listed.get(code, 0.0) for code in bound.values())
        if mass <= 0:
            return {name: Choice(returned=text, offered=False, text=text, mass=0.0, fault="other_invalid")}
        probabilities = {option: listed.get(code, 0.0) / mass for option, code in bound.items()}
        best = max(probabilities, key=probabilities.__getitem__)
        sure = confidence(probabilities[best], len(probabilities))
        return {name: Choice(best, True, best, probabilities, confidence=sure, text=text, mass=mass)}


class CodeGenerated(_Coded):
    """The code is written."""

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        ((name, question),) = request.questions.items()
        return {name: read_value(text, {code: option for option, code in codes(question).items()}, truncated=cut, strip=False)}


class Character(_Coded):
    """The character that the option's description specifies is written."""

    output = "character"

    def read(self, request: Request, text: str, cut: bool, choice: Mapping[str, Any]) -> dict[str, Choice]:
        ((name, question),) = request.questions.items()
        meant = {criterion: option for option, criterion in criteria(question).items()}
        return {name: read_value(text, meant, truncated=cut, strip=False, codes={code: option for option, code in codes(question).items()})}


FORMS: Mapping[str, Form] = {"direct": Direct(), "code-readout": CodeReadout(), "code-generated": CodeGenerated(), "character": Character()}


def codes(question: Question) -> dict[str, str]:
    """Option -> choice code, in displayed order."""
    bound = question.codes or dict(zip(question.options, CODES, strict=False))
    return {option: bound[option] for option in question.options}


def criteria(question: Question) -> dict[str, str]:
    """Option -> what it stands for."""
    return {option: option if text is None else text for option, text in question.options.items()}


def as_fields(request: Request) -> bool:
    """Whether the answer is one JSON object: several questions, or a field even if it is asked alone."""
    return len(request.questions) > 1 or any(question.unit == "field" for question in request.questions.values())


def symbols(question: Question) -> bool:
    """Whether what is asked for is a single character."""
    return question.unit == "character" and all(len(option) == 1 for option in question.options)


def budget(request: Request) -> int:
    """New tokens under `direct` by what is asked: a character or another short option, a whole answer, or the JSON object of fields."""
    limits: dict[str, int] = contracts()["direct"]["max_new_tokens"]
    if as_fields(request):
        return limits["dialogue"]
    (question,) = request.questions.values()
    local = question.unit == "character" and all(len(option) <= SHORT for option in question.options)
    return limits["local" if local else "native"]


def only(request: Request) -> Question:
    """The one question of a request under a code contract. Raises InputError for several, or for more options than codes."""
    if len(request.questions) != 1:
        raise InputError("a choice code answers one question a request")
    (question,) = request.questions.values()
    if not 1 <= len(question.options) <= len(CODES):
        raise InputError(f"choice codes go with 1 to {len(CODES)} options, not {len(question.options)}")
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
