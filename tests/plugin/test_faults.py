"""What a package does while a run is made or reported: it neither ends the command nor writes into its output."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from c2s.panels.base import Endpoint
from c2s.panels.registry import PANELS
from c2s.reports import build, retention
from c2s.reports.section import Column, Section

RUN = ("run", "--model", "sim:oracle", "--domain", "math", "--limit", 3)


@pytest.fixture
def faulty_arm(monkeypatch: pytest.MonkeyPatch):
    """`faulty_arm(fault)` lets the arm serial of the panel main end in a fault, after its first answer."""
    main = PANELS["main"]

    def put(fault: Any) -> None:
        def program(parent, context):
            yield next(main.arm("serial").program(parent, context))
            fault()

        arms = tuple(replace(arm, program=program) if arm.name == "serial" else arm for arm in main.arms)
        monkeypatch.setitem(PANELS.loaded, "main", replace(main, arms=arms))

    return put


@pytest.mark.parametrize(
    ("fault", "sentence"), [(lambda: sys.exit(0), "SystemExit: 0"), (lambda: int("x"), "ValueError: invalid literal for int")]
)
def test_a_fault_in_an_arm_ends_the_run_with_its_name_and_is_shown_by_status(c2s, tmp_path: Path, faulty_arm, fault, sentence):
    faulty_arm(fault)
    code, _, err = c2s(*RUN, "--out", tmp_path / "run")
    assert code == 2 and "panel main, parent " in err and f": the arm serial failed: {sentence}" in err and "bug" not in err
    code, out, _ = c2s("status", tmp_path / "run", "--json")
    status = json.loads(out)
    assert f"the arm serial failed: {sentence}" in status["failure"]
    assert status["requests"]["sent"] == status["requests"]["unknown"] == 0 and status["requests"]["open"] > 0


def test_sys_exit_in_an_endpoint_is_a_section_that_says_so(c2s, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert c2s(*RUN, "--out", tmp_path / "run")[0] == 0
    monkeypatch.setattr(retention, "accuracy", lambda *_, **__: sys.exit(0))
    code, out, err = c2s("report", tmp_path / "run", "--json")
    assert code == 1 and "SystemExit: 0" in json.loads(out)["sections"]["accuracy"]["error"] and "SystemExit: 0" in err
    code, out, _ = c2s("verify", tmp_path / "run", "--json")
    assert code == 1 and len(json.loads(out)["differences"]) > 0


def test_sys_exit_anywhere_else_is_a_failure_of_the_command(c2s, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Ends:
        def parents(self, *_: Any) -> Any:
            sys.exit(0)

    monkeypatch.setitem(PANELS.loaded, "main", replace(PANELS["main"], source=Ends()))
    code, _, err = c2s(*RUN, "--out", tmp_path / "run")
    assert code == 2 and err.endswith("c2s: code that is not part of c2s ended the command by sys.exit(0)\n")
    assert c2s("--version")[0] == 0 and c2s("run", "--nonsense")[0] == 2


def test_what_an_endpoint_and_its_layout_print_goes_to_standard_error(monkeypatch: pytest.MonkeyPatch, capsys):
    def layout(rows: Any) -> Any:
        print("layout")
        return rows

    def endpoint(data: Any) -> Section:
        print("endpoint")
        return Section("loud", "t", "ours", (Column("x", "x"),), [{"x": "1"}], layout=layout)

    monkeypatch.setattr(build, "resolve_endpoint", lambda *_: endpoint)
    section = build.section_of(Endpoint("loud_package:endpoint"), [], "main")
    assert section.error is None and section.as_dict(clock=False)["table"] == [{"x": "1"}]
    assert capsys.readouterr() == ("", "endpoint\nlayout\n")
