"""A simulated decision maker with one declared property, to prove that each endpoint finds its own effect and no other.

Without an effect it has a latent answer per parent: the gold with a fixed probability, else the gold's mate, the candidate that shares
its initial. It spells that answer in every local arm, whatever is offered, and copies a supplied target whole with a fixed
probability, else with one wrong character. Latent answers depend on the parent alone, so arms that differ in nothing declared do
not differ at all. Its reported probabilities are calibrated: their product over a string is the probability that the string is right.

An effect is a property of the request that it reads, never of an arm's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import orjson

from c2s.backends.base import Call
from c2s.backends.simulated.decisions import Simulated, uniform
from c2s.errors import UsageError, nearest
from c2s.presentation.texts import contracts, natural
from c2s.records import Question

_POSITION = re.compile(r"Position: (\d+)\.")

NATIVE, LOCAL, COPY, READ = 0.8, 0.6, 0.6, 0.7
"""Probabilities that a whole answer, a constructed one, a copied one and a single reading are right."""

EFFECTS = {
    "none": "nothing beyond the latent answers",
    "indexing": "a position table makes every copy and reading right",
    "longer": "a longer request makes copies right, whatever the length is made of",
    "indexed_feedback": "a position table helps only beside the copy's own prefix",
    "batch": "questions bundled in one request are copied badly",
    "feedback": "its own prefix makes it miscopy",
    "opaque": "options whose names say nothing are mostly read wrong",
    "conflict": "a readable option name is followed, whatever its description says",
    "denial": "it affirms whatever it is asked to confirm",
    "pairs": "two options that differ are told apart: a trie recovers the gold",
    "roaming": "among few options it picks any",
    "alone": "it does not take the only option that it is offered",
    "premature_end": "it ends before the answer is complete",
    "endless": "it never ends",
    "copier": "it copies perfectly, right or wrong, and selects badly",
    "solver": "it writes the gold answer where a wrong target is supplied",
    "overconfident": "it is sure of everything",
    "informed": "it is surer of what is right",
    "stray": "without a prefix it lays most of its mass on characters that are in no candidate",
    "draft": "a draft that no candidate begins with spoils the next local choice",
    "led": "once its draft fits one candidate alone, it goes on with that one",
    "lost": "a constructed answer that is wrong is wrong everywhere",
    "template": "the third wording of Serial makes it construct badly",
    "unstable": "it answers anew each time",
    "letters": "it constructs badly with the letters of symbolic items",
    "alphabet": "it constructs badly among 26 symbols of long items",
    "depth": "it may slip at positions of long items where all candidates agree",
    "late": "it constructs badly where candidates branch late",
    "turnover": "named fields come out right exactly where the whole answer is wrong",
}


class Known(Simulated):
    spec: ClassVar[Mapping[str, type]] = {"name": str}

    def __init__(self, name: str, options: dict[str, Any], common: Mapping[str, Any]) -> None:
        super().__init__(name, options, common)
        self.effect = options.get("name", "none")
        if self.effect not in EFFECTS:
            raise UsageError(f"model {name!r}: no effect {self.effect!r}{nearest(self.effect, list(EFFECTS))}; known: {', '.join(EFFECTS)}")

    def choose(self, call: Call, name: str, question: Question) -> tuple[str, float | None]:
        state = orjson.loads(call.ask.request.state) if isinstance(call.ask.request.state, str) else {}
        truth = call.ask.truth[name]
        if question.unit == "label":
            return ("true" if self.effect == "denial" else truth), 0.95
        if "copy_target" in state and "query_position" not in state:
            return self._copied(call, state, question, truth)
        if "query_position" in state or any(question.options.values()):
            return self._read(call, state, question, truth)
        return self._solved(call, state, question, truth)

    def _below(self, p: float, call: Call, what: str) -> bool:
        """Whether a draw of this parent falls below p; `unstable` draws anew for every instance of the arm."""
        again = call.slot.instance if self.effect == "unstable" else 0
        return uniform(self.seed, call.parent.id, what, again) < p

    # --- reading one position ----------------------------------------------------------------------------------

    def _read(self, call: Call, state: Mapping[str, Any], question: Question, truth: str) -> tuple[str, float]:
        options = list(question.options)
        if self.effect == "conflict":
            named = f"character_{question.options[truth]}"
            if named in options and named != truth:
                return named, READ
        p = READ
        if self.effect == "opaque" and truth.startswith("o_"):
            p = 0.1
        if self.effect == "indexing" and "indexed_characters" in state:
            p = 1.0
        record = state.get("copy_target", "")
        return (truth if self._below(p, call, f"read {len(record)}") else _other(options, truth)), READ

    # --- copying a supplied target -----------------------------------------------------------------------------

    def _copied(self, call: Call, state: Mapping[str, Any], question: Question, truth: str) -> tuple[str, float]:
        target, indexed, feedback = state["copy_target"], "indexed_characters" in state, "current_prefix" in state
        gold = call.parent.target
        position = state.get("position") or _position(question.instructions)
        p = COPY
        if (
            self.effect == "copier"
            or (self.effect == "indexing" and indexed)
            or (self.effect == "longer" and ("padding" in state or indexed))
            or (self.effect == "indexed_feedback" and indexed and feedback)
        ):
            p = 1.0
        elif (self.effect == "batch" and len(call.ask.request.questions) > 1) or (self.effect == "feedback" and feedback):
            p = 0.1
        sure = COPY ** (1 / len(target))
        if self.effect == "solver" and target != gold:
            return gold[position - 1], sure
        if self.effect == "opaque" and truth.startswith("o_"):
            return _other(list(question.options), truth), sure
        spoiled = 1 + int(uniform(self.seed, call.parent.id, "spoiled") * len(target))
        if self._below(p, call, "copy") or position != spoiled:
            return truth, sure
        return _other(list(question.options), truth), sure

    # --- solving -----------------------------------------------------------------------------------------------

    def _solved(self, call: Call, state: Mapping[str, Any], question: Question, truth: str) -> tuple[str, float]:
        options, candidates = list(question.options), state["candidates"]
        if "problem" not in state:  # the problem is not shown
            return options[int(uniform(self.seed, call.parent.id, "blind") * len(options))], 1 / len(options)
        target, pieces, joiner = _presentation(call, candidates)
        whole = self._below(0.4 if self.effect == "copier" else NATIVE, call, "whole")
        if question.unit == "whole":
            if self.effect == "turnover" and pieces and question.unit == "whole":
                whole = self._below(0.4, call, "whole")
            return (target if whole else mate(candidates, target)), self._sure(whole, NATIVE, 1)
        p = self._local(call, state, question, len(target))
        right = self._below(p, call, "local")
        if self.effect == "turnover" and pieces and joiner:
            right = not self._below(0.4, call, "whole")
        length, position = call.parent.length, state.get("position", call.slot.step)
        sure = self._sure(right, LOCAL, length)
        if self.effect == "pairs" and len(options) == 2:
            return truth, sure
        if self.effect == "roaming" and 1 < len(options) < 10 and not pieces:
            return options[int(self.draw(call, "answer", "roam") * len(options))], sure
        if self.effect == "alone" and len(options) == 1:
            return "none of these", sure
        end = contracts()["stopping"]["end"]
        if end in question.options:
            ended = self._end(call, truth == end)
            if ended is not None:
                return (end if ended else "a"), sure
        if self.effect == "lost" and not right and truth != end:
            return _other(options, truth), sure
        answer = target if right else mate(candidates, target)
        if self.effect == "led" and not pieces and (draft := state.get("current_prefix")):
            fitting = [c for c in candidates if c.startswith(draft)]
            answer = fitting[0] if len(fitting) == 1 else answer
        wanted = self._spelled(answer, position, pieces, joiner)
        if self.effect == "draft" and not any(c.startswith(state.get("current_prefix", "")) for c in candidates) and not pieces:
            return _other(options, truth), sure
        agreed = len(target) == 12 and len({c[position - 1] for c in candidates}) == 1
        if self.effect == "depth" and agreed and self.draw(call, "answer", "slip") < 0.3:
            return _other(options, truth), sure
        return (wanted if wanted in question.options else options[0]), sure

    def _local(self, call: Call, state: Mapping[str, Any], question: Question, length: int) -> float:
        """The probability that a constructed answer is right."""
        symbolic, letters = call.parent.domain == "symbolic", any(o.isalpha() for o in question.options)
        poor = (
            (self.effect == "template" and question.instructions == natural("v3", "serial"))
            or (self.effect == "letters" and symbolic and letters and length < 12)
            or (self.effect == "alphabet" and length == 12 and len(question.options) == 26)
            or (self.effect == "late" and length == 12 and len({c[:9] for c in state["candidates"]}) == 1)
        )
        return 0.1 if poor else LOCAL

    def _end(self, call: Call, due: bool) -> bool | None:
        """Whether to end at this step; None: as the answer wants it."""
        if self.effect == "premature_end" and call.slot.step >= 2 and not due:
            return True if self._below(0.5, call, "end") else None
        if self.effect == "endless":
            return False if due else None
        return None

    def _spelled(self, answer: str, step: int, pieces: Sequence[Mapping[str, str]] | None, joiner: str) -> str:
        if pieces:
            written = answer.split(joiner)[step - 1] if joiner else answer[step - 1]
            return next(option for option, piece in pieces[step - 1].items() if piece == written)
        return answer[step - 1] if step <= len(answer) else contracts()["stopping"]["end"]

    def _sure(self, right: bool, p: float, steps: int) -> float:
        if self.effect == "overconfident":
            return 1.0
        if self.effect == "informed":
            p = 0.95 if right else 0.05
        sure: float = p ** (1 / steps)
        return sure

    def _answer(self, call: Call, name: str, question: Question) -> dict[str, Any]:
        answer = super()._answer(call, name, question)
        if self.effect == "stray" and question.unit == "character" and call.parent.item.get("candidates"):
            state = orjson.loads(call.ask.request.state)
            if "current_prefix" not in state and "copy_target" not in state:
                answer["probabilities"] = self._stray(call, question, answer)
        return answer

    def _stray(self, call: Call, question: Question, answer: Mapping[str, Any]) -> dict[str, float]:
        """Slightly more on the chosen character than on each that no candidate has at this position; those have most of the mass."""
        at = {c[call.slot.step - 1] for c in call.parent.candidates if call.slot.step <= len(c)}
        outside = [o for o in question.options if o not in at]
        share = 1 / (len(outside) + 2)
        return {o: 2 * share if o == answer["choice"] else share if o in outside else 0.0 for o in question.options}


def mate(candidates: list[str], target: str) -> str:
    """Another candidate, as like the target as there is: with the same initial, then with most characters in common."""
    others = [c for c in candidates if c != target]
    return max(others, key=lambda c: (c[0] == target[0], sum(a == b for a, b in zip(c, target, strict=False))))


def _position(instructions: str) -> int:
    """The position that a question's text names."""
    named = _POSITION.search(instructions)
    if named is None:
        raise UsageError(f"the simulated model finds no position in {instructions!r}")
    return int(named[1])


def _other(options: list[str], truth: str) -> str:
    """The option after the right one in displayed order; the right one where there is no other."""
    return options[(options.index(truth) + 1) % len(options)] if truth in options else options[0]


def _presentation(call: Call, candidates: list[str]) -> tuple[str, Sequence[Mapping[str, str]] | None, str]:
    """Target, pieces and joiner of what is being asked about."""
    shown = call.parent.presentations
    if not shown:
        return call.parent.target, None, ""
    found = next(p for p in shown.values() if p["candidates"] == candidates)
    return found["target"], found.get("pieces"), found.get("joiner", "")
