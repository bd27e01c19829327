"""Sources of parents by name: those that c2s declares, and those that installed packages bring (`c2s.sources`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from c2s.errors import UsageError, nearest
from c2s.plugins import Registry

if TYPE_CHECKING:
    from c2s.records import Parent
    from c2s.settings import Inputs, Settings
    from c2s.sources.base import Source

DECLARED = {
    "natural": "c2s.sources.natural_items:MAIN_PARENTS",
    "dialogues": "c2s.sources.dialogues:DIALOGUES",
}

SOURCES: Registry[Source] = Registry("source", DECLARED, "c2s.sources.base:Source")


@dataclass(frozen=True, slots=True)
class Named:
    """The source with this name, found when it is used: a panel may take its parents from the source of another package."""

    name: str

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        """As the source gives them. Raises UsageError for an unknown name, like the other methods."""
        return self._found().parents(settings, inputs)

    def outline(self, settings: Settings) -> list[Parent]:
        return self._found().outline(settings)

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        return self._found().check(frozen, settings)

    def _found(self) -> Source:
        try:
            return SOURCES[self.name]
        except KeyError:
            known = SOURCES.names()
            raise UsageError(f"unknown source {self.name!r}{nearest(self.name, known)}; known: {', '.join(known)}") from None
