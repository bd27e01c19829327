"""Seven settings of the natural tasks on 72 items, each with its own Native (appendix D.3, D.4, Figure 10)."""

from __future__ import annotations

from c2s.controllers.whole_and_local import independent, serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import NaturalParents

SEVENTY_TWO = NaturalParents(pairs=6)

SETTINGS = {
    "reference": ("native", "serial", 0),
    "order_1": ("native_order_1", "serial_order_1", 0),
    "order_2": ("native_order_2", "serial_order_2", 0),
    "prompt_v2": ("native_v2", "serial_v2", 0),
    "prompt_v3": ("native_v3", "serial_v3", 0),
    "repeat_1": ("native", "serial", 1),
    "repeat_2": ("native", "serial", 2),
}
"""Setting -> (Native arm, Serial arm, replicate). Repeats are replicates of the reference: identical requests."""

WORDINGS = {"v1": "independent", "v2": "independent_v2", "v3": "independent_v3"}
"""Template -> Independent arm: the panel uses all three for Independent too (E.2)."""

ROBUSTNESS = Panel(
    name="robustness",
    what="seven settings (reference, two orders, two paraphrases, two repeats) of Native and Serial each; Independent in three wordings",
    arms=(
        whole(replicates=3),
        serial(replicates=3),
        *(arm for k in (1, 2) for arm in (whole(f"native_order_{k}", order=k), serial(f"serial_order_{k}", order=k))),
        *(arm for v in ("v2", "v3") for arm in (whole(f"native_{v}", template=v), serial(f"serial_{v}", template=v))),
        *(independent(arm, template=v) for v, arm in WORDINGS.items()),
    ),
    source=SEVENTY_TWO,
    pair=("native", "serial"),
    endpoints=(
        *retention(in_json=("accuracy",)),
        Endpoint("c2s.reports.choice.robustness:by_setting", {"settings": SETTINGS}),
        Endpoint("c2s.reports.choice.robustness:mean_and_worst", {"settings": SETTINGS}),
        Endpoint("c2s.reports.choice.robustness:wordings", {"arms": WORDINGS}),
    ),
    across=(Endpoint("c2s.reports.choice.robustness:ranking", {"settings": SETTINGS}),),
)
