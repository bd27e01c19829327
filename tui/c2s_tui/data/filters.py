"""The filter of the item list: what it may say and how it is typed.

A filter is typed as words: `transition:lost length:4-6 domain:math arm:independent` narrow what is listed, every other
word must occur in the item's id, problem, target or outputs. `"two words"` is one text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from c2s.errors import UsageError, nearest
from c2s.ledger.pairs import TRANSITIONS, Pair
from c2s.ledger.search import Condition
from c2s_tui.data.plan import Plan

SHORT = {"kept": "both"}
KEYS = ("transition", "domain", "length", "panel", "arm")
"""What may stand before a colon; a beginning will do: `t:`, `len:`."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Empty tuples and None mean no restriction. `arms` replaces the panel's own pair."""

    transitions: tuple[str, ...] = ()
    domain: str | None = None
    lengths: tuple[int, int] | None = None
    panel: str | None = None
    arms: tuple[str, str] | None = None
    words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Filter()

    def typed(self) -> str:
        """The text that `parse` reads back as this filter."""
        parts = []
        if self.transitions:
            parts.append(f"transition:{','.join(self.transitions)}")
        if self.domain is not None:
            parts.append(f"domain:{_quoted(self.domain)}")
        if self.lengths is not None:
            low, high = self.lengths
            parts.append(f"length:{low}" if low == high else f"length:{low}-{high}")
        if self.panel is not None:
            parts.append(f"panel:{_quoted(self.panel)}")
        if self.arms is not None:
            parts.append(f"arm:{'/'.join(self.arms)}")
        return " ".join([*parts, *(_quoted(word, text=True) for word in self.words)])


def _quoted(value: str, text: bool = False) -> str:
    plain = re.fullmatch(r"[^\s\"'\\]+", value) and not (text and ":" in value)
    return value if plain else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse(typed: str, plan: Plan) -> Filter:
    """Raises UsageError that names what is known where a value is not. A known key without a value is passed over; quoted it is a text."""
    found = Filter()
    for word, quoted in _words(typed):
        key, colon, value = word.partition(":")
        name = next((name for name in KEYS if key and name.startswith(key.lower())), None)
        if name is not None and colon and not value and not quoted:
            continue  # a key that is being typed restricts nothing yet
        if quoted or not colon or name is None:
            found = replace(found, words=(*found.words, word))
        elif name == "transition":
            chosen = tuple(dict.fromkeys(_transition(part) for part in value.split(",")))
            found = replace(found, transitions=chosen)
        elif name == "domain":
            found = replace(found, domain=_known("domain", value, plan.domains))
        elif name == "panel":
            found = replace(found, panel=_known("panel", value, plan.panels))
        elif name == "length":
            found = replace(found, lengths=_lengths(value))
        else:
            found = replace(found, arms=_arms(value, plan))
    panels_for(found, plan)
    return found


_WORD = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)(?:"|$)|([^\s:]+:)"((?:[^"\\]|\\.)*)(?:"|$)|(\S+))')


def _words(typed: str) -> list[tuple[str, bool]]:
    """Words, with whether the whole word was quoted. A quote that is still open at the end is read as closed: it is being typed."""
    words = []
    for text, key, value, bare in _WORD.findall(typed):
        if bare:
            words.append((bare, False))
        elif key:
            words.append((key + re.sub(r"\\(.)", r"\1", value), False))
        elif text:
            words.append((re.sub(r"\\(.)", r"\1", text), True))
    return words


def _transition(word: str) -> str:
    word = word.lower().replace("-", "_").replace(" ", "_")
    found = _known("transition", word, [*TRANSITIONS, *SHORT])
    return SHORT.get(found, found)


def _known(what: str, value: str, known: list[str]) -> str:
    if value in known:
        return value
    begin = [name for name in known if name.startswith(value)]
    if len(begin) == 1:
        return begin[0]
    raise UsageError(f"no {what} {value!r}{nearest(value, known)}; known: {', '.join(known)}")


def _lengths(value: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", value)
    if not match:
        raise UsageError(f"length {value!r}: give a number, or a range such as 4-6")
    low = int(match[1])
    high = int(match[2]) if match[2] else low
    return min(low, high), max(low, high)


def _arms(value: str, plan: Plan) -> tuple[str, str]:
    known = sorted({arm for arms in plan.arms.values() for arm in arms})
    names = [_known("arm", part, known) for part in value.split("/")]
    if len(names) > 2:
        raise UsageError(f"arm {value!r}: give one arm, or two as first/second")
    return (names[0], names[1]) if len(names) == 2 else (base_pair(plan).first, names[0])


def arm_pair(plan: Plan, first: str, second: str, declared: bool = False) -> Pair:
    """Two arms of a run."""
    a, b = (tuple(sorted(panel for panel, name in plan.turned if name == arm)) for arm in (first, second))
    return Pair(first, second, declared, (a, b))


def base_pair(plan: Plan, panel: str | None = None) -> Pair:
    """The pair of a panel, or of the first panel that has one; the first two arms where none is declared."""
    for name in [panel] if panel else plan.panels:
        pair = plan.pairs.get(name)
        if pair:
            return arm_pair(plan, *pair, declared=True)
    arms = plan.arms.get(panel or next(iter(plan.panels), ""), ())
    return arm_pair(plan, arms[0], arms[1 % len(arms)]) if arms else Pair()


def pair_of(chosen: Filter, plan: Plan) -> Pair:
    """The two arms that the list shows."""
    base = base_pair(plan, chosen.panel)
    return base if chosen.arms is None or chosen.arms == (base.first, base.second) else arm_pair(plan, *chosen.arms)


def panels_of(pair: Pair, plan: Plan) -> list[str]:
    """The panels whose transition is that of these two arms: for a declared pair those that declare it, else all that have both arms."""
    if pair.declared:
        return [p for p in plan.panels if plan.pairs[p] == (pair.first, pair.second)]
    return [p for p in plan.panels if {pair.first, pair.second} <= set(plan.arms[p])]


def panels_for(chosen: Filter, plan: Plan) -> list[str]:
    """The panels to list: the one that was chosen, else all that have the two arms that are compared."""
    pair = pair_of(chosen, plan)
    names = [p for p in panels_of(pair, plan) if chosen.panel in (None, p)]
    if not names and plan.panels:
        raise UsageError(f"no panel of this run has both arms {pair.first} and {pair.second}")
    return names


def condition_of(chosen: Filter, plan: Plan) -> Condition:
    """The filter as a search of the ledger takes it."""
    panels = panels_for(chosen, plan)
    listed = tuple(panels) if len(panels) < len(plan.panels) else None
    return Condition(listed, chosen.domain, chosen.lengths, chosen.transitions, chosen.words)
