"""Construction with END among 51 options on 72 items, at most L + 3 requests each (A.4, B.7)."""

from __future__ import annotations

from c2s.controllers.stopping import CATEGORIES, stopping
from c2s.panels.base import Endpoint, Panel
from c2s.panels.choice.robustness import SEVENTY_TWO

STOPPING = Panel(
    name="stopping",
    what="51 options with END, cap L + 3: exact, premature END, no END, exhaustion, wrong content",
    arms=(stopping(),),
    source=SEVENTY_TWO,
    requires=("wide",),
    endpoints=(
        Endpoint("c2s.reports.choice.stopping:categories", {"categories": CATEGORIES}),
        Endpoint("c2s.reports.choice.stopping:content"),
    ),
)
