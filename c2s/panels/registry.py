"""All panels by name, and what a run of some of them takes in beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from c2s.errors import UsageError, nearest
from c2s.plugins import Registry, resolve_endpoint

if TYPE_CHECKING:
    from c2s.panels.base import Panel

DECLARED = {
    "main": "c2s.panels.choice.main:MAIN",
    "turnover": "c2s.panels.choice.analyses:TURNOVER",
    "robustness": "c2s.panels.choice.robustness:ROBUSTNESS",
    "repeats": "c2s.panels.choice.repeats:REPEATS",
    "union": "c2s.panels.choice.union:UNION",
    "support": "c2s.panels.choice.support:SUPPORT",
    "factors": "c2s.panels.choice.factors:FACTORS",
    "independence": "c2s.panels.choice.independence:INDEPENDENCE",
    "gold-copy": "c2s.panels.choice.gold_copy:GOLD_COPY",
    "workflows": "c2s.panels.choice.workflows:WORKFLOWS",
    "copying": "c2s.panels.choice.copying:COPYING",
    "prefix": "c2s.panels.choice.prefix:PREFIX",
    "own-plan": "c2s.panels.choice.own_plan:OWN_PLAN",
    "readout": "c2s.panels.choice.readout:READOUT",
    "isomorphic": "c2s.panels.choice.isomorphic:ISOMORPHIC",
    "semantic": "c2s.panels.choice.semantic:SEMANTIC",
    "stopping": "c2s.panels.choice.stopping:STOPPING",
    "templates": "c2s.panels.choice.templates:TEMPLATES",
    "whole-answer": "c2s.panels.choice.whole_answer:WHOLE_ANSWER",
    "continuous": "c2s.panels.choice.continuous:CONTINUOUS",
    "generation": "c2s.panels.choice.generation:GENERATION",
    "grid": "c2s.panels.choice.grid:GRID",
    "token-padding": "c2s.panels.choice.token_padding:TOKEN_PADDING",
    "cohort": "c2s.panels.choice.cohort:COHORT",
    "confidence": "c2s.panels.choice.analyses:CONFIDENCE",
    "projection": "c2s.panels.choice.analyses:PROJECTION",
    "lexical-audit": "c2s.panels.choice.analyses:LEXICAL_AUDIT",
    "dialogue-construction": "c2s.panels.dialogue.states:CONSTRUCTION",
    "dialogue-access": "c2s.panels.dialogue.states:ACCESS",
    "judge-preflight": "c2s.panels.judge.study:PREFLIGHT",
    "judge-confirmation": "c2s.panels.judge.study:CONFIRMATION",
    "judge-components": "c2s.panels.judge.study:COMPONENT_ARMS",
    "reference-switch": "c2s.panels.judge.study:REFERENCE_SWITCH",
    "judge-formatting": "c2s.panels.judge.study:FORMATTING",
    "judge-cues": "c2s.panels.judge.study:READABLE_CUES",
    "judge-audit": "c2s.panels.judge.study:AUDIT",
    "cost": "c2s.panels.choice.analyses:COST",
}

FEATURES: Mapping[str, str] = {
    "probabilities": "a model that reports probabilities",
    "batch": "a model that takes several questions in one request",
    "singletons": "a model that can be asked with a single option",
    "wide": "a model that takes 51 options",
    "descriptions": "a model that is shown the descriptions of options",
    "text": "a model that writes text",
    "continuation": "a model that goes on from the beginning of an answer",
    "tokenizer": "a model whose tokenizer is at hand",
    "symbols": "a model that takes options of any kind",
}
"""What a panel may require of a model (`Panel.requires`), in words."""

PANELS: Registry[Panel] = Registry("panel", DECLARED, "c2s.panels.base:Panel", named=lambda panel: panel.name)
"""Our panels in the order of reports, then those of installed packages; each is loaded when it is asked for."""


def panel(name: str) -> Panel:
    """The panel with this name. Raises UsageError with the near misses, or where the package that brings it cannot be used."""
    try:
        return PANELS[name]
    except KeyError:
        known = PANELS.names()
        raise UsageError(f"unknown panel {name!r}{nearest(name, known)}; known: {', '.join(known)}, all") from None


def check_endpoints(panels: Sequence[Panel]) -> None:
    """Find every function that the reports of these panels call. Raises UsageError for one that does not resolve."""
    for every in panels:
        for endpoint in (*every.endpoints, *every.across, *every.exploratory):
            resolve_endpoint(every.name, endpoint.function)


@dataclass(frozen=True, slots=True)
class Selection:
    """Panels in an order in which what they use comes first, the names of those that were added for that, and why others are left out."""

    panels: tuple[Panel, ...]
    added: tuple[str, ...]
    skipped: Mapping[str, str]


def select(names: Sequence[str], lacks: Mapping[str, str] | None = None) -> Selection:
    """The named panels with all that they use; "all" stands for every panel of c2s itself that the model supports, so
    that it means the same whatever is installed.

    `lacks` is what a model does not offer (see `Panel.requires`), with the reason. Raises UsageError for an unknown
    panel and for a named one that the model does not support.
    """
    lacks = lacks or {}
    skipped: dict[str, str] = {}
    wanted: list[str] = []
    for name in dict.fromkeys(names):
        if name != "all":
            reason = _unsupported(name, lacks)
            if reason:
                raise UsageError(f"panel {name} cannot be run with this model: {reason}")
            wanted.append(name)
            continue
        for other in PANELS.declared:
            reason = _unsupported(other, lacks)
            if reason:
                skipped[other] = reason
            else:
                wanted.append(other)
    needed = {other for name in wanted for other in _with_used(name)}
    if not any(panel(name).arms for name in needed):
        needed.add("main")
    chosen = [panel(name) for name in PANELS.names() if name in needed]
    ordered = [p for p in chosen if p.arms and not p.prepare] + [p for p in chosen if p.prepare] + [p for p in chosen if not p.arms]
    return Selection(tuple(ordered), tuple(p.name for p in ordered if p.name not in wanted), skipped)


def _with_used(name: str, above: tuple[str, ...] = ()) -> list[str]:
    """A panel's name after those of all panels that it uses. Raises UsageError for a panel that uses itself."""
    if name in above:
        raise UsageError(f"panel {name} uses itself: {' -> '.join((*above, name))}")
    used = [other for direct in panel(name).uses for other in _with_used(direct, (*above, name))]
    return list(dict.fromkeys([*used, name]))


def _unsupported(name: str, lacks: Mapping[str, str]) -> str | None:
    """Why a model that lacks these things cannot answer the panel or one that it uses; None if it can."""
    for other in reversed(_with_used(name)):
        for feature in panel(other).requires:
            if feature in lacks:
                which = "the panel" if other == name else f"it uses the panel {other}, which"
                return f"{which} needs {FEATURES.get(feature, feature)}; {lacks[feature]}"
    return None
