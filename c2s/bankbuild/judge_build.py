"""Building a judge bank from published questions (judge paper, 4.2, A.3): which are excluded, which drawn, and their wrong values.

Every choice is keyed by (seed, what is chosen), so the bytes depend on the files, the seed and the sizes alone.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from c2s.bankbuild.judge_read import Raw, unreadable
from c2s.banks.files import json_lines
from c2s.banks.judge import DISTANCES, KIND, SPLITS, Source, bank_bytes, letters, mutation, normalised, number, shown
from c2s.banks.keyed import Keyed
from c2s.errors import BankError, UsageError

SEED = 20261007154
"""The study's schedule seed (A.4); it keys our draws too (ours)."""


@dataclass(slots=True)
class Inventory:
    """What earlier studies used: ids, clusters and normalised questions that a new bank must not touch."""

    ids: set[str] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)
    questions: set[str] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take whichever of `id`, `cluster` and `question` the row has."""
        for name, known in (("id", self.ids), ("cluster", self.clusters)):
            if isinstance(row.get(name), str):
                known.add(row[name])
        if isinstance(row.get("question"), str):
            self.questions.add(normalised(row["question"]))

    def overlap(self, raw: Raw) -> str | None:
        if raw.id in self.ids:
            return "its id is in an earlier inventory"
        if raw.cluster in self.clusters:
            return "its cluster is in an earlier inventory"
        if normalised(raw.question) in self.questions:
            return "its question is in an earlier inventory"
        return None


def read_inventory(path: str | os.PathLike[str], into: Inventory) -> int:
    """Add a JSON Lines file (a judge bank, or rows with id, cluster or question); returns the number of rows that named something.

    The id in a data file's header is not an item's.
    """
    found = 0
    for line, row in json_lines(path, "inventory"):
        if not isinstance(row, dict):
            raise UsageError(f"line {line} of {path} is no JSON object with id, cluster or question")
        if "rows_sha256" not in row:
            found += any(isinstance(row.get(name), str) for name in ("id", "cluster", "question"))
            into.add(row)
    return found


@dataclass(frozen=True, slots=True)
class Built:
    """The file and its audit: `excluded` maps every question that was left out to its reason."""

    data: bytes
    sources: tuple[Source, ...]
    excluded: Mapping[str, str]
    read: Mapping[str, int]

    reasons: Mapping[str, Mapping[str, int]]
    """Workload -> reason -> number of questions, most frequent first."""


def build_judge_bank(
    raws: Iterable[Raw],
    *,
    bank_id: str = KIND,
    seed: int = SEED,
    sizes: Mapping[str, int] | None = None,
    earlier: Inventory | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Built:
    """Draw `sizes` sources per workload (default: 100 confirmation, 10 preflight), half near and half far in each.

    `facts` go into the header. BankError where a workload has too few clusters, UsageError where an id stands twice.
    """
    sizes = {"confirmation": 100, "preflight": 10} | dict(sizes or {})
    if min(sizes.values()) < 0:
        raise UsageError("a bank cannot have fewer than 0 sources of a split")
    raws = list(raws)
    excluded: dict[str, str] = {}
    pool = _eligible(raws, earlier or Inventory(), excluded)
    read = Counter(raw.workload for raw in raws)
    drawn: dict[str, list[Source]] = {}
    for workload in read:
        chosen = _one_per_cluster([raw for raw in pool if raw.workload == workload], seed, excluded)
        wanted = sum(sizes[split] for split in SPLITS)
        if len(chosen) < wanted:
            raise BankError(
                f"{workload} has {len(chosen)} eligible clusters, {wanted} are wanted: "
                "give more data, or ask for fewer with --confirmation and --preflight"
            )
        excluded |= {raw.id: "eligible, not drawn" for raw in chosen[wanted:]}
        drawn[workload] = _sources(chosen[:wanted], sizes, seed)
    sources = [s for split in SPLITS for s in _dealt([[s for s in group if s.split == split] for group in drawn.values()])]
    tally: dict[str, Counter[str]] = {workload: Counter() for workload in read}
    for raw in raws:
        if raw.id in excluded:
            tally[raw.workload][excluded[raw.id]] += 1
    reasons = {workload: dict(counts.most_common()) for workload, counts in tally.items()}
    accounting = {"read": dict(read), "sizes": sizes, "excluded": reasons}
    return Built(bank_bytes(bank_id, seed, sources, dict(facts or {}) | accounting), tuple(sources), excluded, dict(read), reasons)


def _eligible(raws: Sequence[Raw], earlier: Inventory, excluded: dict[str, str]) -> list[Raw]:
    """Questions that may be sources; the others go to `excluded` with the first reason that holds."""
    pool: list[Raw] = []
    ids: set[str] = set()
    questions: set[str] = set()
    contexts: dict[str, str] = {}
    for raw in raws:
        if raw.id in ids:
            raise UsageError(f"the id {raw.id!r} stands twice in the files: ids are the identity of every source")
        ids.add(raw.id)
        question, context = normalised(raw.question), normalised(raw.context)
        reason = unreadable(raw) or earlier.overlap(raw)
        if reason is None and question in questions:
            reason = "its normalised question stands earlier in the files"
        if reason is None and context and contexts.setdefault(context, raw.cluster) != raw.cluster:
            reason = "its normalised passage stands earlier under another id"
        reason = reason or _unmutable(raw)
        if reason is None:
            questions.add(question)
            pool.append(raw)
        else:
            excluded[raw.id] = reason
    return pool


def _unmutable(raw: Raw) -> str | None:
    """Both mutations must be wrong, so that eligibility does not depend on which one a source will get (ours)."""
    references = [value for value in map(number, raw.answers) if value is not None]
    for distance in DISTANCES:
        wrong = mutation(references[0], distance)
        if wrong is None:
            return "its value has too many digits for an exact mutation"
        if wrong in references:
            return f"its {distance} mutation is an accepted reference"
    return None


def _one_per_cluster(pool: Sequence[Raw], seed: int, excluded: dict[str, str]) -> list[Raw]:
    """One question per cluster, clusters in random order. The rank of each is a hash of its own, so leaving one out moves no other."""
    clusters: dict[str, list[Raw]] = {}
    for raw in pool:
        clusters.setdefault(raw.cluster, []).append(raw)
    chosen = []
    for members in clusters.values():
        members.sort(key=lambda raw: Keyed(seed, "judge question", raw.id).below(2**63))
        chosen.append(members[0])
        excluded |= {raw.id: "another question of its cluster was drawn" for raw in members[1:]}
    return sorted(chosen, key=lambda raw: Keyed(seed, "judge cluster", raw.cluster).below(2**63))


def _sources(chosen: Sequence[Raw], sizes: Mapping[str, int], seed: int) -> list[Source]:
    sources = []
    rest = iter(chosen)
    for split in SPLITS:
        for i in range(sizes[split]):
            raw = next(rest)
            distance = DISTANCES[i % 2]
            values = [value for value in map(number, raw.answers) if value is not None]
            references = tuple(dict.fromkeys(map(shown, values)))
            wrong = mutation(values[0], distance)
            if wrong is None:
                raise ValueError(f"{raw.id} is not eligible: {raw.answers[0]} has no {distance} mutation")
            x, y, r = references[0], shown(wrong), letters(seed, raw.id)
            sources.append(Source(raw.id, raw.workload, raw.cluster, split, raw.question, references, x, y, distance, r))
    return sources


def _dealt(groups: Sequence[Sequence[Source]]) -> list[Source]:
    """Workloads in turn, so that every prefix is balanced."""
    return [group[i] for i in range(max(map(len, groups), default=0)) for group in groups if i < len(group)]
