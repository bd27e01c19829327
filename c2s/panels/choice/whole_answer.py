"""The whole answer in ordinary text, beside Native on the same items (B.3, Table B1)."""

from __future__ import annotations

from c2s.controllers.continuous import whole_generate
from c2s.controllers.whole_and_local import whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import MAIN_PARENTS

WHOLE_ANSWER = Panel(
    name="whole-answer",
    what="Native under the model's own contract against one uninterrupted answer of 64 tokens, on the frozen bank",
    arms=(whole(), whole_generate(budget="qwen3_8b_whole")),
    source=MAIN_PARENTS,
    pair=("native", "whole_generate"),
    endpoints=(
        *retention(in_json=("accuracy", "transitions")),
        Endpoint("c2s.reports.retained:retained", {"native": "native", "arms": ("whole_generate",), "source": "Table B1"}),
        Endpoint("c2s.reports.choice.continuous:budgets", {"caps": {"whole_generate": 64}}),
    ),
    requires=("text",),
)
