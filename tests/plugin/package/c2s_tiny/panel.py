"""Native and Serial over the animals, with a table of its own."""

from __future__ import annotations

from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.sources.registry import Named

TINY_WORDS = Panel(
    name="tiny-words",
    what="Native and Serial over six animals",
    arms=(whole(), serial()),
    source=Named("tiny-words"),
    domains=("animals",),
    pair=("native", "serial"),
    endpoints=(Endpoint("c2s.reports.retention:accuracy"), Endpoint("c2s_tiny.table:first_letters", {"letters": 1})),
)
