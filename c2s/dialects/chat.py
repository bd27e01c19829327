"""OpenAI-compatible chat completions, as servers and local weights speak them: the same bytes for both.

A dialect has a contract of its own (`direct`, `code-readout` or `code-generated`), and a request may demand another
(`Request.contract`): `c2s/dialects/forms.py` says what each shows, allows and reads. Greedy; with `thinking` off the chat
template is told so. A `prefill` is an assistant message without an end of turn, as vLLM and SGLang take it (Choice2Seq, E.3).

A response may carry a member `c2s` beside the standard ones, for what only local weights know: token ids, prompt ids, counts. It stays
in the recorded bytes; read here is `matched_tokens` alone (appendix D.9).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from c2s.dialects import Malformed
from c2s.dialects.body import answer_of, count, object_of, usage_in
from c2s.dialects.forms import FORMS, Form
from c2s.presentation.encode import arranged, encode
from c2s.records import Answer, Ask, Contract, Request, Usage

TOKENS = {
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("completion_tokens",),
    "cached_tokens": ("prompt_tokens_details", "cached_tokens"),
}
OWN: tuple[Contract, ...] = ("direct", "code-readout", "code-generated")
"""Contracts that a model's name may choose; `character` is for requests that demand it."""


def contract_of(dialect: str, request: Request) -> Contract:
    """The contract of a request under a chat dialect, by the dialect's name."""
    if request.contract is not None:
        return request.contract
    own = dialect.removeprefix("chat-").partition(":")[0]
    return next(contract for contract in OWN if contract == own)


def tokens_out(dialect: str, request: Request) -> int:
    """New tokens that a request allows under a chat dialect."""
    most: int = FORMS[contract_of(dialect, request)].sampling(request)["max_tokens"]
    return most


class Chat:
    """A chat dialect with its contract; `thinking=False` asks the server's template to leave thinking out."""

    def __init__(self, contract: Contract = "direct", *, thinking: bool = True) -> None:
        self.contract, self.thinking = contract, thinking
        self.name = f"chat-{contract}" + ("" if thinking else ":nothink")

    def encode(self, ask: Ask, model: str) -> bytes:
        """Sorted presentations also sort the JSON inside the user message: its members are the outer request's, its state is the state."""
        order = ask.presentation
        request = replace(ask.request, state=arranged("state", ask.request.state, order))
        form = self._form(request)
        system = request.system if request.system is not None else form.system()
        messages = [{"role": "system", "content": system}] if system is not None else []
        messages.append({"role": "user", "content": encode(arranged("outer", form.user(request), order), order).decode()})
        body: dict[str, Any] = {"model": model, "messages": messages, "temperature": 0} | form.sampling(request)
        if request.prefill:  # an empty one is the assistant boundary itself
            messages.append({"role": "assistant", "content": request.prefill})
            body |= {"continue_final_message": True, "add_generation_prompt": False}
        if not self.thinking:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return encode(arranged("outer", body, order), order)

    def decode(self, ask: Ask, raw: bytes) -> Answer:
        body = object_of(raw)
        listed = body.get("choices")
        if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
            raise Malformed("the response has no `choices`")
        first = listed[0]
        message = first.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(text, str):
            if text is not None or not isinstance(message, dict):
                raise Malformed("the response's message has no `content` text")
            text = ""  # a refusal, or nothing at all: the model's answer, not a broken reply
        read = self._form(ask.request).read(ask.request, text, first.get("finish_reason") == "length", first)
        own = body.get("c2s")
        matched = count(own.get("matched_tokens")) if isinstance(own, dict) and ask.matches is not None else None
        usage = usage_in(body, TOKENS, cost=("cost",))
        choices = {name: replace(choice, tokens=usage.output_tokens) for name, choice in read.items()}
        return answer_of(body, choices, usage, matched)

    def usage(self, raw: bytes) -> Usage:
        return usage_in(raw, TOKENS, cost=("cost",))

    def _form(self, request: Request) -> Form:
        return FORMS[contract_of(self.name, request)]
