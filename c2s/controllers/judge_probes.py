"""Diagnostic arms of the judge study: a trusted reference that changes under fixed candidates, and bridges under fixed wrong answers.

The reference switch follows the paper (B.1, D.5). The formatting and readable-cue grids are ours: the paper's text of those studies
ends before their templates, so they are built from what it prints of them (5.4, B.2, D.2, D.4). Requests are sorted, the order
of the historical requests (4.1, inferred).
"""

from __future__ import annotations

from collections.abc import Mapping

from c2s.controllers.judge import judge_request, label_arm, required
from c2s.controllers.program import Arm
from c2s.presentation.texts import contracts
from c2s.records import Item, Parent, Request
from c2s.settings import Settings

PRESENTATION = "sorted"
WORLDS = ("x", "y")
BRIDGES = ("blank", "colon", "random", "random_colon")
CONTENTS = ("match", "other", "none")
"""The earlier value: the reference, another wrong value, or no earlier value at all."""

CUES: Mapping[str, str] = {"blank": "", "actual": "Actual", "correct_answer": "Correct answer"}
"""Readable bridges that the paper prints (4.1, B.2)."""


def bridge(name: str, item: Item) -> str:
    """The text between the earlier and the final value; blank keeps its empty line."""
    return CUES[name] if name in CUES else contracts()["judge"]["reference_switch"]["bridges"][name].format(R=item["r"])


def switch_arm(contract: str, world: str, name: str) -> Arm:
    """One candidate (earlier X, final Y) in the world where the trusted record assigns X or Y to the item; two passes."""

    def ask(parent: Parent, settings: Settings) -> tuple[Request, str]:
        item = parent.item
        reply = f"{item['x']}\n{bridge(name, item)}\nFinal answer: {item['y']}."
        return judge_request(contract, settings, item["question"], [_value(item, world)], reply), _label(contract, settings, world == "y")

    return label_arm(
        f"{contract.lower()}.world_{world}.{name}", contract, PRESENTATION, ask, {"world": world, "condition": name}, replicates=2
    )


def switch_control(contract: str, world: str, value: str) -> Arm:
    """The bare value X or Y in a world (ours: the paper counts 96 controls per endpoint and does not print them)."""

    def ask(parent: Parent, settings: Settings) -> tuple[Request, str]:
        item = parent.item
        return judge_request(contract, settings, item["question"], [_value(item, world)], _value(item, value)), _label(
            contract, settings, world == value
        )

    return label_arm(
        f"{contract.lower()}.world_{world}.bare_{value}", contract, PRESENTATION, ask, {"world": world, "condition": f"bare_{value}"}
    )


def probe_arm(contract: str, content: str, name: str) -> Arm:
    """An earlier value, a bridge and the wrong final value of a judge source: always incorrect."""

    def ask(parent: Parent, settings: Settings) -> tuple[Request, str]:
        item = parent.item
        earlier = {"match": f"{item['x']}\n", "other": f"{item['w']}\n", "none": ""}[content]
        reply = f"{earlier}{bridge(name, item)}\nFinal answer: {item['y']}."
        return judge_request(contract, settings, item["question"], item["references"], reply), _label(contract, settings, False)

    return label_arm(f"{contract.lower()}.{content}.{name}", contract, PRESENTATION, ask, {"earlier": content, "condition": name})


def _value(item: Item, name: str) -> str:
    """The value X or Y of a pair."""
    return item["x"] if name == "x" else item["y"]


def _label(contract: str, settings: Settings, right: bool) -> str:
    return required(contract, "bare_correct" if right else "bare_wrong", settings)
