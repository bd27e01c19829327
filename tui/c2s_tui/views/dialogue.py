"""A dialogue: what was said at a turn, and by arm and turn how many fields of the state were right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from c2s.records import VALID_KINDS
from c2s_tui.data.item import ArmView, ItemView, Step
from c2s_tui.text import Hit, Line, Span, cell, span, wrap
from c2s_tui.views.words import arm_title


def is_dialogue(view: ItemView) -> bool:
    turns = view.payload.get("turns")
    return isinstance(turns, list) and bool(turns) and isinstance(view.payload.get("gold"), list)


def dialogue_lines(view: ItemView, shown: ArmView | None, step: Step | None, width: int) -> list[Line]:
    """The turn that is looked at as it was spoken, then one line an arm."""
    turn = _turn(shown, step)
    lines: list[Line] = []
    turns = view.payload["turns"]
    if turn is not None and 1 <= turn <= len(turns) and isinstance(turns[turn - 1], Mapping):
        lines.append(Line(span(f"turn {turn} of {len(turns)}, {view.payload.get('service', '')}", "title")))
        reworded = view.payload.get("paraphrase") if shown is not None and shown.factors.get("version") == "paraphrase" else None
        for who in ("system", "user"):
            said = (
                reworded[turn - 1] if who == "user" and isinstance(reworded, list) and turn <= len(reworded) else turns[turn - 1].get(who)
            )
            if isinstance(said, str):
                texts = wrap(said, max(1, width - 8), 2)
                lines += [Line(span(f"{who if n == 0 else '':<7} ", "dim"), span(text)) for n, text in enumerate(texts)]
    return lines + _by_turn(view, shown, turn, len(turns), width)


def _turn(shown: ArmView | None, step: Step | None) -> int | None:
    """An instance of an arm answers one turn, or its steps are the turns."""
    if shown is None:
        return None
    return shown.turn or (step.step if step is not None else 1)


def _by_turn(view: ItemView, shown: ArmView | None, turn: int | None, turns: int, width: int) -> list[Line]:
    """`✓` where the whole state was right, else the number of wrong fields, with `!` for an answer that was not legal.

    The first wrong turn of an arm is in brackets.
    """
    names = list(dict.fromkeys(arm.name for arm in view.arms))
    size = min(26, max(map(len, names), default=0) + 1)
    head: list[Span] = [cell("state by turn", size + 2, "title")]
    head += [cell(f"{t} ", 5, "mark" if t == turn else "dim", right=True) for t in range(1, turns + 1)]
    legend = span("  ✗ fields wrong  ! not legal  [first wrong turn]  ? undefined", "dim")
    lines = [Line(*head, legend) if Line(*head, legend).width <= width else Line(*head)]
    illegal = {
        (arm.name, r["turn"])
        for arm in view.arms
        if arm.outcome is not None
        for r in _records(arm.outcome.detail)
        if r.get("kind") not in VALID_KINDS
    }
    for name in names:
        here = shown is not None and shown.name == name
        found = _right(view, name)
        first = next((t for t in range(1, turns + 1) if (right := found.get(t)) is not None and not all(right)), None)
        by_turn = any(arm.turn for arm in view.arms if arm.name == name)
        hits = [("arm", name, 0, t if by_turn else 0) for t in range(1, turns + 1)]
        parts = [Span("▶ " if here else "  ", "accent"), cell(arm_title(name), size, "bold" if here else "", hit=hits[0])]
        parts += [_mark(found.get(t, "open"), t == first, (name, t) in illegal, hit) for t, hit in enumerate(hits, start=1)]
        lines.append(Line(*parts).fit(width))
    return lines


def _right(view: ItemView, name: str) -> dict[int, Sequence[bool] | None]:
    """By turn whether each field was right; None for a turn whose outcome is undefined."""
    found: dict[int, Sequence[bool] | None] = {}
    for arm in view.arms:
        if arm.name != name or arm.outcome is None:
            continue
        if arm.outcome.status != "ok" and arm.turn:
            found[arm.turn] = None
        for record in _records(arm.outcome.detail):
            found[record["turn"]] = record["right"]
    return found


def _records(detail: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    turns = detail.get("turns")
    return (
        [t for t in turns if isinstance(t, Mapping) and "turn" in t and isinstance(t.get("right"), list)] if isinstance(turns, list) else []
    )


def _mark(right: Sequence[bool] | Literal["open"] | None, first: bool, illegal: bool, hit: Hit) -> Span:
    if right == "open":
        return cell("… ", 5, "dim", right=True, hit=hit)
    if right is None:
        return cell("? ", 5, "warn", right=True, hit=hit)
    wrong = sum(not value for value in right)
    if not wrong:
        return cell("✓ ", 5, "good", right=True, hit=hit)
    sign = "!" if illegal else "✗"
    return cell(f"[{sign}{wrong}]" if first else f"{sign}{wrong} ", 5, "bad", right=True, hit=hit)
