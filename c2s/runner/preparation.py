"""Panels that come after others: held back until those have closed, then prepared once and for all."""

from __future__ import annotations

from collections.abc import Mapping

from c2s.ledger import reader
from c2s.ledger.writer import LedgerWriter
from c2s.panels.base import Panel
from c2s.settings import Settings


class Gate:
    """Says whether a panel's parents may be opened; prepares the panel, in one transaction, when they first may."""

    def __init__(self, writer: LedgerWriter, panels: Mapping[str, Panel], settings: Settings) -> None:
        self._writer, self._panels, self._settings = writer, panels, settings
        self._open: dict[str, int] = {}
        self._passed: set[str] = set()

    def load(self) -> None:
        """Count the parents of every panel that have not closed."""
        self._open = reader.open_parents(self._writer.connection)

    def closed(self, panel: str) -> None:
        """A parent of this panel has closed."""
        self._open[panel] -= 1

    def passes(self, panel: Panel) -> bool:
        if panel.name in self._passed or panel.prepare is None:
            return True
        if any(self._open.get(name, 0) for name in panel.uses):
            return False
        self._writer.commit()
        db = self._writer.connection
        rows = list(reader.parents(db, panel.name))
        if any(row.frozen is None for row in rows):
            outcomes = {name: reader.outcomes_by_parent(db, name) for name in panel.uses}
            added = panel.additions([row.planned for row in rows], outcomes, self._settings)
            self._writer.prepare({row.id: added[row.parent.id] for row in rows if row.frozen is None})
        self._passed.add(panel.name)
        return True
