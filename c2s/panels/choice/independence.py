"""What position accuracies alone would give if errors were independent (appendix D.10, Figure 14): an analysis."""

from __future__ import annotations

from c2s.panels.base import Endpoint, Panel

INDEPENDENCE = Panel(
    name="independence",
    what="product of position accuracies against string EM and Serial EM: Independent (main) and TeacherForced (gold-copy)",
    uses=("main", "gold-copy"),
    endpoints=(Endpoint("c2s.reports.choice.independence:reference"),),
    draws=9_999,
)
