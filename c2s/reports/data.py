"""Outcomes as endpoints read them: one row per parent, from the ledger's outcome rows alone."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from c2s.backends.abilities import is_simulation
from c2s.controllers.arm_factors import Factor
from c2s.ledger import journal, reader
from c2s.ledger.counters import Count, counts, requests_by_state
from c2s.panels.base import Panel
from c2s.panels.registry import PANELS
from c2s.plugins import missing
from c2s.records import Outcome, Parent, Slot

T = TypeVar("T")

REQUEST_STATES = ("planned", "ok", "error", "unknown", "blocked", "not_needed", "open")


@dataclass(frozen=True, slots=True)
class Row:
    """One parent and its outcomes by (arm, replicate, turn)."""

    parent: Parent
    outcomes: Mapping[tuple[str, int, int], Outcome]

    def ok(self, arm: str, replicate: int = 0, turn: int = 0) -> Outcome | None:
        """The outcome, where it is defined; `turn` is from 1 for an arm that has one instance a turn, else 0."""
        outcome = self.outcomes.get((arm, replicate, turn))
        return outcome if outcome is not None and outcome.status == "ok" else None

    def value(self, arm: str, measure: str = "correct", replicate: int = 0, turn: int = 0) -> bool | None:
        """`correct` or `fidelity` of a defined outcome; None otherwise."""
        outcome = self.ok(arm, replicate, turn)
        return None if outcome is None else getattr(outcome, measure)

    def all_ok(self, arms: Sequence[str], replicates: Sequence[int] = (0,)) -> list[Outcome] | None:
        """The outcomes of several arms and repeats, where all are defined."""
        found = [outcome for arm in arms for r in replicates if (outcome := self.ok(arm, r)) is not None]
        return found if len(found) == len(arms) * len(replicates) else None

    def all_values(self, arms: Sequence[str]) -> list[bool] | None:
        """Whether each of several arms is right, where all are defined."""
        found = [value for arm in arms if (value := self.value(arm)) is not None]
        return found if len(found) == len(arms) else None

    @property
    def stratum(self) -> Any:
        """What its panel's bootstrap keeps fixed: the length, unless the frozen item names something finer."""
        return self.parent.stratum


class RunData:
    """One run directory: its identity and its panels, each read once. `provenance` is its manifest's, which no number follows from.

    `altered` tells that the manifest, with the hash `manifest_sha256`, is not the one that the ledger was planned with.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        identity: Mapping[str, Any],
        provenance: Mapping[str, Any] | None = None,
        directory: str = "",
        manifest_sha256: str | None = None,
    ) -> None:
        self.altered = manifest_sha256 is not None and not journal.planned_with(journal.run_values(db), manifest_sha256)
        self.db, self.identity, self.provenance, self.directory = db, identity, provenance or {}, directory
        self._panels: dict[str, PanelData] = {}

    @property
    def model(self) -> str:
        return str(self.identity["model"])

    @property
    def simulation(self) -> bool:
        return is_simulation(self.identity)

    @property
    def asked(self) -> list[str]:
        """Panels that were named for this run; the others are there because these use them."""
        return list(self.identity.get("asked", self.identity["panels"]))

    @cached_property
    def counts(self) -> list[Count]:
        """The ledger's counters, read once for all panels."""
        return counts(self.db)

    @property
    def requests(self) -> dict[str, int]:
        """Requests of all panels by state."""
        return self.requests_of(None)

    def requests_of(self, panel: str | None) -> dict[str, int]:
        """Requests of one panel by state."""
        counted = requests_by_state(self.counts, panel)
        return {key: counted[key] for key in REQUEST_STATES}

    def panel(self, name: str) -> PanelData | None:
        """A panel of this run; None if the run does not have it, or if this c2s does not know it."""
        if name not in self.identity["panels"] or missing("panel", name, self.provenance) is not None:
            return None
        if name not in self._panels:
            self._panels[name] = PanelData(self, PANELS[name])
        return self._panels[name]


class PanelData:
    """One panel of one run."""

    def __init__(self, run: RunData, panel: Panel) -> None:
        self.run, self.panel = run, panel
        self._made: dict[Callable[[PanelData], Any], Any] = {}

    def once(self, make: Callable[[PanelData], T]) -> T:
        """What a function makes of this panel, made once for all sections of the report."""
        if make not in self._made:
            self._made[make] = make(self)
        found: T = self._made[make]
        return found

    def arm(self, **factors: Factor) -> str:
        """The name of the only arm that has these factors. Raises KeyError where there is none, or more than one."""
        found = self.panel.arms_where(**factors)
        if len(found) != 1:
            raise KeyError(f"panel {self.panel.name} has {len(found)} arms with {factors}")
        return found[0].name

    @cached_property
    def rows(self) -> list[Row]:
        """In the order of the plan."""
        found: dict[int, dict[tuple[str, int, int], Outcome]] = defaultdict(dict)
        for number, outcome in reader.outcomes(self.run.db, self.panel.name):
            found[number][outcome.key] = outcome
        return [Row(row.parent, found[row.id]) for row in reader.parents(self.run.db, self.panel.name)]

    @cached_property
    def domains(self) -> dict[str, list[Row]]:
        """Rows by domain, arithmetic before lexical."""
        found: dict[str, list[Row]] = {}
        for name in sorted({row.parent.domain for row in self.rows}, reverse=True):
            found[name] = [row for row in self.rows if row.parent.domain == name]
        return found

    @cached_property
    def requests(self) -> dict[str, int]:
        return self.run.requests_of(self.panel.name)

    @cached_property
    def _shares(self) -> list[tuple[Slot, Slot]]:
        return reader.shared(self.run.db, self.panel.name)

    @property
    def shared(self) -> int:
        """Slots that received the response to another slot's request."""
        return len(self._shares)

    @property
    def shared_between(self) -> list[tuple[str, str]]:
        """(receiving parent, sending parent) of each slot that received the response to another parent's request."""
        return [(slot.parent, owner.parent) for slot, owner in self._shares if slot.parent != owner.parent]

    def calls(self, arm: str, domain: str, state: str = "ok") -> int:
        """Slots of an arm in a state."""
        return sum(c.n for c in self.run.counts if (c.panel, c.arm, c.domain, c.key) == (self.panel.name, arm, domain, state))

    def used(self, name: str) -> PanelData:
        """A panel that this one declares to use; the run has it."""
        found = self.run.panel(name)
        if found is None:
            raise KeyError(f"{self.panel.name} uses {name}, which the run does not have")
        return found


def outcome_of(arm: str, replicate: int = 0) -> Callable[[Row], Outcome | None]:
    """A function that gives a row's outcome of an arm, where it is defined; for `defined`."""
    return lambda row: row.ok(arm, replicate)


def value_of(arm: str, measure: str = "correct", replicate: int = 0) -> Callable[[Row], bool | None]:
    """A function that gives `correct` or `fidelity` of a row's outcome of an arm; for `defined`."""
    return lambda row: row.value(arm, measure, replicate)


def defined(rows: Sequence[Row], *values: Any) -> list[tuple[Any, ...]]:
    """(row, value, ...) of the rows where every function in `values` gives something else than None."""
    result = []
    for row in rows:
        found = [value(row) for value in values]
        if None not in found:
            result.append((row, *found))
    return result


def strata_of(rows: Sequence[Row]) -> list[Any]:
    """Each row's stratum; the length where one of these rows would be alone in its stratum, which leaves nothing to resample."""
    counts = Counter(row.stratum for row in rows)
    return [row.stratum if min(counts.values()) > 1 else row.parent.length for row in rows]
