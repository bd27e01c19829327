"""One preselected position of a supplied string: evidence x option names (A.5, B.5, Figures 5b and 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.banks.interventions import alphabet, readout_record
from c2s.banks.natural import Item
from c2s.banks.symbolic import ENCODINGS, ISOMORPHIC_FILE, encoded
from c2s.controllers.readout import EVIDENCE, identity, readout
from c2s.panels.base import Endpoint, Panel
from c2s.presentation.names import NAMINGS
from c2s.records import Parent
from c2s.settings import Inputs, Settings
from c2s.sources.base import Source
from c2s.sources.frozen_rows import FrozenParents
from c2s.sources.natural_items import NaturalParents


def _extra(item: Item, settings: Settings) -> dict[str, Any]:
    return {"records": [readout_record(item.target, alphabet(item), item.id)]}


def _build(row: Mapping[str, Any]) -> Parent:
    """A COPY base in two encodings: two records, one cluster. Position and permutation are the same in both."""
    digits = readout_record(row["source"], ENCODINGS["digits"], row["id"])
    letters = {key: encoded(value, "letters") if isinstance(value, str) else value for key, value in digits.items()}
    return Parent(row["id"], "symbolic", row["length"], {"target": row["source"], "records": [digits, letters]})


NATURAL = NaturalParents(pairs=10, extra=_extra)
TWELVE = FrozenParents(ISOMORPHIC_FILE, "symbolic", _build, lambda row: row["length"], keep=lambda row: row["second"])


class ReadoutParents(Source):
    """Natural items first, then the twelve symbolic bases."""

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        return NATURAL.parents(settings, inputs) + TWELVE.parents(settings, inputs)

    def outline(self, settings: Settings) -> list[Parent]:
        return NATURAL.outline(settings) + TWELVE.outline(settings)

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        symbolic = [p for p in frozen if p.domain == "symbolic"]
        return NATURAL.check([p for p in frozen if p.domain != "symbolic"], settings) + TWELVE.check(symbolic, settings)


READOUT = Panel(
    name="readout",
    what="raw, indexed or direct evidence x opaque, remapped, aligned or conflicting names, two repeats; a true/false identity check",
    arms=(*(readout(evidence, naming) for evidence in EVIDENCE for naming in NAMINGS), identity()),
    source=ReadoutParents(),
    domains=("math", "lexical", "symbolic"),
    endpoints=(
        Endpoint("c2s.reports.choice.readout:by_evidence"),
        Endpoint("c2s.reports.choice.readout:by_name"),
        Endpoint("c2s.reports.choice.readout:conflict_loss"),
        Endpoint("c2s.reports.choice.readout:identity"),
    ),
    requires=("symbols", "descriptions"),
)
