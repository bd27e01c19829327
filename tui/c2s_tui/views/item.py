"""One item: its problem and candidates, its geometry, and an arm's trajectory position by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from c2s.records import INVALID, VALID_KINDS, Outcome
from c2s_tui.data.item import ArmView, ItemView, Step
from c2s_tui.text import Line, Span, bar, cell, span, visible, wrap
from c2s_tui.views.dialogue import dialogue_lines, is_dialogue
from c2s_tui.views.table import Cell, Column, Layout, fit
from c2s_tui.views.words import arm_title, transition_span

STEPS = (
    Column("step", "POS", 3, right=True),
    Column("prefix", "PREFIX", 6, rank=3),
    Column("took", "TOOK", 4),
    Column("gold", "GOLD", 4, rank=1),
    Column("mark", "", 1),
    Column("text", "WROTE", 5, rank=2),
    Column("p", "P", 5, right=True, rank=4),
    Column("bar", "", 6, 16, rank=6),
    Column("gold_p", "P GOLD", 6, right=True, rank=5),
    Column("options", "OFFERED", 10, 400, rank=2),
)


@dataclass(frozen=True, slots=True)
class ItemLines:
    """The lines, and which of them stands for which step of the arm that is shown."""

    lines: tuple[Line, ...]
    steps: tuple[int, ...]


def item_lines(view: ItemView, key: tuple[str, int, int] | None, step: int, width: int, *, place: str = "") -> ItemLines:
    """`key` names the instance of an arm (arm, replicate, turn) whose trajectory is shown.

    `step` is the index of the step whose options are shown below.
    """
    shown = shown_arm(view, key)
    at = None if shown is None or not shown.steps else shown.steps[min(step, len(shown.steps) - 1)]
    lines = _head(view, width, place)
    if is_dialogue(view):
        lines += dialogue_lines(view, shown, at, width)
    else:
        lines += [*_candidates(view, width), *_strip(view, width), *_arms(view, shown, width)]
    first = len(lines) + 1
    steps: tuple[int, ...] = ()
    if shown is not None and at is not None:
        layout = fit(_columns(shown.steps), width - 1)
        lines.append(layout.head(indent=1))
        lines += [Line(" ") + _step_line(s, layout) for s in shown.steps]
        steps = tuple(range(first, first + len(shown.steps)))
        lines += _close(at, width)
    elif shown is not None:
        lines.append(Line(span("this arm has no steps", "dim")))
    if view.note:
        lines += [Line(span(text, "warn")) for text in wrap(view.note, width)]
    return ItemLines(tuple(line.fit(width) for line in lines), steps)


def _columns(steps: tuple[Step, ...]) -> list[Column]:
    """The columns of a trajectory, as wide as what is in them.

    Those of probabilities, prefixes, options, and texts other than the value taken stand there only where there are some.
    """
    shown = {
        "step": [s.question or str(s.step) for s in steps],
        "prefix": [s.prefix for s in steps],
        "took": [_took(s, False).text for s in steps],
        "gold": [s.shown(s.truth) for s in steps],
        "text": [s.text or "" for s in steps],
    }
    reported = any(s.choice is not None and s.choice.probabilities for s in steps)
    absent: tuple[str, ...] = () if reported else ("p", "bar", "gold_p")
    absent += () if any(s.prefix for s in steps) else ("prefix",)
    absent += () if any(s.text is not None and s.text != s.shown(s.taken) for s in steps) else ("text",)
    absent += () if any(s.options != () or s.message for s in steps) else ("options",)
    columns = [c for c in STEPS if c.key not in absent]
    widest = {key: min(24, max(len(visible(text[:64])) for text in texts)) for key, texts in shown.items()}
    return [replace(c, least=max(c.least, min(12, widest.get(c.key, 0))), most=max(c.most, widest.get(c.key, 0))) for c in columns]


def shown_arm(view: ItemView, key: tuple[str, int, int] | None) -> ArmView | None:
    """The arm with this key; the last arm's first instance where there is none."""
    found = view.arm(key) if key is not None else None
    firsts = [arm for arm in view.arms if arm.replicate == 0 and arm.turn <= 1]
    return found or (firsts[-1] if firsts else None)


def _head(view: ItemView, width: int, place: str) -> list[Line]:
    pair = f" · pair {view.pair}" if view.pair else ""
    size = f"{view.length} turns" if is_dialogue(view) else f"length {view.length}"
    left = Line(span(view.name, "bold"), f" · {view.panel} · {view.domain} · {size}", span(pair, "dim"))
    transition = transition_span(view.transition or "pending") if view.compared or not view.closed else span("")
    lines = [
        Line(*left.fit(max(1, width - len(transition.text) - len(place) - 2)).spans, transition, span(f"  {place}" if place else "", "dim"))
    ]
    if view.problem is not None:
        text = wrap(view.problem[:4000], width)
        lines += [Line(line) for line in text[:4]]
        if len(text) > 4:
            lines.append(Line(span(f"({len(text) - 4} more lines of problem text)", "dim")))
    elif not is_dialogue(view):
        facts = "  ".join(f"{key}: {value}" for key, value in view.payload.items() if isinstance(value, str) and key != "target")
        lines += [Line(span(text, "dim")) for text in wrap(facts, width, 4) if text]
    return lines


def _candidates(view: ItemView, width: int) -> list[Line]:
    """Every candidate; the gold one in brackets, the choice of Native (or what stands for it in this panel) with an arrow."""
    if not view.candidates:
        return [Line("target ", span(view.target, "good"))] if view.target is not None else []
    whole = view.compared[0] if view.compared else "native"
    native = next((a.outcome.output for a in view.arms if a.name == whole and a.outcome), None)
    parts: list[Span] = []
    for candidate in view.candidates:
        gold, chosen = candidate == view.target, candidate == native
        text = ("▸" if chosen else " ") + (f"[{visible(candidate)}]" if gold else f" {visible(candidate)} ")
        parts.append(Span(text, "good" if gold else "bad" if chosen else ""))
    lines: list[list[Span]] = [[]]
    used = 0
    for part in parts:
        if lines[-1] and used + len(part.text) > width:
            lines.append([])
            used = 0
        lines[-1].append(part)
        used += len(part.text)
    legend = span(f"  [gold]  ▸{arm_title(whole)}'s choice" if native is not None else "  [gold]", "dim")
    last = Line(*lines[-1])
    rest = [Line(*line) for line in lines[:-1]]
    return [*rest, last + Line(legend)] if last.width + len(legend.text) <= width else [*rest, last]


def _strip(view: ItemView, width: int) -> list[Line]:
    """K(k) over the gold's characters, and the characters that any candidate has there."""
    if view.geometry is None or view.target is None:
        return []
    size = max([3, *(len(union) + 1 for union in view.geometry.unions), *(len(str(k)) + 1 for k in view.geometry.k)])
    if 8 + size * (view.length + 1) > width:
        sizes = ",".join(map(str, view.geometry.k))
        return [Line(span("K ", "dim"), sizes, span("  unions ", "dim"), " ".join(view.geometry.unions))]
    head = [span("gold    ", "dim"), cell("", size)] + [cell(c, size, "good") for c in view.target]
    k = [span("K       ", "dim")] + [cell(str(n), size) for n in view.geometry.k]
    unions = [span("unions  ", "dim"), cell("", size)] + [cell(u, size, "dim" if len(u) == 1 else "") for u in view.geometry.unions]
    return [Line(*head), Line(*k), Line(*unions)]


ARMS = 9
"""Lines of arms that are shown at once; of more, those around the one whose steps are shown."""


def _arms(view: ItemView, shown: ArmView | None, width: int) -> list[Line]:
    """One line an arm: its output and how it was judged; the one whose steps are shown is marked."""
    at = view.arms.index(shown) if shown is not None else 0
    start = max(0, min(at - ARMS // 2, len(view.arms) - ARMS)) if len(view.arms) > ARMS + 1 else 0
    listed = view.arms[start : start + ARMS] if len(view.arms) > ARMS + 1 else view.arms
    size = min(34, max((len(arm_name(arm)) for arm in listed), default=0))
    lines = []
    for arm in listed:
        here = arm is shown
        parts: list[str | Span] = [
            Span("▶ " if here else "  ", "accent"),
            cell(arm_name(arm), size, "bold" if here else "", hit=("arm", *arm.key)),
            " ",
        ]
        lines.append(Line(*parts, *_outcome(arm.outcome, arm.steps)).fit(width))
    if len(listed) < len(view.arms):
        lines.append(Line(span(f"  arms {start + 1} to {start + len(listed)} of {len(view.arms)}; a and A go through them", "dim")))
    return lines


def arm_name(arm: ArmView) -> str:
    """`Serial`, `Serial repeat 2`, `Oracle turn 3`."""
    if arm.turn:
        return f"{arm_title(arm.name)} turn {arm.turn}"
    return arm_title(arm.name) + (f" repeat {arm.replicate + 1}" if arm.replicate else "")


def _outcome(outcome: Outcome | None, steps: tuple[Step, ...]) -> list[Span]:
    if outcome is None:
        done = sum(s.state in ("ok", "error", "unknown", "blocked", "not_needed", "filled") for s in steps)
        return [span(f"… {done} of {len(steps)} steps", "dim")]
    if outcome.status != "ok":
        return [span("? undefined: ", "warn"), span((outcome.reason or "no reason given")[:500])]
    verdict = {True: span("✓ ", "good"), False: span("✗ ", "bad"), None: span("  ", "dim")}[outcome.correct]
    parts = [verdict, span((outcome.output or "")[:200], "good" if outcome.correct else "")]
    if outcome.fidelity is not None:
        parts.append(span("  follows the plan" if outcome.fidelity else "  leaves the plan", "" if outcome.fidelity else "warn"))
    facts = []
    if outcome.kind and outcome.kind not in VALID_KINDS:
        facts.append(outcome.kind.replace("_", " "))
    if outcome.first_wrong is not None:
        facts.append(f"first wrong at {outcome.first_wrong}")
    if outcome.min_confidence is not None:
        facts.append(f"least p {outcome.min_confidence:.3f}")
    return [*parts, span("  " + ", ".join(facts), "dim")]


def _step_line(step: Step, layout: Layout) -> Line:
    choice = step.choice
    wrong = step.truth is not None and step.taken is not None and step.taken != step.truth
    p = choice.probabilities.get(choice.returned) if choice is not None and choice.probabilities else None
    gold_p = choice.probabilities.get(step.truth) if choice is not None and choice.probabilities and step.truth is not None else None
    values: dict[str, Cell] = {
        "step": span(step.question[:20] if step.question else str(step.step), "dim"),
        "prefix": _tail(step.prefix, layout.width("prefix")) if step.prefix else span("·" if step.question is None else "", "dim"),
        "took": _took(step, wrong),
        "gold": step.shown(step.truth),
        "mark": _mark(step, wrong),
        "text": span((step.text or "")[:64]),
        "p": "" if p is None else f"{p:.3f}",
        "bar": span("" if p is None else bar(p, layout.width("bar")), "wrong" if wrong else "bar"),
        "gold_p": "" if gold_p is None else f"{gold_p:.3f}",
        "options": _options(step),
    }
    return layout.row(values)


def _took(step: Step, wrong: bool) -> Span:
    if step.state == "filled":
        return span(step.taken or "", "dim")
    if step.taken is None:
        return span(
            {"planned": "…", "reserved": "…", "sent": "sent"}.get(step.state, step.state.replace("_", " ")),
            "warn" if step.state in ("error", "unknown", "blocked") else "dim",
        )
    if step.taken == INVALID and step.choice is not None and step.choice.returned != INVALID:
        return span(f"{INVALID} {step.choice.returned[:40]}", "bad")
    return span(step.shown(step.taken)[:64], "wrong" if wrong else "good" if step.truth is not None else "")


def _mark(step: Step, wrong: bool) -> Span:
    if step.state == "filled":
        return span("▫", "dim")
    if step.taken is None or step.truth is None:
        return span(" ")
    return span("✗", "bad") if wrong else span("✓", "good")


def _tail(text: str, width: int) -> Span:
    """The end of a prefix, since that is where the next character goes."""
    shown = visible(text[-4 * width - 16 :])
    return Span(shown if len(shown) <= width and len(text) <= width else "…" + shown[-(width - 1) :])


def _options(step: Step) -> tuple[Span, ...] | Span:
    if step.state == "filled":
        return span("filled without a request", "dim")
    if step.options is None:
        return span(step.message or "", "warn")
    if step.message:
        return span(step.message[:400], "warn")
    taken = step.choice.returned if step.choice is not None else None
    parts: list[Span] = []
    for option in step.options[:60]:
        role = "good" if option == step.truth else "bad" if option == taken else "dim"
        parts += [span(step.shown(option)[:40], role), Span(" ")]
    return tuple(parts)


def _close(step: Step, width: int) -> list[Line]:
    """The step looked at: a bar for every option that was offered, in the order in which it was displayed."""
    name = step.question or f"position {step.step}"
    lines = [Line(span(f"{name}, ", "title"), *_how(step))]
    choice = step.choice
    if step.options is None or choice is None or not choice.probabilities:
        if choice is not None:
            lines.append(Line(span("no probabilities were reported", "dim")))
        return lines
    return lines + _bars(step, step.options, choice.returned, choice.probabilities, width)


def _how(step: Step) -> list[Span]:
    if step.state == "filled":
        return [span("filled: the character follows from the candidates, no request was made", "dim")]
    parts = [span(step.state.replace("_", " "), "" if step.state == "ok" else "warn")]
    if step.attempts > 1:
        parts.append(span(f", {step.attempts} sends", "warn"))
    if step.same is False:
        parts.append(span(", the recorded request is not the one that follows from the item", "bad"))
    choice = step.choice
    if choice is not None:
        if not choice.offered:
            began = f", wrote {(step.text or '')[:80]!r}, which begins with no character of the alphabet"
            parts.append(span(began if step.options == () else f", took {choice.returned[:80]!r}, which was not offered", "bad"))
        if choice.disagrees:
            parts.append(span(f", its own argmax is {step.shown(choice.argmax)}", "warn"))
        if choice.reported_confidence is not None:
            parts.append(span(f", confidence reported {choice.reported_confidence:.3f}", "dim"))
        if choice.confidence is not None:
            parts.append(span(f", ours {choice.confidence:.3f}", "dim"))
    if step.message:
        parts.append(span(f": {step.message[:400]}", "warn"))
    return parts


def _bars(step: Step, options: Sequence[str], returned: str, probabilities: Mapping[str, float], width: int) -> list[Line]:
    """Down, then across: as many blocks side by side as keep the list short, with bars as long as that leaves room for."""
    label = min(24, max(len(visible(step.shown(o)[:64])) for o in options))
    most = max(1, (width + 2) // (label + 20))
    across = max(1, min(most, -(-len(options) // 9)))
    size = max(4, min(40, (width + 2) // across - label - 13))
    rows = -(-len(options) // across)
    cells = [_bar_cell(o, step, o == returned, probabilities.get(o), label, size) for o in options[: 4 * 60]]
    lines = []
    for r in range(rows):
        parts: list[Span] = []
        for c in range(across):
            if c * rows + r < len(cells):
                parts += [*cells[c * rows + r], Span("  ")]
        lines.append(Line(*parts))
    return lines


def _bar_cell(option: str, step: Step, taken: bool, p: float | None, label: int, size: int) -> list[Span]:
    gold = option == step.truth
    role = "good" if gold else "bad" if taken else ""
    sign = ("▸" if taken else " ") + ("●" if gold else " ")
    drawn = Span(bar(p or 0.0, size), "good" if gold else "wrong" if taken else "bar")
    return [
        Span(sign, role),
        cell(step.shown(option), label, role),
        Span(" "),
        drawn,
        cell("-" if p is None else f"{p:.3f}", 6, role, right=True),
        Span(" "),
    ]
