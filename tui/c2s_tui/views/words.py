"""The words and signs for transitions and states: a sign, a word and a colour each, so that none of them has to be seen alone."""

from __future__ import annotations

from c2s_tui.text import Span, arm_title, span

__all__ = ["ROLES", "SIGNS", "arm_title", "state_span", "transition_span"]

SIGNS = {"both": "=", "lost": "-", "gained": "+", "neither": "·", "undefined": "?", "pending": "…"}
ROLES = {"both": "good", "lost": "bad", "gained": "accent", "neither": "dim", "undefined": "warn", "pending": "dim"}
STATE_ROLES = {
    "running": "accent", "pausing": "warn", "paused": "warn", "interrupted": "warn", "done": "good", "failed": "bad", "unreadable": "bad",
}  # fmt: skip


def transition_span(transition: str) -> Span:
    """`- lost`."""
    return span(f"{SIGNS.get(transition, '?')} {transition}", ROLES.get(transition, ""))


def state_span(name: str) -> Span:
    return span(name, STATE_ROLES.get(name, ""))
