"""Running one arm or one panel by hand, without a ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from c2s.backends.base import Call
from c2s.controllers.program import Arm, ParentProgram
from c2s.dialects.systemone import SystemOne
from c2s.records import Ask, Outcome, Parent, Slot
from c2s.settings import Inputs, Settings
from c2s.sources.base import Source

SETTINGS = Settings()


class Listed(Source):
    """A source that is a list of parents."""

    def __init__(self, parents: Sequence[Parent]) -> None:
        self.listed = list(parents)

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        return self.listed

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        return []


def play(
    parent: Parent, arms: Sequence[Arm], say: Callable[[Slot, Ask], dict[str, str] | str]
) -> tuple[dict[str, Outcome], list[tuple[Slot, Ask]]]:
    """Outcomes by arm (replicate 0) and everything that was asked, with `say(slot, ask)` as the model."""
    import orjson

    program = ParentProgram("test", arms, parent, SETTINGS)
    asked: list[tuple[Slot, Ask]] = []
    waiting = program.start()
    while waiting:
        slot, ask = waiting.pop(0)
        asked.append((slot, ask))
        said = say(slot, ask)
        chosen = said if isinstance(said, dict) else dict.fromkeys(ask.request.questions, said)
        raw = orjson.dumps({"answers": {name: {"choice": option} for name, option in chosen.items()}})
        waiting += program.receive(slot, SystemOne().decode(ask, raw))
    assert program.closed
    return {o.arm: o for o in program.outcomes if o.replicate == 0 and o.turn <= 1}, asked


def truth(slot: Slot, ask: Ask) -> dict[str, str]:
    """The oracle."""
    return dict(ask.truth)


def as_call(parent: Parent, slot: Slot, ask: Ask) -> Call:
    return Call(slot, parent, ask, SystemOne().encode(ask, "test"))
