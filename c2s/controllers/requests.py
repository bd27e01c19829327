"""What local and whole requests have in common: texts, displayed order, state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.controllers.program import Context
from c2s.presentation.encode import canonical_state
from c2s.presentation.option_order import keyed_order
from c2s.presentation.texts import natural
from c2s.records import Contract, Parent, Question, Request, Unit

ALPHABETS: Mapping[str, tuple[str, ...]] = {
    "math": tuple("0123456789"),
    "lexical": tuple("abcdefghijklmnopqrstuvwxyz"),
}
"""Local options of the content track, which makes no END request (A.4)."""


def alphabet(parent: Parent) -> Sequence[str]:
    """The local options of a parent: its own where its item names them, else its domain's."""
    return parent.item.get("alphabet") or ALPHABETS[parent.domain]


def text(ctx: Context, key: str, template: str | None = None) -> str:
    """An instruction of the natural tasks in the given template, or in the run's."""
    return natural(template or ctx.settings.template, key)


def displayed(ctx: Context, parent: Parent, options: Sequence[str], *, position: int, order: int = 0) -> list[str]:
    """Options in the order keyed by (seed, parent, position, order), never by the arm; position 0 is the whole answer."""
    return keyed_order(options, seed=ctx.seed, parent=parent.id, position=position, order=order)


def single(
    state: Mapping[str, Any], instructions: str, options: Sequence[str], unit: Unit, contract: Contract | None = None, *, strip: bool = True
) -> Request:
    """One question named `answer` over literal options without descriptions, and the canonical state string."""
    return Request(canonical_state(state), {"answer": Question(instructions, dict.fromkeys(options), unit)}, contract=contract, strip=strip)


def whole_state(parent: Parent, *, problem: bool = True) -> dict[str, Any]:
    """State keys of Native; without the problem, those of CandidatesOnly."""
    state: dict[str, Any] = {"candidates": parent.candidates, "target_length": parent.length}
    if problem:
        state["problem"] = parent.item["problem"]
    return state


def local_state(parent: Parent, position: int, prefix: str | None) -> dict[str, Any]:
    """State keys of Serial and TeacherForced; without a prefix, those of Independent."""
    state = whole_state(parent) | {"position": position}
    return state if prefix is None else state | {"current_prefix": prefix}


def one_step(parent: Parent) -> Sequence[int]:
    return (1,)


def positions(parent: Parent) -> Sequence[int]:
    return range(1, parent.length + 1)
