"""One answer, one position after another, or a reconstructed prefix, on 96 parents per domain (D.8, D.18, Tables 3 and D17)."""

from __future__ import annotations

from itertools import combinations

from c2s.controllers.continuous import prefix_continue, whole_generate
from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.choice.templates import NINETY_SIX_EACH
from c2s.panels.retention import retention

GENERATED = ("whole_generate", "position", "prefix_continue")

CONTINUOUS = Panel(
    name="continuous",
    what="direct Native, WholeGenerate, position queries and PrefixContinue without a supplied answer; six paired contrasts",
    arms=(
        whole(contract="direct"),
        whole_generate(),
        serial("position", contract="direct"),
        prefix_continue(),
    ),
    source=NINETY_SIX_EACH,
    pair=("native", "position"),
    endpoints=(
        *retention(in_json=("accuracy",)),
        Endpoint("c2s.reports.choice.continuous:interfaces", {"arms": ("native", *GENERATED)}),
        Endpoint(
            "c2s.reports.contrasts:contrasts",
            {"family": "continuous", "pairs": tuple(combinations(GENERATED, 2)), "source": "D.8, six tests"},
        ),
        Endpoint("c2s.reports.choice.continuous:prefixes"),
        Endpoint("c2s.reports.choice.continuous:budgets", {"caps": {"position": 8, "prefix_continue": 32, "whole_generate": 32}}),
    ),
    requires=("text", "continuation"),
    schedule="round",
)
