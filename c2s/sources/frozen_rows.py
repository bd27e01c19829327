"""Parents from the frozen files of the package that hold sources of our own: symbolic, long, semantic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from c2s.banks.datafile import load_data
from c2s.banks.keyed import Keyed
from c2s.records import Parent
from c2s.settings import NO_INPUTS, Inputs, Settings
from c2s.sources.base import Source


@dataclass(frozen=True, slots=True)
class FrozenParents(Source):
    """Rows of one file in an order keyed by the seed and dealt over `stratum(row)`, so that every prefix is balanced."""

    file: Path
    domain: str
    build: Callable[[Mapping[str, Any]], Parent]
    stratum: Callable[[Mapping[str, Any]], Any]
    keep: Callable[[Mapping[str, Any]], bool] | None = None

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        if not settings.asks(self.domain):
            return []
        waiting: dict[Any, list[Mapping[str, Any]]] = {}
        for row in filter(self.keep, _rows(self.file)):
            waiting.setdefault(self.stratum(row), []).append(row)
        for group in waiting.values():
            group.sort(key=lambda row: Keyed(settings.seed, "order", row["id"]).below(2**63))
        dealt = [
            group[turn] for turn in range(max(map(len, waiting.values()))) for _, group in sorted(waiting.items()) if turn < len(group)
        ]
        return [self.build(row) for row in dealt[: settings.limit]]

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        """How parents read from a ledger differ from the shipped file and from the settings' selection."""
        expected = self.parents(settings, NO_INPUTS)
        if [p.id for p in frozen] != [p.id for p in expected]:
            return ["the parents are not those that file, seed and settings select, or stand in another order"]
        return [
            f"{a.id}: the frozen item is not that of the shipped {self.file.name}" for a, b in zip(frozen, expected, strict=True) if a != b
        ]


@cache
def _rows(file: Path) -> tuple[dict[str, Any], ...]:
    return load_data(file).rows
