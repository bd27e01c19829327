"""Runs of several panels: every number stands under its panel's name, with that panel's own arms."""

from __future__ import annotations

from pathlib import Path

import pytest
from c2s_tui import main as tui
from c2s_tui.app import TuiApp
from c2s_tui.data.compare import compare
from c2s_tui.data.item import item_view, sends
from c2s_tui.data.source import Source
from c2s_tui.session import Session, SideChoice
from c2s_tui.views.item import item_lines
from support.pilots import drive

from c2s.cli import main


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("several") / "run"
    options = ["--panel", "main,union,own-plan,copying", "--model", "sim:positions?p=0.8&seed=1", "--limit", "4"]
    assert main(["run", *options, "--out", str(path), "--json"]) == 0
    return path


def shown(run: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    assert tui([str(run), "--once", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    return lines


@pytest.fixture(autouse=True)
def eighty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_the_monitor_has_a_heading_a_panel(run: Path, capsys):
    lines = shown(run, capsys)
    for heading in ("main: Native -> Serial", "union: Native -> Full", "own-plan: Native -> Indexed serial"):
        at = lines.index(heading)
        assert lines[at + 1].startswith("math") and lines[at + 2].startswith("lexical")
    assert "copying" in lines, "its arms have a progress, though it has no pair"
    assert lines[lines.index("union") + 1].split()[:2] == ["math", "Native"]


def test_the_list_of_runs_names_the_arms_of_every_panel(run: Path, capsys):
    lines = [line.strip() for line in shown(run.parent, capsys)]
    at = lines.index("own-plan: Native -> Indexed serial")
    assert all("Native" in line and "SCR" in line and "Serial" not in line for line in lines[at + 1 : at + 3])


@pytest.mark.parametrize(
    "panel, arms",
    [
        ("main", "Native -> Serial"),
        ("union", "Native -> Full"),
        ("own-plan", "Native -> Indexed serial"),
        ("copying", "Raw independent -> Raw serial"),
    ],
)
def test_a_list_names_the_two_arms_of_its_transitions(panel: str, arms: str, run: Path, capsys):
    lines = shown(run, capsys, "--screen", "items", "--filter", f"panel:{panel}")
    assert any(arms in line for line in lines[:4])
    item = shown(run, capsys, "--screen", "item", "--filter", f"panel:{panel}")
    assert panel in item[0]


def test_a_key_goes_through_the_panels(run: Path):
    app = TuiApp(run.parent, run, screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        seen = []
        for _ in range(5):
            await pilot.press("P")
            pair = app.screen.found.selection.pair
            seen.append((app.session.chosen.panel, pair.second))
        assert seen[-1] == (None, "serial") and dict(seen[:-1]) == {
            "main": "serial", "union": "full", "own-plan": "indexed_serial", "copying": "raw_serial",
        }  # fmt: skip

    drive(app, press)


def test_a_comparison_takes_the_panels_that_have_the_arms(run: Path):
    """Of Native and Serial: main, and not the panels that pair Native with another arm."""
    session = Session(run.parent)
    session.open(run)
    here = session.side(SideChoice(run))
    assert len(compare(here, session.side(SideChoice(run, ("native", "independent")))).codes) == 8
    assert len(compare(here, here).codes) == 8
    union = session.side(SideChoice(run, ("native", "full")))
    assert len(compare(union, union).codes) == 8


def test_options_that_are_ids_are_shown_as_what_they_stand_for(tmp_path: Path, capsys):
    """Opaque names of a readout: the item shows characters, the bytes have the names."""
    assert main(["run", "--panel", "readout", "--model", "sim:oracle", "--limit", "1", "--out", str(tmp_path / "run"), "--json"]) == 0
    source = Source(tmp_path / "run")
    view = item_view(source, 1)
    opaque = next(arm for arm in view.arms if arm.name == "raw_opaque" and arm.replicate == 0)
    for step, record in zip(opaque.steps, view.payload["records"], strict=True):
        assert step.shown(step.taken) == step.shown(step.truth) == record["target"][record["position"] - 1]
        (send,) = sends(source, step.slot)
        assert step.truth.encode() in send.row.request and step.truth != step.shown(step.truth)
    lines = [line.plain for line in item_lines(view, opaque.key, 0, 80).lines]
    assert not any(step.truth in line for line in lines for step in opaque.steps)


def test_a_long_arm_name_is_cut_and_never_its_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--panel", "templates", "--model", "sim:oracle", "--limit", "6", "--out", str(tmp_path / "run"), "--json"]) == 0
    capsys.readouterr()
    assert tui([str(tmp_path), "--once", "--screen", "runs"]) == 0
    (math,) = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("math")]
    assert math.count("100.0") == 4 and "Native" in math and "Serial" in math


def test_a_list_over_several_panels_says_which_panel_a_row_belongs_to(tmp_path: Path, capsys):
    options = ["--panel", "main,repeats,copying", "--model", "sim:oracle", "--limit", "1", "--domain", "math"]
    assert main(["run", *options, "--out", str(tmp_path / "run"), "--json"]) == 0
    lines = shown(tmp_path / "run", capsys, "--screen", "items")
    assert any("listed: the 2 of 3 panels that have both arms" in line for line in lines[:4]), lines[:6]
    heads = next(line for line in lines if "PANEL" in line)
    at = heads.index("PANEL")
    assert {line[at:].split()[0] for line in lines[lines.index(heads) + 1 :] if line[at:].strip()} >= {"main"}
