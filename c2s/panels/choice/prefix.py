"""A correct or a one-error draft, read out as a whole answer or as a local character, at one preselected position (A.4)."""

from __future__ import annotations

from typing import Any

from c2s.banks.interventions import prefix_intervention
from c2s.banks.natural import Item
from c2s.controllers.prefix import intervention
from c2s.panels.base import Endpoint, Panel
from c2s.settings import Settings
from c2s.sources.natural_items import NaturalParents


def _extra(item: Item, settings: Settings) -> dict[str, Any]:
    return prefix_intervention(item)


PARENTS = NaturalParents(pairs=6, extra=_extra)

PREFIX = Panel(
    name="prefix",
    what="correct or one-error draft x whole answer or local character, one position an item",
    arms=tuple(intervention(readout, draft) for readout in ("whole", "local") for draft in ("correct", "error")),
    source=PARENTS,
    endpoints=(
        Endpoint("c2s.reports.choice.prefix:accuracy_table"),
        Endpoint(
            "c2s.reports.contrasts:contrasts",
            {"family": "draft", "pairs": (("whole_error", "whole_correct"), ("local_error", "local_correct")), "source": "A.4"},
        ),
        Endpoint(
            "c2s.reports.contrasts:interaction",
            {
                "arms": ("local_correct", "local_error", "whole_correct", "whole_error"),
                "family": "draft x readout",
                "title": "loss from the error, local minus whole",
                "source": "A.4",
            },
        ),
    ),
)
