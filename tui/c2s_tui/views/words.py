"""The words and signs for transitions and states: a sign, a word and a colour each, so that none of them has to be seen alone."""

from __future__ import annotations

from c2s_tui.text import Span, span

SIGNS = {"both": "=", "native_only": "-", "serial_only": "+", "neither": "·", "undefined": "?", "pending": "…"}
ROLES = {"both": "good", "native_only": "bad", "serial_only": "accent", "neither": "dim", "undefined": "warn", "pending": "dim"}
STATE_ROLES = {
    "running": "accent", "pausing": "warn", "paused": "warn", "interrupted": "warn", "done": "good", "failed": "bad", "unreadable": "bad",
}  # fmt: skip


def word(transition: str, pair: tuple[str, str] = ("native", "serial")) -> str:
    """`native only` rather than `native_only`, with the names of the two arms that are compared."""
    if transition == "native_only":
        return f"{pair[0]} only"
    if transition == "serial_only":
        return f"{pair[1]} only"
    return transition


def transition_span(transition: str, pair: tuple[str, str] = ("native", "serial")) -> Span:
    return span(f"{SIGNS.get(transition, '?')} {word(transition, pair)}", ROLES.get(transition, ""))


def state_span(name: str) -> Span:
    return span(name, STATE_ROLES.get(name, ""))


def arm_title(name: str) -> str:
    """`Native`, `Candidates only`: an arm's name as a heading."""
    return name.replace("_", " ").capitalize()
