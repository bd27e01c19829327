"""From a chat request to the exact prompt ids, and everything about the template and tokenizer that could spoil them unseen.

A prefill is appended to the rendered prompt after the assistant boundary (Choice2Seq, E.3), and the whole text is tokenised at
once. Every refusal here happens when a model is opened, before its weights are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from c2s.errors import UsageError

PROBE = ({"role": "user", "content": "Which of A and B is the first letter of the alphabet?"},)
HEAD = 8
"""Prompt ids that every response repeats."""


class Unrenderable(Exception):
    """The template cannot show these messages; the message says why."""


@dataclass(frozen=True, slots=True)
class Chat:
    """What a request body asks for."""

    messages: Sequence[Mapping[str, str]]
    prefill: str
    template: Mapping[str, Any]
    max_new: int
    codes: tuple[str, ...] | None
    """The legal codes of a readout, in displayed order; None where text is to be written."""


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    ids: Sequence[int] = field(repr=False)


def read_body(body: bytes) -> Chat:
    """A chat-completions body as c2s writes it. A readout's codes are the names under `choices` in the user's JSON."""
    found = orjson.loads(body)
    messages = list(found["messages"])
    prefill = messages.pop()["content"] if found.get("continue_final_message") else ""
    codes = None
    if found.get("logprobs"):
        codes = tuple(orjson.loads(messages[-1]["content"])["choices"])
    return Chat(messages, prefill, found.get("chat_template_kwargs") or {}, found["max_tokens"], codes)


class Renderer:
    """A tokenizer with its chat template."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def text(self, chat: Chat) -> str:
        """The prompt up to where the assistant's answer begins, and the prefill after it. Raises Unrenderable."""
        return self._render(chat.messages, chat.template) + chat.prefill

    def _render(self, messages: Sequence[Mapping[str, str]], template: Mapping[str, Any]) -> str:
        try:
            text = self.tokenizer.apply_chat_template(list(messages), add_generation_prompt=True, tokenize=False, **template)
        except Exception as error:  # a template is a program: it may raise anything, raise_exception("...") first of all
            raise Unrenderable(f"the chat template does not take these messages: {' '.join(str(error).split())[:200]}") from None
        return str(text)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids as `apply_chat_template(tokenize=True)` gives them: the template writes the special tokens, the tokenizer adds none."""
        return self.tokenizer(list(texts), add_special_tokens=False)["input_ids"] if texts else []

    def prompts(self, chats: Sequence[Chat]) -> list[Prompt | Unrenderable]:
        """One prompt per request, or the reason that there is none."""
        texts: list[str | Unrenderable] = []
        for chat in chats:
            try:
                texts.append(self.text(chat))
            except Unrenderable as error:
                texts.append(error)
        ids = iter(self.ids([text for text in texts if isinstance(text, str)]))
        return [Prompt(text, next(ids)) if isinstance(text, str) else text for text in texts]

    def begins(self, ids: Sequence[int]) -> int:
        """How many BOS tokens a prompt has."""
        bos = self.tokenizer.bos_token_id
        return 0 if bos is None else list(ids).count(bos)

    def decode(self, ids: Sequence[int]) -> str:
        """The text that was written, special tokens shown: nothing is repaired."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def check_template(renderer: Renderer, name: str, *, thinking: bool) -> None:
    """Raises UsageError where the template is absent or broken, hides what the user says, or takes no notice of thinking=off."""
    if not renderer.tokenizer.chat_template:
        raise UsageError(f"{name} has no chat template: its prompts would be ours, not the model's; use an instruction-tuned model")
    try:
        plain = renderer._render(PROBE, {})
        if PROBE[0]["content"] not in plain:
            raise UsageError(f"{name}: its chat template does not show what the user says")
        if not thinking and renderer._render(PROBE, {"enable_thinking": False}) == plain:
            raise UsageError(f"{name}: thinking=off changes nothing in its chat template; leave it away if the model does not think")
    except Unrenderable as error:
        raise UsageError(f"{name}: {error}") from None


def check_bos(renderer: Renderer, name: str) -> None:
    """Raises UsageError where a prompt would begin with BOS twice or lack it, or where our ids are not the template's own."""
    tokenizer = renderer.tokenizer
    (ids,) = renderer.ids([renderer._render(PROBE, {})])
    own = tokenizer.apply_chat_template(list(PROBE), add_generation_prompt=True, tokenize=True, return_dict=False)
    if list(own) != ids:
        raise UsageError(
            f"{name}: its rendered chat template does not tokenise to what apply_chat_template(tokenize=True) gives; "
            "c2s cannot trust its prompts"
        )
    bos = tokenizer.bos_token_id
    if bos is None:
        return
    if ids[:2] == [bos, bos]:
        raise UsageError(f"{name}: its prompts begin with BOS ({tokenizer.bos_token}) twice: the chat template writes it more than once")
    if tokenizer("a")["input_ids"][:1] == [bos] and ids[:1] != [bos]:
        raise UsageError(f"{name}: its tokenizer begins every text with BOS ({tokenizer.bos_token}), but its chat template leaves it out")
