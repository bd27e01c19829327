"""What a plan would send, before anything is sent: requests, bytes, tokens and money.

The plan's own programs are driven with the right answers, so that later steps and their bytes are counted as they would
be. Long plans are sampled: every k-th parent of a panel stands for the others. A panel that is prepared from another's
outcomes is prepared from those that right answers would leave.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from c2s.controllers.program import ParentProgram
from c2s.controllers.replay import Reply, drive
from c2s.dialects import Dialect
from c2s.panels.base import Panel
from c2s.planning.plan import Plan, shared_slots
from c2s.records import Answer, Ask, Choice, Outcome, Parent, Slot
from c2s.spending.prices import EXPECTED_BYTES_PER_TOKEN, Price, tokens_expected, tokens_out, tokens_out_expected

SAMPLE_REQUESTS = 4000


@dataclass(frozen=True, slots=True)
class Estimate:
    """One panel's share. `requests` is the number of slots and `sent` how many of them send a request: the others receive the
    response to an equal one. Bytes, tokens and money are those of what is sent; USD is None where no price is known.

    `usd_expected` takes four bytes a token and answers as long as their budget, or as the price table expects; `usd_reserved` is what
    caps would see.
    """

    panel: str
    parents: int
    requests: int
    sent: int
    sampled: int
    request_bytes: int
    input_tokens: int
    output_tokens: int
    usd_expected: float | None
    usd_reserved: float | None


def estimate(plan: Plan, wire: Dialect, model: str, price: Price | None) -> list[Estimate]:
    """One estimate a panel, in the plan's order."""
    parents: dict[str, list[Parent]] = defaultdict(list)
    for panel, parent in plan.parents:
        parents[panel.name].append(parent)
    panels = {panel.name: panel for panel in plan.panels}
    estimates = []
    for panel in plan.panels:
        if panel.prepare is not None:
            outcomes = {name: {p.id: _drive(panels[name], p, plan)[1] for p in parents[name]} for name in panel.uses if name in panels}
            added = panel.additions(parents[panel.name], outcomes, plan.settings)
            parents[panel.name] = [replace(p, payload=dict(p.payload) | added[p.id]) for p in parents[panel.name]]
        estimates.append(_panel(panel, parents[panel.name], plan, wire, model, price))
    return estimates


def _panel(panel: Panel, parents: Sequence[Parent], plan: Plan, wire: Dialect, model: str, price: Price | None) -> Estimate:
    shared = shared_slots(panel, parents, plan.settings, lambda ask: wire.encode(ask, model)) if panel.share else {}
    receive = Counter(slot.parent for slot in shared)
    slots = [len(panel.slots(parent)) - receive[parent.id] for parent in parents]
    requests = sum(slots)
    every = max(1, -(-requests // SAMPLE_REQUESTS))
    sizes, budgets, reserved, covered = 0, 0, 0.0, 0
    asked = 0
    for parent, count in list(zip(parents, slots, strict=True))[::every]:
        covered += count
        for slot, ask in _drive(panel, parent, plan)[0]:
            if slot in shared:
                continue
            size = len(wire.encode(ask, model))
            asked, sizes, budgets = asked + 1, sizes + size, budgets + tokens_out_expected(ask.request, wire.name, price)
            reserved += price.reserve(size, tokens_out(ask.request, wire.name, price)) if price else 0.0
    if not asked:  # an analysis of other panels' outcomes
        return Estimate(panel.name, len(parents), 0, 0, 0, 0, 0, 0, *((0.0, 0.0) if price else (None, None)))
    scale = requests / covered
    size, out = round(sizes * scale), round(budgets * scale)
    tokens = tokens_expected(size)
    return Estimate(
        panel.name, len(parents), requests + len(shared), requests, asked, size, tokens, out,
        price.expected(size / EXPECTED_BYTES_PER_TOKEN, out) if price else None,
        reserved * scale if price else None,
    )  # fmt: skip


def _drive(panel: Panel, parent: Parent, plan: Plan) -> tuple[list[tuple[Slot, Ask]], list[Outcome]]:
    """Every ask of a parent whose answers are all right, and what they leave."""
    program = ParentProgram(panel.name, panel.arms, parent, plan.settings)
    asks = []

    def right(slot: Slot, ask: Ask) -> Reply:
        asks.append((slot, ask))
        return Reply(Answer({name: _right(ask, name) for name in ask.request.questions}))

    drive(program, right)
    return asks, program.outcomes


def _right(ask: Ask, name: str) -> Choice:
    options = list(ask.request.questions[name].options)
    truth = ask.truth.get(name)
    option = truth if truth in options else options[0]
    return Choice(option, offered=True, argmax=option)
