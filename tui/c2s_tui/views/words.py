"""The words and signs for transitions and states: a sign, a word and a colour each, so that none of them has to be seen alone."""

from __future__ import annotations

from c2s_tui.text import Span, arm_title, span

__all__ = ["ROLES", "SIGNS", "arm_title", "state_span", "transition_span", "word"]

SIGNS = {"both": "=", "native_only": "-", "serial_only": "+", "neither": "·", "undefined": "?", "pending": "…"}
ROLES = {"both": "good", "native_only": "bad", "serial_only": "accent", "neither": "dim", "undefined": "warn", "pending": "dim"}
ONLY = ("native_only", "serial_only")
STATE_ROLES = {
    "running": "accent", "pausing": "warn", "paused": "warn", "interrupted": "warn", "done": "good", "failed": "bad", "unreadable": "bad",
}  # fmt: skip


def word(transition: str, pair: tuple[str, str] = ("native", "serial")) -> str:
    """`native only` rather than `native_only`, with the names of the two arms that are compared."""
    if transition in ONLY:
        return pair[ONLY.index(transition)].replace("_", " ") + " only"
    return transition


def transition_span(transition: str, pair: tuple[str, str] = ("native", "serial"), columns: int = 80) -> Span:
    """`- native only`, or `- lost` where that is all there is room for."""
    text = f"{SIGNS.get(transition, '?')} {word(transition, pair)}"
    if len(text) > columns and transition in ONLY:
        text = f"{SIGNS[transition]} {('lost', 'gained')[ONLY.index(transition)]}"
    return span(text, ROLES.get(transition, ""))


def state_span(name: str) -> Span:
    return span(name, STATE_ROLES.get(name, ""))
