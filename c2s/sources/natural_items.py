"""Parents from the frozen natural bank, for every panel that is asked about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from c2s.banks.natural import Bank, Item, is_text_of, load_bank, order, problem_text
from c2s.records import Parent
from c2s.settings import Inputs, Settings
from c2s.sources.base import Source

SUBSET_SEED = 20261005
"""Keys the frozen subsets. It is the default seed, so that they are prefixes of a default run's order."""


@dataclass(frozen=True, slots=True)
class NaturalParents(Source):
    """Test items in the seeded, balanced order, cut to `domain` and `limit`, with their problem texts joined.

    `pairs` keeps that many pairs of each length: a frozen subset, the same for every seed and the smaller inside the larger.
    `within_main` keeps only what a main panel with the same settings asks about. `extra(item)` is frozen with the item.
    """

    bank: Callable[[], Bank] = load_bank
    pairs: int | None = None
    within_main: bool = False
    extra: Callable[[Item, Settings], Mapping[str, Any]] | None = None

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        bank = _cached(self.bank)
        chosen = self._select(bank, settings)
        texts = problem_text(bank, inputs.wordnet, items=chosen)
        return [self._parent(item, texts[item.id], settings) for item in chosen]

    def outline(self, settings: Settings) -> list[Parent]:
        """The same parents with empty problem texts; needs no WordNet."""
        return [self._parent(item, "", settings) for item in self._select(_cached(self.bank), settings)]

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        """How frozen parents differ from the shipped bank and from the settings' selection; needs no WordNet.

        The problem text of a lexical parent is checked against the bank's hash of its definition.
        """
        bank = _cached(self.bank)
        chosen = self._select(bank, settings)
        differences = []
        if [parent.id for parent in frozen] != [item.id for item in chosen]:
            differences.append("the parents are not those that bank, seed and settings select, or stand in another order")
        items = {item.id: item for item in bank.items}
        for parent in frozen:
            item = items.get(parent.id)
            if item is None:
                differences.append(f"{parent.id}: no such item in the shipped bank {bank.id}")
                continue
            problem = parent.item["problem"]
            if parent != self._parent(item, problem, settings) or not is_text_of(item, problem):
                differences.append(f"{parent.id}: the frozen item is not that of the shipped bank {bank.id}")
        return differences

    def _select(self, bank: Bank, settings: Settings) -> list[Item]:
        items = [item for item in bank.split("test") if settings.asks(item.domain)]
        if not items:
            return []
        if self.pairs is not None:
            kept = subset(bank, self.pairs)
            items = [item for item in items if item.pair_id in kept]
        chosen = order(items, settings.seed, settings.limit)
        if self.within_main:
            main = {item.id for item in NaturalParents()._select(bank, settings)}
            chosen = [item for item in chosen if item.id in main]
        return chosen

    def _parent(self, item: Item, problem: str, settings: Settings) -> Parent:
        payload = {
            "problem": problem,
            "target": item.target,
            "candidates": list(item.candidates),
            "stratum": item.stratum,
            "facts": item.facts,
        }
        if self.extra is not None:
            payload |= self.extra(item, settings)
        return Parent(item.id, item.domain, item.length, payload, item.pair_id)


@cache
def _cached(load: Callable[[], Bank]) -> Bank:
    """A shipped bank, read once."""
    return load()


def subset(bank: Bank, pairs: int) -> frozenset[str]:
    """Ids of the first `pairs` test pairs of each length, in the order that the frozen seed gives."""
    kept: dict[int, list[str]] = {}
    for item in order(bank.split("test"), SUBSET_SEED):
        names = kept.setdefault(item.length, [])
        if item.pair_id not in names and len(names) < pairs:
            names.append(item.pair_id)
    return frozenset(name for names in kept.values() for name in names)


MAIN_PARENTS = NaturalParents()
