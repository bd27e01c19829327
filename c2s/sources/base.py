"""Where the parents of a panel come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from c2s.records import Parent
from c2s.settings import NO_INPUTS, Inputs, Settings


@runtime_checkable
class Source(Protocol):
    """The parents of a panel. A class that names it as its base inherits `outline`."""

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        """The frozen parents in plan order, cut to the settings' `domain` and `limit` (per domain).

        Raises UsageError, BankError or MissingDependency where they cannot be had.
        """
        ...

    def outline(self, settings: Settings) -> list[Parent]:
        """The same parents without texts that have to be joined from elsewhere: enough to count requests."""
        return self.parents(settings, NO_INPUTS)

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        """How parents read from a ledger differ from what they should be, in sentences; empty if they do not."""
        ...


class NoParents(Source):
    """The source of an analysis, which asks nothing."""

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        return []

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        return ["an analysis has no parents"] if frozen else []
