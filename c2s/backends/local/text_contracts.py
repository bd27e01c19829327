"""The chat contracts on local weights: direct text and generated codes greedily, code readout from the next-token distribution.

Bodies and answers are those of `chat:`, so dialects, panels and verify need nothing new. Log-probabilities are over the whole
vocabulary in full precision, for exactly the legal codes; their sum is the mass that the contract records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from c2s.backends.base import Call
from c2s.backends.local.codes import Boundary, Merged
from c2s.backends.local.model import Local, Opened, Refused, seen
from c2s.backends.local.prompts import PROBE, Chat, Prompt, read_body
from c2s.backends.writing import WRITES, matched_tokens
from c2s.errors import UsageError
from c2s.presentation.option_order import CODES

if TYPE_CHECKING:
    from c2s.backends.local.engine import Generated, Scores


@dataclass(frozen=True, slots=True)
class TextJob:
    """A chat request with its rendered prompt; `code_ids` are the token ids of a readout's codes, in displayed order."""

    chat: Chat
    prompt: Prompt
    code_ids: tuple[int, ...] = ()

    @property
    def prompts(self) -> Sequence[Prompt]:
        return (self.prompt,)


class Writer(Local[TextJob]):
    """Local weights under a chat contract."""

    def __init__(self, opened: Opened, contract: str, thinking: bool) -> None:
        self.dialect = f"chat-{contract}" + ("" if thinking else ":nothink")
        self.lacks = WRITES[contract]
        self.template: Mapping[str, bool] = {} if thinking else {"enable_thinking": False}
        self._boundary = Boundary(opened.renderer)
        where = opened.checkpoint.source.name
        if contract == "code-readout":
            check_codes(opened, self._boundary, self.template)
        elif not opened.checkpoint.ends:
            raise UsageError(
                f"{where} names no token that ends a text, so a written answer could never stop; contract=code-readout needs none"
            )
        super().__init__(opened, {"contract": contract, "thinking": thinking})

    def prepare(self, bodies: Sequence[bytes]) -> Sequence[TextJob | Refused]:
        chats = [read_body(body) for body in bodies]
        return [self._job(chat, prompt) for chat, prompt in zip(chats, self.renderer.prompts(chats), strict=True)]

    def _job(self, chat: Chat, prompt: Prompt | Exception) -> TextJob | Refused:
        if not isinstance(prompt, Prompt):
            return Refused(str(prompt))
        try:
            ids = self._boundary.ids(prompt, chat.codes) if chat.codes is not None else ()
        except Merged as error:
            return Refused(str(error))
        return self.fits(prompt, chat.max_new) or TextJob(chat, prompt, ids)

    def answer(self, jobs: Sequence[TextJob]) -> Sequence[dict[str, Any]]:
        read = [job for job in jobs if job.chat.codes is not None]
        write = [job for job in jobs if job.chat.codes is None]
        scores = iter(self.loaded.logits([j.prompt.ids for j in read], [j.code_ids for j in read]) if read else ())
        texts = iter(self.loaded.generate([j.prompt.ids for j in write], [j.chat.max_new for j in write]) if write else ())
        return [
            self._text(job, next(texts)) if (codes := job.chat.codes) is None else self._readout(job, codes, next(scores)) for job in jobs
        ]

    def _readout(self, job: TextJob, codes: tuple[str, ...], scores: Scores) -> dict[str, Any]:
        logs = scores.log_probabilities.tolist()
        listed = [{"token": code, "logprob": log} for code, log in zip(codes, logs, strict=True)]
        best = max(listed, key=lambda entry: entry["logprob"])  # the first of equals: displayed order
        facts = seen(self.renderer, job.prompt, 1) | {"code_ids": list(job.code_ids)}
        return self._completion(job, best["token"], "length", 1, facts, {"content": [best | {"top_logprobs": listed}]})

    def _text(self, job: TextJob, made: Generated) -> dict[str, Any]:
        ids, cut = list(made.ids), made.finish == "length"
        text = self.renderer.decode(ids if cut else ids[:-1])
        facts = seen(self.renderer, job.prompt, len(ids), cut=cut) | {"token_ids": ids, "prompt_ids": list(job.prompt.ids)}
        if "<think>" in text:
            facts["think_block"] = "empty" if not text.partition("<think>")[2].partition("</think>")[0].strip() else "filled"
        return self._completion(job, text, made.finish, len(ids), facts, None)

    def _completion(self, job: TextJob, text: str, finish: str, new: int, facts: dict[str, Any], logprobs: Any) -> dict[str, Any]:
        before = len(job.prompt.ids)
        return {
            "object": "chat.completion",
            "model": self.model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": logprobs, "finish_reason": finish}],
            "usage": {"prompt_tokens": before, "completion_tokens": new, "total_tokens": before + new},
            "c2s": facts,
        }

    def beside(self, call: Call) -> Mapping[str, Any]:
        return matched_tokens(self, call)

    def rendered_tokens(self, body: bytes) -> int:
        """Tokens of the prompt that a request renders to. Raises UsageError where the template does not take it."""
        (prompt,) = self.renderer.prompts([read_body(body)])
        if not isinstance(prompt, Prompt):
            raise UsageError(f"model {self.name!r}: {prompt}")
        return len(prompt.ids)


def check_codes(opened: Opened, boundary: Boundary, template: Mapping[str, Any]) -> None:
    """Raises UsageError where the 26 codes are not single and distinct tokens behind the assistant boundary."""
    (prompt,) = opened.renderer.prompts([Chat(PROBE, "", template, 1, None)])
    if not isinstance(prompt, Prompt):
        raise UsageError(f"{opened.checkpoint.source.name}: {prompt}")
    try:
        boundary.ids(prompt, CODES)
    except Merged as error:
        raise UsageError(
            f"{opened.checkpoint.source.name}: {error}; choice codes cannot be read from this model, use contract=direct"
        ) from None
