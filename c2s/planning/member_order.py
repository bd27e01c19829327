"""Before anything is sent: requests that are to differ in member order alone do so, and repeats are identical (judge paper, 4.2, A.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from c2s.controllers.arm_factors import Factor
from c2s.controllers.program import ParentProgram
from c2s.dialects import Dialect
from c2s.errors import UsageError
from c2s.panels.base import Panel
from c2s.presentation.encode import content_hash
from c2s.records import Parent, Slot
from c2s.settings import Settings


def problems(panel: Panel, bodies: Mapping[Slot, bytes]) -> list[str]:
    """What is wrong with one parent's requests, by the panel's `same_content`: other content, or the same bytes under another order."""
    if not panel.same_content:
        return []
    groups: dict[tuple[Factor | None, ...], dict[str, bytes]] = defaultdict(dict)
    sentences = []
    for slot, body in bodies.items():
        group = panel.content_group(slot.arm)
        if group is not None and groups[group].setdefault(slot.arm, body) != body:
            sentences.append(f"{slot}: a repeat is not byte-identical to its first request")
    for arms in groups.values():
        first, *others = arms
        content = content_hash(arms[first])
        sentences += [
            f"{first} and {other} differ in more than the order of members" for other in others if content_hash(arms[other]) != content
        ]
        if len(set(arms.values())) < len(arms):
            seen: dict[bytes, str] = {}
            same = [f"{name} and {seen[body]}" for name, body in arms.items() if seen.setdefault(body, name) != name]
            sentences += [f"{pair} are the same bytes: this order changes nothing under this protocol" for pair in same]
    return sentences


def check_presentations(parents: Sequence[tuple[Panel, Parent]], settings: Settings, wire: Dialect, model: str) -> None:
    """Encode every first request of the panels that vary presentation. Raises UsageError before a run exists."""
    for panel, parent in parents:
        if not panel.same_content:
            continue
        asks = ParentProgram(panel.name, panel.arms, parent, settings).start()
        for problem in problems(panel, {slot: wire.encode(ask, model) for slot, ask in asks}):
            raise UsageError(f"{panel.name}/{parent.id}: {problem}; nothing was sent")
