"""A simulated model that writes text, with one declared habit.

It speaks the chat dialect and reads the exact bytes that a server would get.

It knows what is right (the ask's truth) and writes it as its contract wants it; the habit says how that text is changed. Its tokens are
a toy's: words in pieces of six letters, digits in threes, punctuation in fours.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import orjson

from c2s.backends.base import Call, Exchange
from c2s.backends.registry import take
from c2s.backends.simulated.decisions import COMMON, Simulated, uniform
from c2s.backends.writing import WRITES, chosen_contract, matched_tokens
from c2s.dialects.chat import contract_of
from c2s.dialects.forms import as_fields, codes, criteria
from c2s.dialects.text_answers import shown_values
from c2s.errors import UsageError, nearest
from c2s.records import Contract, Question

HABITS: Mapping[str, str] = {
    "plain": "writes what is right",
    "wrong": "writes another listed value",
    "bound_code": "answers the right option's code where its character is asked for",
    "other_code": "answers another option's code where a character is asked for",
    "code_under_t2": "answers the bound code under the third wording alone",
    "full_stop": "adds a full stop",
    "upper_case": "writes in upper case",
    "spaced": "begins with a space",
    "wordy": "puts the answer into a sentence",
    "aloud": "thinks aloud before it answers",
    "silent": "writes nothing",
    "stops_early": "leaves the last character out",
    "speller": "copies well and answers whole, but spells badly: single characters that it has to solve come out wrong",
    "restarts": "begins the answer again, whatever it has already written",
    "needs_index": "copies and reads well only with a position table",
}
_PIECES = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^\w\s]{1,4}|\s{1,4}|.", re.DOTALL)
_SURE = 0.9


def pieces(text: str) -> list[str]:
    """The toy's tokens."""
    return _PIECES.findall(text)


class Writer(Simulated):
    """Options: habit (plain), share of the parents at which it shows (1), contract, thinking."""

    spec: ClassVar[Mapping[str, type]] = {"habit": str, "share": float, "contract": str, "thinking": str}
    tokenizer = "toy 1"

    def __init__(self, name: str, options: dict[str, Any], common: Mapping[str, Any]) -> None:
        super().__init__(name, options, common)
        self.habit, self.share = options.get("habit", "plain"), options.get("share", 1.0)
        if self.habit not in HABITS:
            raise UsageError(f"model {name!r}: no habit {self.habit!r}{nearest(self.habit, list(HABITS))}; known: {', '.join(HABITS)}")
        if not 0 <= self.share <= 1:
            raise UsageError(f"model {name!r}: share is between 0 and 1")
        contract, thinking = chosen_contract(name, options)
        self.lacks = WRITES[contract]
        self.dialect = f"chat-{contract}" + ("" if thinking else ":nothink")
        self.fingerprint = {
            "simulation": self.model,
            "options": {"habit": self.habit, "share": self.share, "contract": contract, "seed": self.seed},
        }

    @classmethod
    def open(cls, name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Writer:
        return cls(name, take(name, options, {**COMMON, **cls.spec}), common)

    def rendered_tokens(self, body: bytes) -> int:
        """Tokens of the messages with a mark around each, and of the assistant boundary."""
        messages = orjson.loads(body)["messages"]
        return sum(len(pieces(m["content"])) + 2 for m in messages) + 1

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            began = time.time()
            if self.delay:
                time.sleep(self.delay)
            yield Exchange("ok", orjson.dumps(self._respond(call)), began=began, ended=time.time())

    def _respond(self, call: Call) -> dict[str, Any]:
        body = orjson.loads(call.body)
        contract = contract_of(self.dialect, call.ask.request)
        full = self._text(call, contract, "\n".join(message["content"] for message in body["messages"]))
        written = pieces(full)
        cut = len(written) >= body["max_tokens"]  # the end is a token, too
        text = "".join(written[: body["max_tokens"]])
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "length" if cut else "stop",
        }
        if contract == "code-readout":
            choice["logprobs"] = {"content": [{"token": text, "top_logprobs": self._distribution(call, text)}]}
        usage = {"prompt_tokens": self.rendered_tokens(call.body), "completion_tokens": min(len(written) + 1, body["max_tokens"])}
        return {"model": self.model, "choices": [choice], "usage": usage} | ({"c2s": own} if (own := matched_tokens(self, call)) else {})

    def _distribution(self, call: Call, best: str) -> list[dict[str, Any]]:
        (question,) = call.ask.request.questions.values()
        legal = list(codes(question).values())
        rest = (1 - _SURE) / len(legal)
        return [{"token": code, "logprob": math.log(_SURE if code == best else rest)} for code in legal]

    # --- what it writes ----------------------------------------------------------------------------------------------

    def _text(self, call: Call, contract: Contract, shown: str) -> str:
        request, truth = call.ask.request, call.ask.truth
        habit = self.habit if uniform(self.seed, call.parent.id, "habit") < self.share else "plain"
        if as_fields(request):
            fields = {name: shown_values(q)[self._option(habit, name, q, truth[name], shown)] for name, q in request.questions.items()}
            return _with_habit(habit, orjson.dumps(fields).decode())
        ((name, question),) = request.questions.items()
        right = truth[name]
        if request.prefill is not None and habit == "restarts":
            return call.parent.target
        if request.prefill is not None and right not in question.options:  # the rest of an answer that has begun
            return _with_habit(habit, right)
        option = self._option(habit, name, question, right, shown)
        if contract == "direct":
            return _with_habit(habit, option)
        bound = codes(question)
        if contract == "character":
            if habit == "bound_code" or (habit == "code_under_t2" and "answers the question. Reply" in shown):
                return bound[right]
            if habit == "other_code":
                return next(code for o, code in bound.items() if o != right)
            return _with_habit(habit, criteria(question)[option])
        return _with_habit(habit, bound[option])

    def _option(self, habit: str, name: str, question: Question, right: str, shown: str) -> str:
        copying, alone = "copy_target" in shown, question.unit == "character"
        bad = habit == "wrong" or (habit == "speller" and alone and not copying)
        bad = bad or (habit == "needs_index" and copying and "indexed_characters" not in shown)
        return next((o for o in question.options if o != right), right) if bad else right


def _with_habit(habit: str, text: str) -> str:
    if habit == "full_stop":
        return text + "."
    if habit == "upper_case":
        return text.upper()
    if habit == "spaced":
        return " " + text
    if habit == "wordy":
        return f"It is {text}"
    if habit == "aloud":
        return f"Let me see what the question asks for. The answer is {text}"
    if habit == "silent":
        return ""
    if habit == "stops_early":
        return text[:-1]
    return text
