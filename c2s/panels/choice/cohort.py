"""The independent lexical cohort: Native and Serial on targets that no other panel uses (D.15, Table D11)."""

from __future__ import annotations

from c2s.banks.cohort import load_cohort
from c2s.controllers.whole_and_local import NATIVE, SERIAL
from c2s.panels.base import Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import NaturalParents

PARENTS = NaturalParents(bank=load_cohort)

COHORT = Panel(
    name="cohort",
    what="2,347 unused lexical targets, Native and Serial: the second population of the confidence study",
    arms=(NATIVE, SERIAL),
    source=PARENTS,
    domains=("lexical",),
    pair=("native", "serial"),
    endpoints=retention(),
    draws=9_999,
    seed=20261008,
)
