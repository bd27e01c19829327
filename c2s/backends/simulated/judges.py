"""Simulated judges with known truths. They read the exact bytes that a server would get, so the order of members can affect them.

All but `blind` grade the final commitment. Their other behaviour is what a report has to find.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import orjson

from c2s.backends.base import Call, Exchange
from c2s.backends.simulated.decisions import Simulated, uniform
from c2s.errors import UsageError, nearest
from c2s.records import Question

KINDS: Mapping[str, str] = {
    "final": "reads only the final value",
    "colon-sorted": "a colon flips a share of the sources, under a sorted state alone",
    "sorted": "a sorted state alone flips a share of the sources",
    "both": "a colon flips one share of the sources and a sorted state another, each whatever the other does",
    "noisy": "now and then accepts a mixed candidate, afresh at every call",
    "blind": "cannot grade: accepts a share of the plainly wrong answers",
    "missing": "reads only the final value; a share of its confirmation requests ends in an error",
}

_FINAL = re.compile(r"(?:(?P<earlier>.*?)\n)?(?:(?P<bridge>.*)\n)?Final answer: (?P<value>.*)\.", re.DOTALL)


class Judge(Simulated):
    """Options: kind (final), rate: the share that is flipped, accepted or lost (0.5; noisy and missing 0.1)."""

    spec: ClassVar[Mapping[str, type]] = {"kind": str, "rate": float}

    def __init__(self, name: str, options: dict[str, Any], common: Mapping[str, Any]) -> None:
        super().__init__(name, options, common)
        self.kind = options.get("kind", "final")
        if self.kind not in KINDS:
            raise UsageError(f"model {name!r}: no judge of kind {self.kind!r}{nearest(self.kind, list(KINDS))}; known: {', '.join(KINDS)}")
        self.rate: float = options.get("rate", 0.1 if self.kind in ("noisy", "missing") else 0.5)
        if not 0 <= self.rate <= 1:
            raise UsageError(f"model {name!r}: rate is a share between 0 and 1")
        self.fingerprint = {"simulation": self.model, "options": {"kind": self.kind, "rate": self.rate, "seed": self.seed}}

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            if self.kind == "missing" and call.slot.panel != "judge-preflight" and uniform(self.seed, *call.slot.key, "lost") < self.rate:
                yield Exchange("error", message="simulated: no answer")
            else:
                yield from super().call([call])

    def choose(self, call: Call, name: str, question: Question) -> tuple[str, float | None]:
        body = orjson.loads(call.body)
        state = body.get("state")
        if not isinstance(state, dict) or "model_reply" not in state:
            raise UsageError(f"model {self.name!r} answers the judge panels alone")
        sorted_state = list(state) == sorted(state)
        references, reply = state["trusted_reference"], state["model_reply"]
        earlier, bridge, value = commitment(reply)
        accept, reject = list(question.options)[:2]  # as the request builder orders them, the accepting label first
        if value is None:
            return ("ambiguous" if "remain possible" in reply and "ambiguous" in question.options else "no_answer"), 0.9
        right = value in references
        mixed = earlier in references and not right
        if mixed and self._flips(call, sorted_state, bridge.endswith(":")):
            return accept, 0.8
        if self.kind == "blind" and not right and not mixed and self._source(call, "blind") < self.rate:
            return accept, 0.7
        return (accept if right else reject), 0.9

    def _flips(self, call: Call, sorted_state: bool, colon: bool) -> bool:
        if self.kind == "noisy":
            return uniform(self.seed, *call.slot.key, "noise") < self.rate
        u = self._source(call, "flip")
        flips: dict[str, bool] = {
            "colon-sorted": sorted_state and colon and u < self.rate,
            "sorted": sorted_state and u < self.rate,
            "both": (colon and u < self.rate / 2) or (sorted_state and self.rate / 2 <= u < self.rate),
        }
        return flips.get(self.kind, False)

    def _source(self, call: Call, what: str) -> float:
        """A number of the source alone: the same under every arm and repeat."""
        return uniform(self.seed, call.parent.id, what)


def commitment(reply: str) -> tuple[str, str, str | None]:
    """(earlier value, bridge, final value) of a candidate; without `Final answer:` the whole reply is the value if it is a number."""
    found = _FINAL.fullmatch(reply)
    if found is None:
        return "", "", reply if re.fullmatch(r"-?[\d.,]+", reply, re.ASCII) else None
    return found["earlier"] or "", found["bridge"] or "", found["value"]
