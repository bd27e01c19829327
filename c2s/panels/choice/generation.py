"""Codes and characters under matched generation: three kinds of evidence on 144 records of 132 parents (A.5, B.6, Figure 7)."""

from __future__ import annotations

from c2s.controllers.readout import EVIDENCE
from c2s.controllers.rendering import OUTPUTS, rendering
from c2s.panels.base import Endpoint, Panel
from c2s.panels.choice.readout import READOUT

GENERATION = Panel(
    name="generation",
    what="raw, indexed or direct evidence x generated code or character: the same question, names, order and budget",
    arms=tuple(rendering(f"{evidence}_{output}", evidence, output) for evidence in EVIDENCE for output in OUTPUTS),
    source=READOUT.source,
    domains=READOUT.domains,
    endpoints=(
        Endpoint("c2s.reports.choice.generation:accuracy", {"evidence": EVIDENCE, "source": "Figure 7 a, b"}),
        Endpoint("c2s.reports.choice.generation:differences", {"evidence": EVIDENCE}),
        Endpoint("c2s.reports.choice.generation:failures", {"evidence": EVIDENCE}),
    ),
    requires=("text",),
    compliance=False,
)
