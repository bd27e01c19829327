"""Three wordings of the natural tasks on 96 parents per domain, each with its own Native, interleaved (appendix D.4, Tables D3 and D4)."""

from __future__ import annotations

from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import NaturalParents

NINETY_SIX_EACH = NaturalParents(pairs=16)

SETTINGS = {version: (f"native_{version}", f"serial_{version}", 0) for version in ("v1", "v2", "v3")}

TEMPLATES = Panel(
    name="templates",
    what="v1, v2 and v3 of the natural tasks, each with its own Native and Serial; four nonreference Serial contrasts",
    arms=tuple(arm for v in SETTINGS for arm in (whole(f"native_{v}", template=v), serial(f"serial_{v}", template=v))),
    source=NINETY_SIX_EACH,
    pair=("native_v1", "serial_v1"),
    endpoints=(
        *retention(in_json=("accuracy",)),
        Endpoint("c2s.reports.choice.robustness:by_setting", {"settings": SETTINGS, "title": "three wordings", "source": "Table D3"}),
        Endpoint(
            "c2s.reports.contrasts:contrasts",
            {"family": "templates", "pairs": (("serial_v2", "serial_v1"), ("serial_v3", "serial_v1")), "source": "Table D3, four tests"},
        ),
        Endpoint("c2s.reports.choice.robustness:mean_and_worst", {"settings": SETTINGS}),
    ),
    across=(Endpoint("c2s.reports.choice.robustness:ranking", {"settings": SETTINGS}),),
    schedule="round",
)
