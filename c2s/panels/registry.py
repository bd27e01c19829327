"""All panels by name, and what a run of some of them takes in beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from c2s.errors import UsageError, nearest
from c2s.panels.base import Panel
from c2s.panels.choice.analyses import CONFIDENCE, COST, LEXICAL_AUDIT, PROJECTION, TURNOVER
from c2s.panels.choice.cohort import COHORT
from c2s.panels.choice.continuous import CONTINUOUS
from c2s.panels.choice.copying import COPYING
from c2s.panels.choice.factors import FACTORS
from c2s.panels.choice.generation import GENERATION
from c2s.panels.choice.gold_copy import GOLD_COPY
from c2s.panels.choice.grid import GRID
from c2s.panels.choice.independence import INDEPENDENCE
from c2s.panels.choice.isomorphic import ISOMORPHIC
from c2s.panels.choice.main import MAIN
from c2s.panels.choice.own_plan import OWN_PLAN
from c2s.panels.choice.prefix import PREFIX
from c2s.panels.choice.readout import READOUT
from c2s.panels.choice.repeats import REPEATS
from c2s.panels.choice.robustness import ROBUSTNESS
from c2s.panels.choice.semantic import SEMANTIC
from c2s.panels.choice.stopping import STOPPING
from c2s.panels.choice.support import SUPPORT
from c2s.panels.choice.templates import TEMPLATES
from c2s.panels.choice.token_padding import TOKEN_PADDING
from c2s.panels.choice.union import UNION
from c2s.panels.choice.whole_answer import WHOLE_ANSWER
from c2s.panels.choice.workflows import WORKFLOWS
from c2s.panels.dialogue.states import ACCESS, CONSTRUCTION
from c2s.panels.judge.study import JUDGE_PANELS

PANELS = {
    panel.name: panel
    for panel in (
        MAIN, TURNOVER, ROBUSTNESS, REPEATS, UNION, SUPPORT, FACTORS, INDEPENDENCE, GOLD_COPY, WORKFLOWS, COPYING, PREFIX, OWN_PLAN,
        READOUT, ISOMORPHIC, SEMANTIC, STOPPING, TEMPLATES, WHOLE_ANSWER, CONTINUOUS, GENERATION, GRID, TOKEN_PADDING, COHORT, CONFIDENCE,
        PROJECTION, LEXICAL_AUDIT, CONSTRUCTION, ACCESS, *JUDGE_PANELS, COST,
    )
}  # fmt: skip


def panel(name: str) -> Panel:
    """The panel with this name. Raises UsageError with the near misses."""
    try:
        return PANELS[name]
    except KeyError:
        raise UsageError(f"unknown panel {name!r}{nearest(name, list(PANELS))}; known: {', '.join(PANELS)}, all") from None


@dataclass(frozen=True, slots=True)
class Selection:
    """Panels in an order in which what they use comes first, the names of those that were added for that, and why others are left out."""

    panels: tuple[Panel, ...]
    added: tuple[str, ...]
    skipped: Mapping[str, str]


def select(names: Sequence[str], lacks: Mapping[str, str] | None = None) -> Selection:
    """The named panels with all that they use; "all" stands for every panel that the model supports.

    `lacks` is what a model does not offer (see `Panel.requires`), with the reason. Raises UsageError for an unknown
    panel and for a named one that the model does not support.
    """
    lacks = lacks or {}
    skipped: dict[str, str] = {}
    wanted: list[str] = []
    for name in dict.fromkeys(names):
        if name != "all":
            reason = _unsupported(panel(name), lacks)
            if reason:
                raise UsageError(f"panel {name} cannot be run with this model: {reason}")
            wanted.append(name)
            continue
        for every in PANELS.values():
            reason = _unsupported(every, lacks)
            if reason:
                skipped[every.name] = reason
            else:
                wanted.append(every.name)
    needed: dict[str, None] = {}
    for name in wanted:
        _add(name, needed)
    if not any(PANELS[name].arms for name in needed):
        needed = {"main": None} | needed
    chosen = [every for every in PANELS.values() if every.name in needed]
    ordered = [p for p in chosen if p.arms and not p.prepare] + [p for p in chosen if p.prepare] + [p for p in chosen if not p.arms]
    return Selection(tuple(ordered), tuple(p.name for p in ordered if p.name not in wanted), skipped)


def _add(name: str, needed: dict[str, None]) -> None:
    for used in PANELS[name].uses:
        _add(used, needed)
    needed[name] = None


def _unsupported(panel: Panel, lacks: Mapping[str, str]) -> str | None:
    """Why a model that lacks these things cannot answer the panel or one that it uses; None if it can."""
    for feature in panel.requires:
        if feature in lacks:
            return f"it needs {feature}: {lacks[feature]}"
    for used in panel.uses:
        reason = _unsupported(PANELS[used], lacks)
        if reason:
            return f"it uses {used}; {reason}"
    return None
