"""A small set of dialogues of our own in the official layout, so that everything runs without Schema-Guided Dialogue.

Three invented services, keyed scripts of events, and two wordings of every event: the second one makes the paraphrases. The shipped
data file is what `c2s data sgd` makes of this folder; a test derives it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from c2s.bankbuild.sgd_select import Quotas
from c2s.banks.keyed import Keyed

SEED = 20261014
PER_SPLIT = {"test": 36, "dev": 9}
QUOTAS = Quotas(per_length=6, services=3, per_service=8, dev_per_length=1, paraphrased=(2, 2, 2), permuted=(1, 1, 1))
NAME = "synthetic"

Wordings = tuple[str, str]


def _slot(description: str, values: Sequence[str], spoken: str, say: Wordings, ask: str) -> dict[str, Any]:
    return {"description": description, "values": list(values), "spoken": spoken, "say": say, "ask": ask}


SERVICES: Mapping[str, Mapping[str, Any]] = {
    "Bakery_1": {
        "description": "Order bread from a neighbourhood bakery",
        "intents": {"FindBread": "Look for a kind of bread", "OrderBread": "Order bread for collection"},
        "open": ("I would like some bread.", "Could you help me to get bread?"),
        "switch": ("Please order it for me.", "Put the order in, please."),
        "slots": {
            "bread_kind": _slot(
                "Kind of bread", ["Rye", "Sourdough", "Baguette", "Flatbread"], "kind of bread",
                ("The bread I want is {}.", "Make the bread {}, please."), "Which kind of bread do you want?",
            ),
            "sliced": _slot(
                "Whether the bread is sliced", ["True", "False"], "slicing",
                ("Sliced? Put {} there.", "For slicing the answer is {}."), "Should it be sliced?",
            ),
        },
    },
    "Boats_1": {
        "description": "Rent a boat on the lake",
        "intents": {"FindBoat": "Look for a boat", "ReserveBoat": "Reserve a boat for a day"},
        "open": ("I need a boat.", "Is there a boat for me?"),
        "switch": ("Reserve that one for me.", "I want to book that boat."),
        "slots": {
            "boat_kind": _slot(
                "Kind of boat", ["Rowing boat", "Sailing boat", "Pedal boat"], "kind of boat",
                ("A {} would be nice.", "I am thinking of a {}."), "Which kind of boat?",
            ),
            "passengers": _slot(
                "Number of passengers", ["1", "2", "3", "4"], "number of passengers",
                ("The number of people is {}.", "Count {} in the boat."), "How many people are coming?",
            ),
            "life_jackets": _slot(
                "Whether life jackets are wanted", ["True", "False"], "life jackets",
                ("For life jackets, note {}.", "Life jackets: {}."), "Do you want life jackets?",
            ),
        },
    },
    "Library_1": {
        "description": "Search and borrow items at a public library",
        "intents": {"FindItem": "Search the catalogue", "BorrowItem": "Borrow an item"},
        "open": ("I am looking for something to read or hear.", "What can your library lend me?"),
        "switch": ("I will borrow it.", "Lend it to me, please."),
        "slots": {
            "medium": _slot(
                "Medium of the item", ["Book", "Audiobook", "Magazine"], "medium",
                ("What I want is this: {}.", "I am after the following: {}."), "Which medium do you prefer?",
            ),
        },
    },
}  # fmt: skip

WORDINGS: Mapping[str, Wordings] = {
    "dontcare": ("I do not mind about the {}.", "As for the {}, anything will do."),
    "change": ("No, I changed my mind. {}", "On second thought, something else. {}"),
    "cancel": ("Forget what I said about the {}.", "Please leave the {} open again."),
    "refuse": ("No, not that.", "I would rather not."),
    "accept": ("Yes, that is fine.", "Good, I take that."),
    "chat": ("Is it far from the station?", "How long does the walk from the station take?"),
    "end": ("That is all for now.", "I need nothing else."),
}
REPLIES = {"far": "It is ten minutes on foot.", "done": "All set.", "other": "Anything else?", "more": "Noted. What else?"}


def write_synthetic(folder: Path) -> Path:
    """Write `test` and `dev` in the official layout and `paraphrases.json` beside them; returns the folder."""
    paraphrases = {}
    for split, count in PER_SPLIT.items():
        (folder / split).mkdir(parents=True, exist_ok=True)
        dialogues = [_dialogue(split, number) for number in range(count)]
        _write(folder / split / "schema.json", [_schema(name) for name in SERVICES])
        _write(folder / split / "dialogues_001.json", [official for official, _ in dialogues])
        if split == "test":
            paraphrases = {f"{NAME}-test-{official['dialogue_id']}": texts for official, texts in dialogues}
    _write(folder / "paraphrases.json", paraphrases)
    return folder


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")


def _schema(name: str) -> dict[str, Any]:
    service = SERVICES[name]
    return {
        "service_name": name,
        "description": service["description"],
        "slots": [
            {"name": slot, "description": s["description"], "is_categorical": True, "possible_values": s["values"]}
            for slot, s in service["slots"].items()
        ],
        "intents": [{"name": intent, "description": text} for intent, text in service["intents"].items()],
    }


def _dialogue(split: str, number: int) -> tuple[dict[str, Any], list[str]]:
    """One official dialogue and the second wording of its user turns."""
    name = list(SERVICES)[number % len(SERVICES)]
    service, key = SERVICES[name], Keyed(SEED, split, number)
    find, act = service["intents"]
    state: dict[str, str] = {}
    intent, event = find, ""
    system: str | None = None
    offer: tuple[str, str] | None = None
    turns, second = [], []
    for _ in range(8):
        event, slot, value = _event(key, service, state, event, intent == act, offer)
        pair, reply = _words(service, event, slot, value)
        if event in ("set", "change"):
            state[slot] = value
        elif event == "accept" and offer is not None:
            state[offer[0]] = offer[1]
        elif event == "dontcare":
            state[slot] = "dontcare"
        elif event == "cancel":
            state.pop(slot)
        intent = act if event == "switch" else "NONE" if event == "end" else find if intent == "NONE" else intent
        offer = None
        open_slots = [s for s in service["slots"] if s not in state]
        if event in ("refuse", "chat", "set") and open_slots and key.below(3) == 0:
            offered = key.pick(open_slots)
            offer = (offered, key.pick(service["slots"][offered]["values"]))
            reply = f"For the {service['slots'][offered]['spoken']} I could offer: {offer[1]}. Would that do?"
        if system is not None:
            turns.append({"speaker": "SYSTEM", "utterance": system, "frames": [{"service": name}]})
        frame = {"service": name, "state": {"active_intent": intent, "slot_values": {s: [v] for s, v in state.items()}}}
        turns.append({"speaker": "USER", "utterance": pair[0], "frames": [frame]})
        second.append(pair[1])
        system = reply
    return {"dialogue_id": f"{number % 7}_{number:05d}", "services": [name], "turns": turns}, second


def _event(
    key: Keyed, service: Mapping[str, Any], state: Mapping[str, str], last: str, acting: bool, offer: tuple[str, str] | None
) -> tuple[str, str, str]:
    """What the user does next, after the event `last`: (event, slot, value); slot and value are empty where it has none."""
    if not last and key.below(3) == 0:
        return "open", "", ""
    if offer is not None:
        return ("accept" if key.below(2) else "refuse"), "", ""
    free = [s for s in service["slots"] if s not in state]
    held = list(state)
    events = ["set"] * 4 * bool(free) + ["dontcare"] * bool(free) + ["change"] * 2 * bool(held) + ["cancel"] * bool(held)
    events += (
        ["switch"] * 2 * bool(held and not acting) + ["chat"] * (last != "chat") + ["end"] * bool(held and last in ("accept", "switch"))
    )
    event = key.pick(events)
    if event in ("chat", "switch", "end"):
        return event, "", ""
    slot = key.pick(free if event in ("set", "dontcare") else held)
    values = [v for v in service["slots"][slot]["values"] if v != state.get(slot)]
    return event, slot, key.pick(values)


def _words(service: Mapping[str, Any], event: str, slot: str, value: str) -> tuple[Wordings, str]:
    """Both wordings of the user's turn and the system's reply to it."""
    if event in ("open", "switch"):
        free = next(iter(service["slots"].values()))
        return service[event], free["ask"] if event == "open" else REPLIES["done"]
    if event in ("set", "change"):
        say = [text.format(value) for text in service["slots"][slot]["say"]]
        if event == "change":
            say = [outer.format(inner) for outer, inner in zip(WORDINGS["change"], say, strict=True)]
        return (say[0], say[1]), REPLIES["more"]
    first, other = WORDINGS[event]
    spoken = service["slots"][slot]["spoken"] if slot else ""
    return (first.format(spoken), other.format(spoken)), REPLIES["far" if event == "chat" else "other"]
