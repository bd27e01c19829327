"""Cue proposals: short transition phrases that a local causal language model finds likely in the printed contexts (judge paper, 4.1, E.1).

L(s | c) is the sum of the log-probabilities of the tokens of s after context c. The paper's beam settings are not in its printed
text; width, expansions and length bound are settings (ours). Proposals are candidates for development: they are kept in
a data file of their own kind, which no panel reads, so that none is mixed into confirmation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from c2s.banks.datafile import data_bytes
from c2s.errors import InputError

KIND = "cue-proposals"


class NextToken(Protocol):
    """A causal language model as the search needs it."""

    ends: frozenset[int]
    """Tokens that end an answer."""

    def context(self, message: str) -> list[int]:
        """Token ids of one user message in the chat template, up to where the assistant's answer begins."""
        ...

    def log_probabilities(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        """Natural log-probabilities of the next token, [prefixes, vocabulary]."""
        ...

    def text(self, tokens: Sequence[int]) -> str: ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """`score` is the sum of the log-probabilities of `tokens`; `end` the log-probability that the answer ends right after them."""

    context: str
    text: str
    tokens: tuple[int, ...]
    score: float
    end: float


def propose(model: NextToken, name: str, message: str, *, width: int = 16, expand: int = 16, longest: int = 6) -> list[Proposal]:
    """Every string that the beam held after 1 ... `longest` tokens, most likely first; a text that two token sequences spell is kept once.

    At each length every string of the beam is extended by its `expand` most likely tokens, and the `width` best extensions stay.
    A token that ends the answer or breaks the line ends a string. Ties go to the lower token ids, so the ranking is deterministic.
    """
    for what, value in (("width", width), ("expand", expand), ("longest", longest)):
        if value < 1:
            raise InputError(f"{what} = {value}: give at least 1")
    start = tuple(model.context(message))
    beam: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    found: list[Proposal] = []
    for length in range(longest + 1):
        logs = np.asarray(model.log_probabilities([start + tokens for tokens, _ in beam]), dtype=np.float64)
        if length:
            found += [_proposal(model, name, tokens, score, row) for (tokens, score), row in zip(beam, logs, strict=True)]
        if length == longest:
            break
        beam = _extended(model, beam, logs, width, expand)
        if not beam:
            break
    return _ranked(found)


def _extended(
    model: NextToken, beam: Sequence[tuple[tuple[int, ...], float]], logs: np.ndarray, width: int, expand: int
) -> list[tuple[tuple[int, ...], float]]:
    extensions = []
    for (tokens, score), row in zip(beam, logs, strict=True):
        taken = 0
        for token in np.lexsort((np.arange(len(row)), -row)):
            if taken == expand or not np.isfinite(row[token]):
                break
            longer = (*tokens, int(token))
            if int(token) not in model.ends and "\n" not in model.text(longer):
                extensions.append((longer, score + float(row[token])))
                taken += 1
    return sorted(extensions, key=lambda e: (-e[1], e[0]))[:width]


def _proposal(model: NextToken, name: str, tokens: tuple[int, ...], score: float, row: np.ndarray) -> Proposal:
    ends = row[sorted(model.ends)]
    end = float(np.logaddexp.reduce(ends)) if len(ends) else float("-inf")
    return Proposal(name, model.text(tokens).strip(), tokens, score, end)


def _ranked(proposals: Iterable[Proposal]) -> list[Proposal]:
    best: dict[str, Proposal] = {}
    for proposal in sorted(proposals, key=lambda p: (-p.score, p.tokens)):
        if proposal.text:
            best.setdefault(proposal.text, proposal)
    return list(best.values())


def proposal_bytes(proposals: Sequence[Proposal], settings: Mapping[str, Any]) -> bytes:
    """A data file of proposals, ranked within each context."""
    ranks: dict[str, int] = {}
    rows = []
    for proposal in proposals:
        rank = ranks[proposal.context] = ranks.get(proposal.context, 0) + 1
        end = None if proposal.end == float("-inf") else proposal.end
        rows.append(asdict(proposal) | {"end": end, "rank": rank, "id": f"{proposal.context}:{rank}"})
    return data_bytes(KIND, KIND, rows, settings)
