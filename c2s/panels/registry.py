"""All panels by name."""

from __future__ import annotations

from c2s.errors import UsageError, nearest
from c2s.panels.base import Panel
from c2s.panels.main import MAIN

PANELS = {panel.name: panel for panel in (MAIN,)}


def panel(name: str) -> Panel:
    """The panel with this name. Raises UsageError with the near misses."""
    try:
        return PANELS[name]
    except KeyError:
        raise UsageError(f"unknown panel {name!r}{nearest(name, list(PANELS))}; known: {', '.join(PANELS)}") from None
