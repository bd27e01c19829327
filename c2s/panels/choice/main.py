"""The primary panel: 384 + 384 paired items, Native against Serial, with two controls (section 4, Table 1)."""

from __future__ import annotations

from c2s.controllers.whole_and_local import CANDIDATES_ONLY, INDEPENDENT, NATIVE, SERIAL
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import MAIN_PARENTS

MAIN = Panel(
    name="main",
    what="Native, CandidatesOnly, Independent and Serial on the frozen bank; exact McNemar Native/Serial, Holm over models x domains",
    arms=(NATIVE, CANDIDATES_ONLY, INDEPENDENT, SERIAL),
    source=MAIN_PARENTS,
    pair=("native", "serial"),
    endpoints=retention(),
    exploratory=(Endpoint("c2s.reports.choice.characters:odds", {"own": ("serial",), "main": ()}),),
)
