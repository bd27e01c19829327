"""Factors of arms: declared, true, and enough to tell an arm from every other of its panel."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from c2s.controllers.arm_factors import FACTORS
from c2s.controllers.program import Arm
from c2s.panels.base import Panel
from c2s.panels.registry import PANELS

ASKING = [panel for panel in PANELS.values() if panel.arms]


def _judge(f: dict) -> str:
    return f"{f['contract'].lower()}.{f['presentation']}.{f['condition']}"


def _setting(f: dict) -> str:
    wording = "" if f["template"] in ("run", "v1") else f"_{f['template']}"
    return f["interface"] + (f"_order_{f['order']}" if f.get("order") else wording)


def _support(f: dict) -> str:
    if f["interface"] == "native":
        return "native"
    if f["support"] == "full":
        return "full" if f["fill"] == "none" else "full_fill"
    return f["support"] + ("_call" if f["fill"] == "none" else "_fill")


def _copying(f: dict) -> str:
    if f["names"] == "opaque":
        return f"opaque_{f['evidence']}"
    return f"wrong_{f['evidence']}" if f["supplied"] == "wrong" else f"{f['evidence']}_{f['controller']}"


def _symbolic(f: dict) -> str:
    return f"native_{f['variant']}" if f["interface"] == "native" else f"{f['variant']}_{f['choices']}_{f['queries']}"


NAMES: dict[str, Callable[[dict], str]] = {
    "robustness": _setting,
    "union": _support,
    "support": _support,
    "copying": _copying,
    "own-plan": lambda f: "native" if f["interface"] == "native" else f"{f['evidence']}_{f['controller']}",
    "prefix": lambda f: f"{f['readout']}_{f['draft']}",
    "readout": lambda f: "identity" if f["interface"] == "identity" else f"{f['evidence']}_{f['names']}",
    "isomorphic": lambda f: f"{f['interface']}_{f['operation']}_{f['encoding']}",
    "semantic": lambda f: f"{f['interface']}_{f['variant']}",
    "factors": _symbolic,
    "templates": lambda f: f"{f['interface']}_{f['template']}",
    "generation": lambda f: f"{f['evidence']}_{f['output']}",
    "grid": lambda f: f"{f['evidence']}_{f['output']}_{f['template']}_O{f['order']}",
    "token-padding": lambda f: "padded" if f["evidence"] == "matched" else f["evidence"],
    "continuous": lambda f: "position" if f["interface"] == "serial" else f["interface"],
    "dialogue-access": lambda f: f["interface"] + ("" if f["version"] == "original" else f"_{f['version']}"),
    "judge-preflight": _judge,
    "judge-confirmation": _judge,
    "judge-components": _judge,
    "judge-audit": _judge,
    "reference-switch": lambda f: f"{f['contract'].lower()}.world_{f['world']}.{f['condition']}",
    "judge-formatting": lambda f: f"{f['contract'].lower()}.{f['earlier']}.{f['condition']}",
    "judge-cues": lambda f: f"{f['contract'].lower()}.{f['earlier']}.{f['condition']}",
}
"""How a panel's arms are named from their factors. In the panels that are not listed, the name is the interface."""


@pytest.mark.parametrize("panel", ASKING, ids=lambda p: p.name)
def test_factors_are_declared_and_determine_the_arm(panel: Panel):
    assert all(value in FACTORS[name] for arm in panel.arms for name, value in arm.factors.items())
    assert [panel.arms_where(**arm.factors) for arm in panel.arms] == [(arm,) for arm in panel.arms]
    assert [panel.arm(arm.name) for arm in panel.arms] == list(panel.arms)


@pytest.mark.parametrize("panel", ASKING, ids=lambda p: p.name)
def test_a_name_says_what_the_factors_say(panel: Panel):
    name = NAMES.get(panel.name, lambda f: f["interface"])
    assert [name(dict(arm.factors)) for arm in panel.arms] == [arm.name for arm in panel.arms]


def test_every_declared_value_is_used():
    used = {(name, value) for panel in ASKING for arm in panel.arms for name, value in arm.factors.items()}
    assert used == {(name, value) for name, values in FACTORS.items() for value in values}


def test_lookups():
    judge = PANELS["judge-preflight"]
    arms = judge.arms_where(contract="FINAL4", presentation="sorted")
    assert [arm.factors["condition"] for arm in arms] == [
        "bare_correct", "bare_wrong", "wrong_final", "valid_revision", "no_answer_fixture", "unresolved_fixture",
    ]  # fmt: skip
    assert judge.arms_where(contract="FINAL5") == () == judge.arms_where(evidence="raw")
    with pytest.raises(KeyError, match="main has no arm 'nativ'"):
        PANELS["main"].arm("nativ")


def test_factors_cannot_be_changed():
    given = {"interface": "native"}
    arm = Arm("native", lambda parent, ctx: None, lambda parent: (1,), factors=given)
    given["interface"] = "serial"
    assert arm.factors == {"interface": "native"}
    with pytest.raises(TypeError):
        arm.factors["interface"] = "serial"
