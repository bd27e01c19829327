"""Real requests of a panel for the benchmarks: its own programs, answered by a simulated model, as chat bodies in rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from c2s.backends.base import Call
from c2s.backends.registry import open_model
from c2s.controllers.program import ParentProgram
from c2s.dialects import dialect
from c2s.dialects.chat import Chat
from c2s.errors import C2SError
from c2s.panels.registry import panel
from c2s.records import Ask, Parent, Slot
from c2s.settings import Inputs, Settings

SETTINGS = Settings()


def parents(name: str, per_domain: int) -> list[Parent]:
    """The first parents of each domain in plan order; those without problem texts (WordNet absent) are left out."""
    found: list[Parent] = []
    for domain in panel(name).domains:
        try:
            found += panel(name).source.parents(Settings(limit=per_domain, domain=domain), Inputs())
        except C2SError as error:
            print(f"# without {domain}: {error}")
    return found


def rounds(
    name: str, chosen: Sequence[Parent], arms: Sequence[str], model: str = "sim:positions?p=0.9"
) -> Iterator[list[tuple[Slot, Ask]]]:
    """What waits at once: in each round every open parent's asks. Answers come from a simulated model."""
    backend = open_model(model)
    reader = dialect(backend.dialect)
    programs = {p.id: ParentProgram(name, [a for a in panel(name).arms if a.name in arms], p, SETTINGS) for p in chosen}
    by_id = {p.id: p for p in chosen}
    waiting = [ask for program in programs.values() for ask in program.start()]
    while waiting:
        yield waiting
        calls = [Call(slot, by_id[slot.parent], ask, reader.encode(ask, backend.model)) for slot, ask in waiting]
        after: list[tuple[Slot, Ask]] = []
        for call, exchange in zip(calls, backend.call(calls), strict=True):
            assert exchange.raw is not None
            after += programs[call.slot.parent].receive(call.slot, reader.decode(call.ask, exchange.raw))
        waiting = after


def messages(ask: Ask, contract: str, presentation: str = "insertion") -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The chat messages of an ask under a contract, and the whole body."""
    body = orjson.loads(Chat(contract).encode(ask, "bench"))  # type: ignore[arg-type]
    return body["messages"], body
