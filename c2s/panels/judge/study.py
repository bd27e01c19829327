"""The judge study's panels: preflight, confirmation, one object at a time, and the diagnostics (judge paper, 4, A.4, B.1, D)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from c2s.banks.judge import KIND, WORKLOADS
from c2s.banks.judge_items import KIND as ITEMS
from c2s.controllers.judge import CONTROLS, CUES, FIXTURES, PUBLISHED, RUBRIC, judge_arm
from c2s.controllers.judge_probes import BRIDGES, CONTENTS, WORLDS, probe_arm, switch_arm, switch_control
from c2s.controllers.judge_probes import CUES as READABLE
from c2s.panels.base import Endpoint, Outcomes, Panel
from c2s.panels.judge.qualification import PRESENTATIONS, failure
from c2s.presentation.encode import COMPONENTS
from c2s.records import Parent
from c2s.settings import Settings
from c2s.sources.judge_sources import SWITCH, ItemParents, JudgeParents, SwitchParents, components, contracts_of

SEED = 20261007154
SCHEDULE = f"hash:{SEED}"
CONTRACTS = (*PUBLISHED, RUBRIC)
SAME_CONTENT = ("contract", "condition")
"""What is asked under one rule and condition differs between presentations in the order of members alone."""


PREFLIGHT_PARENTS = JudgeParents("preflight")
CONFIRMATION_PARENTS = JudgeParents("confirmation")
COMPONENT_PARENTS = JudgeParents("confirmation", extra=components)
ITEM_PARENTS = ItemParents()
PILOT_PARENTS = JudgeParents("confirmation", at_most=8, extra=lambda settings: {"contracts": ["FINAL3"]})


def qualify(parents: Sequence[Parent], outcomes: Outcomes, settings: Settings) -> dict[str, dict[str, Any]]:
    """A configuration that failed preflight is skipped whole; its reason is frozen with every source."""
    reasons = {name: failure(PREFLIGHT, name, outcomes[PREFLIGHT.name]) for name in contracts_of(settings)}
    skip = {name: why for name, why in reasons.items() if why is not None}
    return {parent.id: {"skip": skip} for parent in parents} if skip else {}


PREFLIGHT = Panel(
    name="judge-preflight",
    what="four controls and two fixtures in both presentations on 20 separate sources; decides which configurations go on",
    compliance=False,
    arms=tuple(judge_arm(c, p, condition) for c in CONTRACTS for p in PRESENTATIONS for condition in (*CONTROLS, *FIXTURES)),
    source=PREFLIGHT_PARENTS,
    same_content=SAME_CONTENT,
    domains=WORKLOADS,
    data=KIND,
    endpoints=(Endpoint("c2s.reports.judge.study:preflight"),),
    requires=("symbols",),
    schedule=SCHEDULE,
    seed=SEED,
)

CONFIRMATION = Panel(
    name="judge-confirmation",
    what="two presentations x (R, R:, their duplicates, four controls) on 200 sources; interaction D per configuration, Holm",
    compliance=False,
    arms=tuple(
        judge_arm(c, p, condition, replicates=2 if condition in CUES else 1)
        for c in CONTRACTS
        for p in PRESENTATIONS
        for condition in (*CUES, *CONTROLS)
    ),
    source=CONFIRMATION_PARENTS,
    same_content=SAME_CONTENT,
    domains=WORKLOADS,
    data=KIND,
    uses=(PREFLIGHT.name,),
    prepare=qualify,
    endpoints=tuple(
        Endpoint(f"c2s.reports.judge.{name}")
        for name in (
            "study:interaction",
            "study:cells",
            "study:within_presentation",
            "study:splits",
            "study:qualification",
            "study:duplicates",
            "study:scores",
            "order:order",
        )
    ),
    requires=("symbols",),
    draws=49_999,
    schedule=SCHEDULE,
    seed=SEED,
)

COMPONENT_ARMS = Panel(
    name="judge-components",
    what="R and R: with one object of the request sorted at a time (state, criteria, question, outer); ours",
    compliance=False,
    arms=tuple(
        judge_arm(c, p, condition)
        for c in CONTRACTS
        for p in ("insertion", *(f"sorted:{name}" for name in COMPONENTS), "sorted")
        for condition in CUES
    ),
    source=COMPONENT_PARENTS,
    same_content=SAME_CONTENT,
    domains=WORKLOADS,
    data=KIND,
    endpoints=(Endpoint("c2s.reports.judge.probes:by_component"),),
    requires=("symbols",),
    schedule=SCHEDULE,
    seed=SEED,
)

REFERENCE_SWITCH = Panel(
    name="reference-switch",
    what="24 synthetic pairs in two reference worlds, four bridges, two passes, under FINAL3; directional score contrasts",
    compliance=False,
    arms=tuple(switch_arm("FINAL3", world, name) for world in WORLDS for name in BRIDGES)
    + tuple(switch_control("FINAL3", world, value) for world in WORLDS for value in WORLDS),
    source=SwitchParents(),
    domains=(SWITCH,),
    endpoints=(Endpoint("c2s.reports.judge.probes:reference_switch"),),
    requires=("symbols",),
    schedule="hash:20260930140",
    seed=20260930140,
)

FORMATTING = Panel(
    name="judge-formatting",
    what="earlier value (reference, other, none) x bridge (blank, colon, R, R:) on 16 sources, under FINAL3; scores; ours",
    compliance=False,
    arms=tuple(probe_arm("FINAL3", content, name) for content in CONTENTS for name in BRIDGES),
    source=PILOT_PARENTS,
    domains=WORKLOADS,
    data=KIND,
    endpoints=(Endpoint("c2s.reports.judge.probes:formatting"),),
    requires=("symbols",),
    schedule=SCHEDULE,
    seed=SEED,
)

READABLE_CUES = Panel(
    name="judge-cues",
    what="earlier value (reference, other) x readable cue (blank, Actual, Correct answer) under FINAL3 and FINAL4; ours",
    compliance=False,
    arms=tuple(probe_arm(c, content, name) for c in PUBLISHED for content in CONTENTS[:2] for name in READABLE),
    source=CONFIRMATION_PARENTS,
    domains=WORKLOADS,
    data=KIND,
    endpoints=(Endpoint("c2s.reports.judge.probes:readable_cues"),),
    requires=("symbols",),
    schedule=SCHEDULE,
    seed=SEED,
)

AUDIT = Panel(
    name="judge-audit",
    what="one's own judge on one's own items: the confirmation's 16 calls, and whether any verdict depends on the order of keys; ours",
    compliance=False,
    arms=CONFIRMATION.arms,
    source=ITEM_PARENTS,
    same_content=SAME_CONTENT,
    domains=(*WORKLOADS, "items"),
    data=ITEMS,
    endpoints=tuple(
        Endpoint(f"c2s.reports.judge.{name}")
        for name in ("order:order", "study:interaction", "study:cells", "study:qualification", "study:duplicates", "study:scores")
    ),
    requires=("symbols",),
    draws=49_999,
    schedule=SCHEDULE,
    seed=SEED,
)

JUDGE_PANELS = (PREFLIGHT, CONFIRMATION, COMPONENT_ARMS, REFERENCE_SWITCH, FORMATTING, READABLE_CUES, AUDIT)
