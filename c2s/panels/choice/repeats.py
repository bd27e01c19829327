"""Three identical Native requests and three Serial trajectories of 72 items (appendix D.2, Table D2)."""

from __future__ import annotations

from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.choice.robustness import SEVENTY_TWO
from c2s.panels.retention import retention

REPEATS = Panel(
    name="repeats",
    what="Native x 3 and Serial x 3 with identical requests: stability of choices and of probabilities, apart",
    arms=(whole(replicates=3), serial(replicates=3)),
    source=SEVENTY_TWO,
    pair=("native", "serial"),
    endpoints=(
        *retention(),
        Endpoint("c2s.reports.choice.repeats:retained_by_repeat", {"repeats": 3}),
        Endpoint("c2s.reports.choice.repeats:choice_stability", {"repeats": 3}),
        Endpoint("c2s.reports.choice.repeats:probability_stability", {"repeats": 3}),
    ),
)
