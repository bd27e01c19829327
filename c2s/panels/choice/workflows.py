"""Three ways to an output from one Native selection: return it, solve serially, copy it serially (appendix B.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.controllers.copying import self_plan_spell
from c2s.panels.base import Endpoint, Outcomes, Panel
from c2s.panels.choice.gold_copy import SIXTY
from c2s.records import Parent
from c2s.settings import Settings


def plans(parents: Sequence[Parent], outcomes: Outcomes, settings: Settings) -> Mapping[str, Mapping[str, Any]]:
    """Each parent's plan: main's Native choice, right or wrong; without one, the reason."""
    added = {}
    for parent in parents:
        native = next(o for o in outcomes["main"][parent.id] if o.arm == "native")
        if native.status != "ok":
            added[parent.id] = {"no_plan": f"main's Native is undefined: {native.reason}"}
        elif native.output not in parent.candidates:
            added[parent.id] = {"no_plan": "main's Native chose none of the candidates"}
        else:
            added[parent.id] = {"plan": native.output}
    return added


WORKFLOWS = Panel(
    name="workflows",
    what="program return and independent Serial (main's), and SelfPlanSpell of main's Native choice, on the same items",
    arms=(self_plan_spell(),),
    source=SIXTY,
    uses=("main",),
    prepare=plans,
    endpoints=(Endpoint("c2s.reports.choice.workflows:workflows"),),
)
