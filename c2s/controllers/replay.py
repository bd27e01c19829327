"""Driving a parent's program with answers that are known already: recorded, copied from another run, or simply the right ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from c2s.controllers.program import ParentProgram
from c2s.records import Answer, Ask, Slot


@dataclass(frozen=True, slots=True)
class Reply:
    """How a slot ended: with an answer, or without one for a `reason`. ValueError where it has neither."""

    answer: Answer | None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.answer is None and self.reason is None:
            raise ValueError("a reply without an answer needs a reason")

    @classmethod
    def failed(cls, state: str, message: str | None) -> Reply:
        """A slot that ended in a state other than ok; the reason enters the arm's outcome."""
        return cls(None, f"{state}: {message}")


Known = Callable[[Slot, Ask], Reply | None]
"""How a slot ended, as far as it is known: None where it has not ended."""


def drive(program: ParentProgram, known: Known, asks: Iterable[tuple[Slot, Ask]] | None = None) -> list[tuple[Slot, Ask]]:
    """Give a program every reply that `known` has, from its start or from these asks on; returns the asks that stay open.

    `known` is called once for every ask that the program makes.
    """
    waiting = list(program.start() if asks is None else asks)
    still_open = []
    while waiting:
        slot, ask = waiting.pop()
        reply = known(slot, ask)
        if reply is None:
            still_open.append((slot, ask))
        else:
            waiting += program.receive(slot, reply.answer, reply.reason)
    return still_open
