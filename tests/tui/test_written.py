"""Answers that a model wrote: texts, codes and suffixes in the item view; long names of arms in the monitor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c2s_tui import main as tui
from c2s_tui.data.item import ArmView, item_view
from c2s_tui.data.items import named_item
from c2s_tui.data.source import Source
from c2s_tui.text import told_apart
from c2s_tui.views.item import item_lines

from c2s.cli import main


def made(path: Path, panel: str, model: str) -> Path:
    assert main(["run", "--panel", panel, "--model", model, "--limit", "1", "--domain", "math", "--out", str(path), "--json"]) == 0
    return path


def arm_of(run: Path, name: str) -> tuple[ArmView, list[str]]:
    source = Source(run)
    view = item_view(source, named_item(source, "math-6-35"))
    (arm,) = [a for a in view.arms if a.name == name]
    lines = [line.plain.rstrip() for line in item_lines(view, arm.key, 0, 80).lines]
    return arm, lines[next(n for n, line in enumerate(lines) if line.startswith(" POS")) :]


def test_a_continued_answer_is_judged_by_what_was_taken_of_it(tmp_path: Path):
    arm, lines = arm_of(made(tmp_path / "run", "continuous", "sim:writer"), "prefix_continue")
    assert arm.outcome.correct and "".join(step.taken for step in arm.steps) == arm.outcome.output
    assert [line.split() for line in lines[1:4]] == [
        ["1", "·", "8", "8", "✓", "866932"],
        ["2", "8", "6", "6", "✓", "66932"],
        ["3", "86", "6", "6", "✓", "6932"],
    ]
    assert lines[0].split() == ["POS", "PREFIX", "TOOK", "GOLD", "WROTE"], "what is not offered is not shown"
    assert not any("_" in line or "✗" in line for line in lines)


def test_a_continuation_without_a_legal_character_takes_the_marker(tmp_path: Path):
    run = made(tmp_path / "run", "continuous", "sim:writer?habit=spaced&share=1")
    arm, lines = arm_of(run, "prefix_continue")
    assert "".join(step.taken for step in arm.steps) == arm.outcome.output == "_" * 6
    assert lines[1].split() == ["1", "·", "_", "8", "✗", "866932"] and "begins with no character of the alphabet" in " ".join(lines)
    whole, lines = arm_of(run, "whole_generate")
    assert whole.steps[0].options and "OFFERED" in lines[0]


@pytest.mark.parametrize("panel, arm", [("generation", "raw_code"), ("grid", "indexed_code_T0_O0")])
def test_a_code_is_shown_beside_what_it_stands_for(panel: str, arm: str, tmp_path: Path):
    found, lines = arm_of(made(tmp_path / "run", panel, "sim:writer"), arm)
    (step,) = found.steps
    assert (
        step.text != step.shown(step.taken) and step.taken == step.truth and lines[0].split() == ["POS", "TOOK", "GOLD", "WROTE", "OFFERED"]
    )
    assert lines[1].split()[1:5] == [step.shown(step.truth)] * 2 + ["✓", step.text]


@pytest.mark.parametrize("width", ["40", "80"])
def test_arms_with_long_names_can_be_told_apart(width: str, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    run = tmp_path / "run"
    assert main(["run", "--panel", "judge-preflight", "--model", "sim:judge", "--limit", "1", "--out", str(run), "--json"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", width)
    assert tui([str(run), "--once"]) == 0
    text = capsys.readouterr().out
    arms = [re.split(r"  +|\d+/\d+", line[9:].strip())[0] for line in text.splitlines() if re.search(r"Fi\w*3|Fi\w*4", line)]
    assert len(arms) >= 24 and len(set(arms[:24])) == 24 and "1/1" in text


def test_names_lose_their_middle_where_they_still_differ():
    names = ["Rubric.insertion.a", "Rubric.insertion.b", "Rubric.sorted.a", "short"]
    found = told_apart(names, 12)
    assert found["short"] == "short" and len({*found.values()}) == 4 and all(len(text) <= 12 for text in found.values())
