"""What is fixed when a run begins: its parents by panel, domain and length, its arms, and the pair that makes the joint table."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from c2s.controllers.arm_factors import Factors
from c2s.errors import UsageError
from c2s.ledger import reader
from c2s.ledger.counters import counts
from c2s.ledger.ranges import count_parents, last_parent

if TYPE_CHECKING:
    from c2s.panels.base import Panel


@dataclass(frozen=True, slots=True)
class Plan:
    """`parents[panel, domain, length]` is a number of parents; ids run from 1 to `last`; those of a panel begin at `first[panel]` or later.

    `turned`: (panel, arm) of arms that have one instance a turn; `whole`: panels whose transition is that of whole trajectories, so that
    what stays right of it is no SCR.
    """

    parents: dict[tuple[str, str, int], int]
    first: dict[str, int]
    last: int
    arms: dict[str, tuple[str, ...]]
    pairs: dict[str, tuple[str, str] | None]
    turned: frozenset[tuple[str, str]] = frozenset()
    whole: frozenset[str] = frozenset()

    @property
    def panels(self) -> list[str]:
        return list(self.arms)

    @property
    def domains(self) -> list[str]:
        return sorted({domain for _, domain, _ in self.parents}, reverse=True)

    def total(self, panel: str, domain: str) -> int:
        return sum(n for (p, d, _), n in self.parents.items() if (p, d) == (panel, domain))


def read_plan(db: sqlite3.Connection, panels: Sequence[str]) -> Plan:
    """Count the parents once; they do not change afterwards. `panels` is the manifest's list, which gives their order."""
    counters = counts(db)
    parents, first = count_parents(db, counters, panels)
    names = list(dict.fromkeys([*panels, *first]))
    found = sorted(first, key=lambda name: (first[name], names.index(name)))
    declared = {name: _declared(name) for name in found}
    asked = {(c.panel, c.arm) for c in counters}
    factors = {key: value for key, value in reader.arms(db).items() if key in asked}
    arms = {name: tuple(arm for panel, arm in factors if panel == name) for name in found}
    pairs = {name: _pair(name, factors) if panel is None else panel.pair for name, panel in declared.items()}
    known = [panel for panel in declared.values() if panel is not None]
    turned = frozenset((panel.name, arm.name) for panel in known for arm in panel.arms if arm.turns is not None)
    return Plan(dict(parents), first, last_parent(db), arms, pairs, turned, frozenset(panel for panel, _ in turned))


def _pair(panel: str, factors: Mapping[tuple[str, str], Factors]) -> tuple[str, str] | None:
    """The arms of a panel that this c2s does not know which are asked as Native and as Serial; None where it lacks one."""
    by_interface = {
        value["interface"]: arm for (name, arm), value in reversed(list(factors.items())) if name == panel and "interface" in value
    }
    return (by_interface["native"], by_interface["serial"]) if {"native", "serial"} <= set(by_interface) else None


def _declared(name: str) -> Panel | None:
    from c2s.panels.registry import panel

    try:
        return panel(name)
    except UsageError:
        return None
