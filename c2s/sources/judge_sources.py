"""Parents of the judge panels: sources of a judge bank, user items, and reference-switch pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from c2s.banks.datafile import load_data
from c2s.banks.judge import DISTANCES, KIND, WORKLOADS, JudgeBank, flaw, letters, load_judge_bank, mutation, shown, source_of
from c2s.banks.judge import Source as JudgeSource
from c2s.banks.judge_items import KIND as ITEMS
from c2s.banks.judge_items import SEED, same
from c2s.banks.reference_switch import Pair, pairs
from c2s.controllers.judge import PUBLISHED, components_of
from c2s.errors import BankError, UsageError
from c2s.presentation.texts import contracts
from c2s.records import Parent
from c2s.settings import NO_INPUTS, Inputs, Settings
from c2s.sources.base import Source

SWITCH = "switch"
"""The one domain of the reference-switch pairs."""


def contracts_of(settings: Settings) -> list[str]:
    """The grading rules that a run asks under: FINAL3 and FINAL4, unless the settings name others."""
    return list(settings.contracts or PUBLISHED)


@dataclass(frozen=True, slots=True)
class JudgeParents(Source):
    """Sources of one split of the bank in a data file (the shipped one without), cut to `domain`, `limit` and `at_most` (per workload).

    `extra(settings)` is frozen with every source.
    """

    split: str
    at_most: int | None = None
    extra: Callable[[Settings], Mapping[str, Any]] | None = None

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        bank = load_judge_bank(inputs.files.get(KIND))
        return [self._parent(source, bank.seed, settings) for source in self._select(bank, settings)]

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        """How frozen parents differ from what they should be: the shipped sources, or certified ones of the user's bank.

        The bank file of a run is known by its hash alone, so its sources are certified again instead of being read again.
        """
        if KIND not in settings.data:
            expected = self.parents(settings, NO_INPUTS)
            if [parent.id for parent in frozen] != [parent.id for parent in expected]:
                return ["the parents are not those that the shipped judge bank and the settings select, or stand in another order"]
            return [
                f"{a.id}: the frozen source is not that of the shipped judge bank" for a, b in zip(frozen, expected, strict=True) if a != b
            ]
        return [why for parent in frozen if (why := self._flaw(parent, settings))]

    def _flaw(self, parent: Parent, settings: Settings) -> str | None:
        try:
            source = source_of({**parent.payload, "id": parent.id, "workload": parent.domain})
            seed = parent.payload["bank_seed"]
        except (KeyError, TypeError):
            return f"{parent.id}: the frozen parent is no judge source"
        if (why := flaw(source, seed)) is not None:
            return f"{parent.id}: {why}"
        return (
            None
            if parent == self._parent(source, seed, settings)
            else f"{parent.id}: the frozen source is not what the settings make of it"
        )

    def _select(self, bank: JudgeBank, settings: Settings) -> list[JudgeSource]:
        workloads = list(dict.fromkeys(source.workload for source in bank.sources))
        for domain in settings.domains:
            if domain in WORKLOADS and domain not in workloads:
                raise UsageError(f"the judge bank has no workload {domain!r}; it has {', '.join(workloads)}")
        cuts = [cut for cut in (settings.limit, self.at_most) if cut is not None]
        chosen = []
        for workload in workloads:
            if settings.asks(workload):
                chosen += [s for s in bank.split(self.split) if s.workload == workload][: min(cuts, default=None)]
        kept = {source.id for source in chosen}
        return [source for source in bank.split(self.split) if source.id in kept]

    def _parent(self, source: JudgeSource, seed: int, settings: Settings) -> Parent:
        payload = {
            "question": source.question,
            "references": list(source.references),
            "x": source.x,
            "y": source.y,
            "w": _other(source),
            "r": source.r,
            "distance": source.distance,
            "cluster": source.cluster,
            "split": source.split,
            "bank_seed": seed,
            "contracts": contracts_of(settings),
        }
        if self.extra is not None:
            payload |= self.extra(settings)
        return Parent(source.id, source.workload, 1, payload)


def _other(source: JudgeSource) -> str:
    """The mutation that the source did not get: as wrong as the one it got, and another value."""
    (distance,) = set(DISTANCES) - {source.distance}
    other = mutation(Decimal(source.x), distance)
    if other is None:
        raise BankError(f"{source.id}: {source.x} has no {distance} mutation")
    return shown(other)


class ItemParents(Source):
    """A user's items for the audit of their judge; without any, the confirmation sources of the shipped bank."""

    def __init__(self) -> None:
        self._shipped = JudgeParents("confirmation")

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        path = inputs.files.get(ITEMS)
        if path is None:
            return self._shipped.parents(settings, inputs)
        if not settings.asks("items"):
            return []
        return [self._parent(row, settings) for row in load_data(path, ITEMS).rows[: settings.limit]]

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        if ITEMS not in settings.data:
            return self._shipped.check(frozen, settings)
        differences = []
        for parent in frozen:
            try:
                sound = parent == self._parent({"id": parent.id, **parent.payload}, settings)
                p = parent.payload
                certain = not any(same(p["y"], other) for other in (*p["references"], p["x"])) and p["r"] == letters(SEED, parent.id)
                certain = certain and any(same(p["x"], other) for other in p["references"])
            except (KeyError, TypeError):
                sound = certain = False
            if not (sound and certain):
                differences.append(f"{parent.id}: the frozen item is not a labelled item with the letters of its id")
        return differences

    def _parent(self, row: Mapping[str, Any], settings: Settings) -> Parent:
        payload = {key: row[key] for key in ("question", "references", "x", "y", "r")}
        return Parent(row["id"], "items", 1, payload | {"distance": "given", "contracts": contracts_of(settings)})


def components(settings: Settings) -> dict[str, Any]:
    """The one-object presentations per contract that change bytes."""
    return {"components": {name: components_of(name, settings) for name in contracts_of(settings)}}


class SwitchParents(Source):
    """The 24 reference-switch pairs; with a limit, the first of them."""

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        if not settings.asks(SWITCH):
            return []
        return [_switch_parent(pair) for pair in pairs()[: settings.limit]]

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        same = list(frozen) == self.parents(settings, NO_INPUTS)
        return [] if same else ["the frozen pairs are not the reference-switch pairs of the settings"]


def _switch_parent(pair: Pair) -> Parent:
    payload = {
        "question": _switch_question(pair.item),
        "x": str(pair.x),
        "y": str(pair.y),
        "r": pair.r,
        "distance": pair.distance,
        "order": "rising" if pair.x < pair.y else "falling",
        "contracts": ["FINAL3"],
    }
    return Parent(pair.id, SWITCH, 1, payload)


def _switch_question(item: str) -> str:
    template: str = contracts()["judge"]["reference_switch"]["question"]
    return template.format(item=item)
