"""Position unions against the full alphabet on all items (appendix D.5, Figure 11, Tables D5 and D6)."""

from __future__ import annotations

from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import MAIN_PARENTS

ARMS = ("native", "full", "union_fill")

UNION = Panel(
    name="union",
    what="fresh Native, Full Serial and position-union Serial with singletons supplied; Holm over models x domains",
    arms=(whole(), serial("full"), serial("union_fill", support="union", fill="union")),
    source=MAIN_PARENTS,
    pair=("native", "full"),
    endpoints=(
        *retention(in_json=("accuracy", "transitions")),
        Endpoint("c2s.reports.retained:retained", {"native": "native", "arms": ("full", "union_fill"), "source": "Figure 11"}),
        Endpoint(
            "c2s.reports.contrasts:contrasts", {"family": "full/union", "pairs": (("union_fill", "full"),), "source": "Figure 11, Table D5"}
        ),
        Endpoint("c2s.reports.choice.support:calls_and_membership", {"arms": ("full", "union_fill"), "source": "Table D6"}),
        Endpoint("c2s.reports.choice.support:feasible_outputs", {"source": "Table D7"}),
    ),
    seed=20261009,
)
