"""Thirty fresh Native selections per domain, copied under raw and indexed evidence (A.5, B.1, Table 4, Figure 4)."""

from __future__ import annotations

from c2s.controllers.copying import Control, Evidence, copy
from c2s.controllers.whole_and_local import whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import NaturalParents

THIRTY = NaturalParents(pairs=5)
EVIDENCE: tuple[Evidence, ...] = ("raw", "indexed")
CONTROLS: tuple[Control, ...] = ("independent", "serial")
COPIES = tuple(
    copy(f"{evidence}_{control}", evidence, control, "own", needs=("native",), select="argmax")
    for evidence in EVIDENCE
    for control in CONTROLS
)
ARMS = tuple(arm.name for arm in COPIES)

OWN_PLAN = Panel(
    name="own-plan",
    what="fresh Native, and its selection copied raw or indexed, Independent or Serial; argmax choices; 1 + L requests an arm",
    arms=(
        whole(select="argmax"),
        *COPIES,
    ),
    source=THIRTY,
    pair=("native", "indexed_serial"),
    endpoints=(
        *retention(),
        Endpoint("c2s.reports.choice.own_plan:fidelity", {"arms": ARMS}),
        Endpoint(
            "c2s.reports.contrasts:contrasts",
            {"family": "indexing", "pairs": (("indexed_serial", "raw_serial"),), "source": "Table 4, four tests", "measure": "fidelity"},
        ),
        Endpoint(
            "c2s.reports.contrasts:interaction",
            {
                "arms": ("indexed_serial", "raw_serial", "indexed_independent", "raw_independent"),
                "family": "controller x representation",
                "title": "indexing gain under Serial minus under Independent",
                "source": "B.1, four tests",
                "measure": "fidelity",
            },
        ),
        Endpoint("c2s.reports.choice.own_plan:survival", {"arms": ARMS}),
    ),
)
