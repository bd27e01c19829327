"""`?contract=decision`: a causal model as a decision head in the manner of StartLux, with the System One protocol.

One prompt per question with lettered options in request order; the answer is the softmax over the letters' logits at the prompt
boundary, divided by the temperature of the question's type. More options than letters compete in ceil(n / 25) near-equal
groups, in request order; the three most probable of each go on, again in groups while there are too many, and all that fell out share
1e-3. Names that are bare letters or numbers are hidden where every option has a description. The wording of the prompt is ours;
StartLux's own server is reached as `systemone:`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from c2s.backends.base import DECIDES
from c2s.backends.local.codes import Boundary, Merged
from c2s.backends.local.model import Local, Opened, Refused, seen
from c2s.backends.local.prompts import Chat, Prompt
from c2s.backends.local.text_contracts import check_codes
from c2s.dialects.body import confidence
from c2s.errors import UsageError
from c2s.presentation.option_order import CODES

GROUP, FINALISTS, LOSERS = 25, 3, 1e-3
BARE = re.compile(r"[A-Za-z]|[0-9]+")
TYPES = ("choice", "noul")


@dataclass(slots=True)
class Contest:
    """One question on its way to an answer: which options are still in it, and the prompts of its rounds."""

    name: str
    type: str
    state: str
    instructions: str
    options: Mapping[str, str | None]
    names_shown: bool
    standing: list[str] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    sizes: list[list[int]] = field(default_factory=list)

    def restart(self) -> None:
        """Back to the first round, whose prompts are written."""
        self.standing, self.sizes = list(self.options), self.sizes[:1]
        del self.prompts[len(self.sizes[0]) :]

    def groups(self) -> list[list[str]]:
        """The next round: one group where the letters suffice, else ceil(n / 25) whose sizes differ by one at most."""
        n = len(self.standing)
        count = 1 if n <= len(CODES) else math.ceil(n / GROUP)
        edges = [i * n // count for i in range(count + 1)]
        return [self.standing[a:b] for a, b in itertools.pairwise(edges)]

    def text(self, group: Sequence[str]) -> str:
        lines = []
        for letter, option in zip(CODES, group, strict=False):
            description = self.options[option]
            shown = option if description is None else f"{option}: {description}" if self.names_shown else description
            lines.append(f"{letter}. {shown}")
        return "\n".join([self.state, "", self.instructions, *lines, "", "Answer with the letter of one option."])


@dataclass(frozen=True, slots=True)
class Decision:
    contests: tuple[Contest, ...]

    @property
    def prompts(self) -> Sequence[Prompt]:
        return [prompt for contest in self.contests for prompt in contest.prompts]


class DecisionHead(Local[Decision]):
    dialect = "systemone"
    lacks = DECIDES

    def __init__(self, opened: Opened, thinking: bool, temperature: Mapping[str, float]) -> None:
        self._template: Mapping[str, bool] = {} if thinking else {"enable_thinking": False}
        self._temperature = temperature
        self._boundary = Boundary(opened.renderer)
        check_codes(opened, self._boundary, self._template)
        super().__init__(opened, {"contract": "decision", "thinking": thinking, "temperature": dict(temperature)})

    def prepare(self, bodies: Sequence[bytes]) -> Sequence[Decision | Refused]:
        """Contests with the prompts of their first round, so that what cannot be asked is known before anything is."""
        found: list[Decision | Refused] = []
        for body in bodies:
            try:
                decision = Decision(tuple(_contests(orjson.loads(body))))
                for contest in decision.contests:
                    self._enter(contest)
                found.append(decision)
            except Refused as error:
                found.append(error)
        return found

    def _enter(self, contest: Contest) -> list[Prompt]:
        """Write the prompts of a contest's next round. Raises Refused."""
        groups = contest.groups()
        chats = [
            Chat([{"role": "user", "content": contest.text(group)}], "", self._template, 1, tuple(CODES[: len(group)])) for group in groups
        ]
        prompts = []
        for prompt in self.renderer.prompts(chats):
            if not isinstance(prompt, Prompt):
                raise Refused(str(prompt))
            if (problem := self.fits(prompt, 1)) is not None:
                raise problem
            prompts.append(prompt)
        contest.sizes.append([len(group) for group in groups])
        contest.prompts += prompts
        return prompts

    def answer(self, jobs: Sequence[Decision]) -> Sequence[dict[str, Any]]:
        probabilities: dict[int, dict[str, float]] = {}
        contests = [contest for job in jobs for contest in job.contests]
        for contest in contests:
            contest.restart()
        entered = [(contest, list(contest.prompts)) for contest in contests]
        while entered:
            rows = [(prompt, CODES[:size]) for contest, prompts in entered for prompt, size in zip(prompts, contest.sizes[-1], strict=True)]
            try:
                kept = [self._boundary.ids(prompt, letters) for prompt, letters in rows]
            except Merged as error:  # the letters were looked at when the model was opened, behind the same boundary
                raise RuntimeError(str(error)) from None
            scores = iter(self.loaded.logits([prompt.ids for prompt, _ in rows], kept))
            again = []
            for contest, _ in entered:
                shares = [_softmax(next(scores).log_probabilities / self._temperature[contest.type]) for _ in contest.sizes[-1]]
                ranked = [dict(zip(group, share.tolist(), strict=True)) for group, share in zip(contest.groups(), shares, strict=True)]
                if len(ranked) == 1:
                    probabilities[id(contest)] = _final(contest, ranked[0])
                    continue
                best = {o for group in ranked for o in sorted(group, key=lambda o: -group[o])[:FINALISTS]}
                contest.standing = [o for o in contest.standing if o in best]
                again.append((contest, self._enter(contest)))
            entered = again
        return [self._response(job, probabilities) for job in jobs]

    def _response(self, job: Decision, probabilities: Mapping[int, Mapping[str, float]]) -> dict[str, Any]:
        answers, facts = {}, {}
        for contest in job.contests:
            shares = probabilities[id(contest)]
            best = max(shares, key=shares.__getitem__)
            answers[contest.name] = {
                "type": contest.type,
                "choice": best,
                "confidence": confidence(shares[best], len(shares)),
                "probabilities": shares,
            }
            facts[contest.name] = seen(self.renderer, contest.prompts[0], len(contest.prompts)) | {"groups": contest.sizes}
        tokens = sum(len(prompt.ids) for prompt in job.prompts)
        forwards = sum(fact["forwards"] for fact in facts.values())
        return {
            "model": self.model,
            "answers": answers,
            "usage": {"input_tokens": tokens},
            "c2s": {"forwards": forwards, "questions": facts},
        }


def temperatures(name: str, text: str) -> dict[str, float]:
    """`1.5` for every type of question, or `choice:1.5,noul:0.8`. Raises UsageError."""
    given = dict(part.partition(":")[::2] for part in text.split(",")) if ":" in text else dict.fromkeys(TYPES, text)
    try:
        found = {kind: float(value) for kind, value in given.items()}
    except ValueError:
        found = {}
    if not found or not set(found) <= set(TYPES) or not all(0 < value < math.inf for value in found.values()):
        raise UsageError(f"model {name!r}: temperature is a positive number, or one per type: temperature=choice:1.5,noul:0.8")
    return dict.fromkeys(TYPES, 1.0) | found


def _contests(body: Mapping[str, Any]) -> list[Contest]:
    found = []
    for name, question in body["questions"].items():
        kind, options = question.get("type"), question.get("criteria")
        if kind not in TYPES:
            raise Refused(f"question {name!r} is of type {kind!r}; a decision head answers {' and '.join(TYPES)}")
        if kind == "noul" and not options:
            options = {"true": None, "false": None}
        if not isinstance(options, dict) or not options:
            raise Refused(f"question {name!r} has no options")
        hidden = all(BARE.fullmatch(option) for option in options) and None not in options.values()
        state, asked = _as_text(body["state"]), _as_text(question.get("instructions"))
        found.append(Contest(name, kind, state, asked, options, not hidden, list(options)))
    return found


def _as_text(value: Any) -> str:
    """Text as it is, anything else as compact JSON in the order of the request."""
    return value if isinstance(value, str) else "" if value is None else orjson.dumps(value).decode()


def _softmax(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(logs - logs.max())
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _final(contest: Contest, shares: Mapping[str, float]) -> dict[str, float]:
    """In request order; those that fell out before the final round share 1e-3."""
    out = [option for option in contest.options if option not in shares]
    scale = 1.0 - LOSERS if out else 1.0
    return {option: shares[option] * scale if option in shares else LOSERS / len(out) for option in contest.options}
