"""Prompt wording x displayed order x evidence x output, at one position of 96 supplied targets (D.13, Figures 17 and 18)."""

from __future__ import annotations

from typing import Any

from c2s.banks.interventions import alphabet, binding_position
from c2s.banks.natural import Item
from c2s.controllers.rendering import ORDERS, OUTPUTS, TEMPLATES, rendering
from c2s.panels.base import Endpoint, Panel
from c2s.settings import Settings
from c2s.sources.natural_items import NaturalParents

EVIDENCE = ("indexed", "direct")


def _extra(item: Item, settings: Settings) -> dict[str, Any]:
    return {"records": [{"target": item.target, "position": binding_position(item), "alphabet": alphabet(item)}]}


COPY_PARENTS = NaturalParents(pairs=8, extra=_extra)

GRID = Panel(
    name="grid",
    what="indexed or direct evidence x code or character x three wordings x three orders; failure kinds, 16 interactions over two models",
    arms=tuple(
        rendering(f"{evidence}_{output}_{template}_O{order}", evidence, output, template=template, order=order)
        for evidence in EVIDENCE
        for output in OUTPUTS
        for template in TEMPLATES
        for order in ORDERS
    ),
    source=COPY_PARENTS,
    endpoints=(
        Endpoint("c2s.reports.choice.generation:heat"),
        Endpoint("c2s.reports.choice.generation:interactions"),
        Endpoint(
            "c2s.reports.choice.generation:accuracy", {"evidence": EVIDENCE, "templates": TEMPLATES, "orders": ORDERS, "source": "D.13"}
        ),
        Endpoint("c2s.reports.choice.generation:failures", {"evidence": EVIDENCE, "templates": TEMPLATES, "orders": ORDERS}),
    ),
    requires=("text",),
    compliance=False,
    seed=20261008,
)
