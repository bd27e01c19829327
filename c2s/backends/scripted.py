"""A model made of your own Python function, for tests and for adapters that c2s does not have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from c2s.backends.base import DECIDES, Call, Exchange
from c2s.backends.registry import take
from c2s.backends.writing import WRITES, chosen_contract
from c2s.errors import UsageError

Script = Callable[[Call], "str | Mapping[str, str] | Exchange"]


class Scripted:
    """Calls `answer(call)`: an option for every question, {question: option}, or a whole `Exchange`; in a chat dialect, the text."""

    dialect = "systemone"
    resend = "safe"
    exact = True
    max_batch = 16
    workers = 0
    lacks: Mapping[str, str] = DECIDES

    def __init__(self, name: str, answer: Script, *, fingerprint: str = "", **attributes: Any) -> None:
        self.name = name
        self.model = "script"
        self._answer = answer
        self.fingerprint: Mapping[str, Any] = {"script": fingerprint or name}
        for key, value in attributes.items():
            setattr(self, key, value)

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            result = self._answer(call)
            if isinstance(result, Exchange):
                yield result
                continue
            if self.dialect.startswith("chat"):
                yield Exchange("ok", orjson.dumps(completion(self.model, result)))
                continue
            questions = call.ask.request.questions
            chosen = {name: result for name in questions} if isinstance(result, str) else result
            answers = {name: {"type": "choice", "choice": option} for name, option in chosen.items()}
            yield Exchange("ok", orjson.dumps({"model": self.model, "answers": answers}))

    def close(self) -> None:
        pass


def completion(model: str, text: str) -> dict[str, Any]:
    """A chat completion that says `text` and ends; a code readout is certain of it."""
    logprobs = {"content": [{"token": text, "top_logprobs": [{"token": text, "logprob": 0.0}]}]}
    return {"model": model, "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": logprobs}]}


def open_script(name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Scripted:
    """`script:FILE.py`: run the file and take its function `answer(call)`, and its `resend` ("safe" or "paid") if it has one. With a
    `contract` (direct, code-readout, code-generated) it is a model that writes text."""
    take(name, options, {})
    path = Path(detail)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"model {name!r}: cannot read {path}: {error.strerror}") from None
    namespace: dict[str, Any] = {"__name__": "c2s_script", "__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), namespace)
    except (Exception, SystemExit) as error:
        raise UsageError(f"model {name!r}: {path} failed: {type(error).__name__}: {error}") from error
    if not callable(namespace.get("answer")):
        raise UsageError(f"model {name!r}: {path} defines no function answer(call)")
    resend = namespace.get("resend", "safe")
    if resend not in ("safe", "paid"):
        raise UsageError(f"model {name!r}: {path} says resend = {resend!r}; it is 'safe' or 'paid'")
    more: dict[str, Any] = {}
    if "contract" in namespace:
        contract, _ = chosen_contract(name, {"contract": namespace["contract"]})
        more = {"dialect": f"chat-{contract}", "lacks": WRITES[contract] | {"tokenizer": "a script has none"}}
    return Scripted(name, namespace["answer"], fingerprint=hashlib.sha256(source).hexdigest(), resend=resend, **more)
