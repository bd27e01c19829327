"""Reading Schema-Guided Dialogue in its official layout: SPLIT/schema.json and SPLIT/dialogues_*.json (Rastogi et al. 2020).

A prefix of 4, 6 or 8 user turns is eligible if one service persists throughout, that service has one to three categorical slots,
the state (intent and categorical slots) changes at least once, and a categorical slot holds a value (appendix C.1).
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c2s.banks.schema_guided import DONTCARE, DONTCARE_RAW, INTENT, LENGTHS, NONE, UNSET, Prefix, Service, Slot, Turn
from c2s.errors import BankError


@dataclass(frozen=True, slots=True)
class Reading:
    """What a split holds: eligible prefixes, how many dialogues were read, and why prefixes were refused, by length."""

    prefixes: tuple[Prefix, ...]
    dialogues: int
    refused: Mapping[tuple[int, str], int]


def read_split(folder: Path, split: str) -> Reading:
    """Every eligible prefix of one split. BankError where the folder is not in the official layout."""
    services = {service.name: service for service in _schema(folder / split / "schema.json")}
    prefixes: list[Prefix] = []
    refused: Counter[tuple[int, str]] = Counter()
    count = 0
    for path in sorted((folder / split).glob("dialogues_*.json")):
        source = f"{split}/{path.name}"
        for dialogue in _json(path):
            count += 1
            try:
                prefix, reasons = _prefix(dialogue, services, split, source)
            except (KeyError, TypeError, IndexError, AttributeError) as error:
                raise BankError(f"{source}: a dialogue is not in the official format ({type(error).__name__}: {error})") from None
            refused.update(reasons)
            if prefix.lengths:
                prefixes.append(prefix)
    if not count:
        raise BankError(f"{folder / split} holds no dialogues_*.json: give the folder that holds the official test and dev folders")
    ids = Counter(prefix.dialogue for prefix in prefixes)
    twice = [name for name, n in ids.items() if n > 1]
    if twice:
        raise BankError(f"{folder / split}: the dialogue id {twice[0]!r} occurs twice")
    return Reading(tuple(prefixes), count, refused)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise BankError(f"cannot read {path}: {error.strerror}; give the folder that holds the official test and dev folders") from None
    except ValueError:
        raise BankError(f"{path} is not JSON") from None


def _schema(path: Path) -> Iterator[Service]:
    try:
        for service in _json(path):
            slots = tuple(
                Slot(slot["name"], slot["description"], tuple(slot["possible_values"]))
                for slot in service["slots"]
                if slot["is_categorical"]
            )
            intents = {intent["name"]: intent["description"] for intent in service["intents"]}
            yield Service(service["service_name"], service["description"], intents, slots)
    except (KeyError, TypeError) as error:
        raise BankError(f"{path} is not a schema in the official format ({type(error).__name__}: {error})") from None


def _prefix(
    dialogue: Mapping[str, Any], services: Mapping[str, Service], split: str, source: str
) -> tuple[Prefix, dict[tuple[int, str], int]]:
    """The usable beginning of a dialogue, and for every length that is not eligible its first reason."""
    turns: list[Turn] = []
    service: Service | None = None
    stop = "fewer user turns"
    system = None
    for number, turn in enumerate(dialogue["turns"]):
        names = {frame["service"] for frame in turn["frames"]}
        if turn["speaker"] != ("SYSTEM" if number % 2 else "USER"):
            stop = "turns do not alternate"
            break
        if len(names) > 1 or (service is not None and names - {service.name}):
            stop = "more than one service"
            break
        if turn["speaker"] == "SYSTEM":
            system = turn["utterance"]
            continue
        if not names:
            stop = "a user turn without a state"
            break
        service = service or services[names.pop()]
        gold = _gold(service, turn["frames"][0]["state"])
        if gold is None:
            stop = "gold value outside the schema"
            break
        turns.append(Turn(system, turn["utterance"], gold))
        if len(turns) == LENGTHS[-1]:
            break
    service = service or Service("", "", {}, ())
    lengths, reasons = [], {}
    for length in LENGTHS:
        reason = stop if len(turns) < length else _unfit(service, turns[:length])
        if reason is None:
            lengths.append(length)
        else:
            reasons[length, reason] = 1
    return Prefix(split, dialogue["dialogue_id"], source, service, tuple(turns), tuple(lengths)), reasons


def _gold(service: Service, state: Mapping[str, Any]) -> dict[str, str] | None:
    """Intent and categorical slots as values; None where one is not legal or not single."""
    gold = {INTENT: state["active_intent"]}
    if gold[INTENT] not in (NONE, *service.intents):
        return None
    for slot in service.slots:
        values = state["slot_values"].get(slot.name, [])
        if not values:
            gold[slot.name] = UNSET
        elif len(values) == 1 and values[0] == DONTCARE_RAW:
            gold[slot.name] = DONTCARE
        elif len(values) == 1 and values[0] in slot.values:
            gold[slot.name] = values[0]
        else:
            return None
    return gold


def _unfit(service: Service, turns: Sequence[Turn]) -> str | None:
    if not 1 <= len(service.slots) <= 3:
        return "not one to three categorical slots"
    if all(a.gold == b.gold for a, b in itertools.pairwise(turns)):
        return "no state change"
    if all(turn.gold[slot.name] == UNSET for turn in turns for slot in service.slots):
        return "no categorical value"
    return None
