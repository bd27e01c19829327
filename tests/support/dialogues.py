"""Scripted dialogue models with declared habits, as functions of a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from c2s.backends.base import Call
from c2s.controllers.dialogue_requests import View

State = dict[str, str]


def turn_of(call: Call) -> int:
    return call.slot.turn or call.slot.step


def gold(call: Call, turn: int) -> State:
    return dict(View(call.parent.payload).gold(turn))


def previous(call: Call) -> State | None:
    """The previous state that the request shows; None where it shows the history."""
    return json.loads(call.ask.request.state).get("previous_state")


def say(call: Call, state: Mapping[str, str]) -> dict[str, str]:
    """The answer that puts this state, for the fields that are asked."""
    ids = {f["name"]: {o["value"]: o["id"] for o in f["options"]} for f in call.parent.payload["fields"]}
    return {name: ids[name][state[name]] for name in call.ask.request.questions}


def first_slot(call: Call) -> str:
    return next(f["name"] for f in call.parent.payload["fields"] if f["name"] != "active_intent")


def forgets_a_slot(call: Call) -> Any:
    """Never holds a value for the first slot."""
    return say(call, gold(call, turn_of(call)) | {first_slot(call): "UNSET"})


def never_changes_a_value(call: Call) -> Any:
    """Keeps the first value that a slot was ever given, as far as it can see."""
    turn = turn_of(call)
    now = gold(call, turn)
    shown = previous(call)
    for name in now:
        if name != "active_intent":
            seen = [gold(call, t)[name] for t in range(1, turn + 1)] if shown is None else [shown[name], now[name]]
            now[name] = next((value for value in seen if value != "UNSET"), "UNSET")
    return say(call, now)


def misses(call: Call) -> bool:
    """Whether this turn is the one in which the gold state first holds a slot's value after the first turn."""
    turn = turn_of(call)
    held = [any(v != "UNSET" for n, v in gold(call, t).items() if n != "active_intent") for t in range(turn + 1)]
    return turn > 1 and held[turn] and not held[turn - 1]


def missed(call: Call) -> State:
    """The state of this turn without its slots."""
    return {name: value if name == "active_intent" else "UNSET" for name, value in gold(call, turn_of(call)).items()}


def recovers(call: Call) -> Any:
    """Misses the first value, and is right ever after."""
    return say(call, missed(call) if misses(call) else gold(call, turn_of(call)))


def copies_its_errors(call: Call) -> Any:
    """Misses the first value; from then on it changes the previous state by what happened in this turn, and nothing else."""
    turn, shown = turn_of(call), previous(call)
    if misses(call):
        return say(call, missed(call))
    now = gold(call, turn)
    if shown is not None:
        before = gold(call, turn - 1)
        now = {name: now[name] if now[name] != before[name] else shown[name] for name in now}
    return say(call, now)
