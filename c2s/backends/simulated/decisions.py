"""Simulated models with known truths. Each answer is a function of (seed, slot), so call order changes nothing.

They answer in System One's format, and their names carry `sim:` into every report.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import orjson

from c2s.backends.base import DECIDES, Call, Exchange
from c2s.backends.registry import take
from c2s.errors import UsageError, nearest
from c2s.records import Question

COMMON: Mapping[str, type] = {"seed": int, "delay_ms": float}


def uniform(seed: int, *key: object) -> float:
    """A number in [0, 1) from 53 bits of BLAKE2b over the key."""
    digest = hashlib.blake2b("\0".join(map(str, (seed, *key))).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) * 2.0**-53


class Simulated:
    """Base: a subclass chooses an option for one question and may say how sure it is."""

    dialect = "systemone"
    resend: Literal["safe", "paid"] = "safe"
    exact = True
    spec: ClassVar[Mapping[str, type]] = {}
    lacks: Mapping[str, str] = DECIDES

    def __init__(self, name: str, options: dict[str, Any], common: Mapping[str, Any]) -> None:
        self.name = name
        self.model = name.partition("?")[0]
        self.seed = options.get("seed", 0)
        self.delay = options.get("delay_ms", 0.0) / 1000
        if not 0 <= self.delay < 3600:
            raise UsageError(f"model {name!r}: delay_ms is between 0 and 3,600,000")
        self.options = options
        self.workers = int(common.get("concurrency") or 8) if self.delay else 0
        self.max_batch = 1 if self.delay else 256
        self.fingerprint = {"simulation": self.model, "options": {k: v for k, v in options.items() if k != "delay_ms"}}

    @classmethod
    def open(cls, name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Simulated:
        return cls(name, take(name, options, {**COMMON, **cls.spec}), common)

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            began = time.time()
            if self.delay:
                time.sleep(self.delay)
            answers = {name: self._answer(call, name, q) for name, q in call.ask.request.questions.items()}
            yield Exchange("ok", orjson.dumps({"model": self.model, "answers": answers}), began=began, ended=time.time())

    def close(self) -> None:
        pass

    def _answer(self, call: Call, name: str, question: Question) -> dict[str, Any]:
        option, sure = self.choose(call, name, question)
        answer: dict[str, Any] = {"type": "choice", "choice": option}
        if sure is not None:
            n = len(question.options)
            rest = (1 - sure) / (n - 1) if n > 1 else 0.0
            answer["probabilities"] = {o: sure if o == option else rest for o in question.options}
        return answer

    def choose(self, call: Call, name: str, question: Question) -> tuple[str, float | None]:
        """The option taken and the probability reported for it (None: no probabilities)."""
        raise NotImplementedError

    def draw(self, call: Call, name: str, what: str) -> float:
        return uniform(self.seed, *call.slot.key, name, what)

    def right_with(self, p: float, call: Call, name: str, question: Question) -> str:
        """The truth with probability p, else one of the others, uniformly; any option where the truth is not offered."""
        options = list(question.options)
        truth = call.ask.truth.get(name)
        if truth is not None and truth in question.options:
            if self.draw(call, name, "right") < p or len(options) == 1:
                return truth
            options.remove(truth)
        return options[int(self.draw(call, name, "which") * len(options))]


class Oracle(Simulated):
    """Always right, and certain of it."""

    def choose(self, call: Call, name: str, question: Question) -> tuple[str, float | None]:
        return self.right_with(1.0, call, name, question), 1.0


class Random(Simulated):
    """Uniform over the options."""

    def choose(self, call: Call, name: str, question: Question) -> tuple[str, float | None]:
        p = 1 / len(question.options)
        return self.right_with(p, call, name, question), p


class Positions(Simulated):
    """Each local decision right with `p`, a whole answer with `native`, CandidatesOnly at chance.

    It reports the probability of being right for whatever it chose: calibrated, and blind to its own errors.
    """

    spec: ClassVar[Mapping[str, type]] = {"p": float, "native": float}

    def __init__(self, name: str, options: dict[str, Any], common: Mapping[str, Any]) -> None:
        super().__init__(name, options, common)
        self.p, self.native = options.get("p", 0.9), options.get("native", 0.95)
        if not (0 <= self.p <= 1 and 0 <= self.native <= 1):
            raise UsageError(f"model {name!r}: p and native are probabilities")

    def choose(self, call: Call, name: str, question: Question) -> tuple[str, float | None]:
        p = self.native if question.unit == "whole" else self.p
        if call.slot.arm == "candidates_only":
            p = 1 / len(question.options)
        option = self.right_with(p, call, name, question)
        return option, max(p, 1 / len(question.options))


JOINT = {
    "jev": {"math": (123, 250, 0, 11), "lexical": (8, 374, 0, 2)},
    "startlux": {"math": (8, 227, 1, 148), "lexical": (1, 359, 0, 24)},
    "qwen3-8b-code": {"math": (0, 59, 0, 325), "lexical": (0, 363, 0, 21)},
    "qwen3.5-27b-code": {"math": (1, 96, 1, 286), "lexical": (5, 378, 0, 1)},
    "qwen3.5-27b-direct": {"math": (39, 339, 0, 6), "lexical": (132, 248, 0, 4)},
}
"""Choice2Seq, Table 1: both / Native only / Serial only / neither among 384 items."""


class Published(Simulated):
    """Draws each parent's joint cell with Table 1's rates of its domain.

    A wrong string is wrong at one position, chosen uniformly. Independent gets Serial's rate and CandidatesOnly chance (ours:
    the paper prints neither as a table). No probabilities: the paper's are not published per item.
    """

    spec: ClassVar[Mapping[str, type]] = {"model": str}
    lacks: Mapping[str, str] = {
        **DECIDES,
        "symbols": "Table 1 has rates for math and lexical items only",
        "probabilities": "the paper prints none per item",
    }

    def __init__(self, name: str, options: dict[str, Any], common: Mapping[str, Any]) -> None:
        super().__init__(name, options, common)
        self.published = options.get("model", "jev")
        if self.published not in JOINT:
            raise UsageError(
                f"model {name!r}: no published rates for {self.published!r}{nearest(self.published, list(JOINT))}; "
                f"known: {', '.join(JOINT)}"
            )
        self.fingerprint = {"simulation": self.model, "options": {"model": self.published, "seed": self.seed}}

    def choose(self, call: Call, name: str, question: Question) -> tuple[str, float | None]:
        slot, parent = call.slot, call.parent
        rates = JOINT[self.published].get(parent.domain)
        if rates is None:
            raise UsageError(f"model {self.name!r}: Table 1 has no rates for domain {parent.domain!r}")
        if slot.arm == "candidates_only":
            return self.right_with(1 / len(question.options), call, name, question), None
        native, serial = self._cell(slot.panel, parent.id, slot.instance, rates)
        if question.unit == "whole":
            return self.right_with(float(native), call, name, question), None
        if slot.arm != "serial":
            serial = uniform(self.seed, slot.panel, parent.id, slot.arm, slot.instance) < (rates[0] + rates[2]) / sum(rates)
        wrong_at = 1 + int(uniform(self.seed, slot.panel, parent.id, slot.arm, slot.instance, "where") * parent.length)
        return self.right_with(float(serial or slot.step != wrong_at), call, name, question), None

    def _cell(self, panel: str, parent: str, instance: int, rates: tuple[int, ...]) -> tuple[bool, bool]:
        """(Native correct, Serial correct) of this parent, drawn with the joint rates."""
        both, lost, gained, _ = rates
        u = uniform(self.seed, panel, parent, instance, "cell") * sum(rates)
        if u < both:
            return True, True
        if u < both + lost:
            return True, False
        return False, u < both + lost + gained
