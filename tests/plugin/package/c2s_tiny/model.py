"""A model that draws every answer from the bytes of its request."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import orjson

from c2s.backends.base import DECIDES, Call, Exchange
from c2s.backends.registry import take
from c2s.errors import UsageError
from c2s.plugins import Entry

TINY = Entry("tiny:SEED", "draws every answer from the bytes of its request", "nothing", "c2s_tiny.model:Tiny")


class Tiny:
    dialect = "systemone"
    resend: Literal["safe", "paid"] = "safe"
    exact = True
    simulation = True
    max_batch = 64
    workers = 0
    lacks: Mapping[str, str] = DECIDES

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.model, self.seed = name, f"tiny-{seed}", seed
        self.fingerprint: Mapping[str, Any] = {"tiny": seed}

    @classmethod
    def open(cls, name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Tiny:
        take(name, options, {})
        if not detail.isdecimal():
            raise UsageError(f"model {name!r}: after tiny: comes a seed, a whole number")
        return cls(name, int(detail))

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            answers = {}
            for name, question in call.request.questions.items():
                draw = hashlib.sha256(b"%d %s %s" % (self.seed, name.encode(), call.body)).digest()[0]
                answers[name] = {"type": "choice", "choice": list(question.options)[draw % len(question.options)]}
            yield Exchange("ok", orjson.dumps({"model": self.model, "answers": answers}))

    def close(self) -> None:
        """Nothing is held open."""
