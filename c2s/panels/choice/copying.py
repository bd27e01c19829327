"""Supplied targets under fixed questions: evidence x controller, padding, wrong targets, rebinding (appendix D.9, D.11, D.12)."""

from __future__ import annotations

from typing import Any

from c2s.banks.interventions import binding_position, wrong_target
from c2s.banks.natural import Item
from c2s.controllers.copying import Control, Evidence, copy, rebound
from c2s.panels.base import Endpoint, Panel
from c2s.settings import Settings
from c2s.sources.natural_items import NaturalParents

EVIDENCE: tuple[Evidence, ...] = ("raw", "indexed")
CONTROLS: tuple[Control, ...] = ("independent", "serial", "batch")


def _extra(item: Item, settings: Settings) -> dict[str, Any]:
    return {"binding_position": binding_position(item)} | wrong_target(item, settings.observed or {})


NINETY_SIX = NaturalParents(pairs=8, extra=_extra)


def _contrasts(family: str, source: str, *pairs: tuple[str, str]) -> Endpoint:
    return Endpoint("c2s.reports.contrasts:contrasts", {"family": family, "pairs": pairs, "source": source, "measure": "fidelity"})


COPYING = Panel(
    name="copying",
    what="raw, indexed and padded targets under Independent, Serial and Batch; wrong targets; opaque names at one position",
    arms=(
        *(copy(f"{evidence}_{control}", evidence, control) for evidence in EVIDENCE for control in CONTROLS),
        copy("padded_serial", "padded", "serial"),
        copy("wrong_raw", "raw", "serial", "wrong"),
        copy("wrong_indexed", "indexed", "serial", "wrong"),
        rebound("opaque_raw", "raw"),
        rebound("opaque_indexed", "indexed"),
    ),
    source=NINETY_SIX,
    endpoints=(
        Endpoint("c2s.reports.choice.copying:fidelity", {"controls": CONTROLS}),
        _contrasts("copying", "Figure 15, twelve tests", ("indexed_serial", "raw_serial"), ("raw_batch", "raw_independent")),
        _contrasts("feedback", "D.11", ("raw_serial", "raw_independent"), ("indexed_serial", "indexed_independent")),
        _contrasts("bytes", "Table D9, four tests", ("indexed_serial", "padded_serial")),
        Endpoint("c2s.reports.choice.copying:wrong_targets"),
        _contrasts("wrong plan", "Figure 16, six tests", ("wrong_indexed", "wrong_raw")),
        _contrasts("wrong - correct", "Figure 16, six tests", ("wrong_indexed", "indexed_serial")),
        Endpoint("c2s.reports.choice.copying:wrong_groups"),
        Endpoint("c2s.reports.choice.copying:binding"),
    ),
    requires=("batch", "descriptions"),
    seed=20261008,
)
