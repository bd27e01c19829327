"""A section that cannot be made says why and leaves the others; a panel that is not installed here is named."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c2s.panels.base import Endpoint
from c2s.panels.registry import PANELS
from c2s.records import Outcome, Parent
from c2s.reports import retention
from c2s.reports.build import build, render
from c2s.reports.data import Row
from c2s.reports.section import Column, Section

COLUMNS = (Column("x", "x", "rate"),)


def raises(data: Any) -> Section:
    return Section("raises", "t", "ours", COLUMNS, [{"x": 1 / 0}])


def unprintable(data: Any) -> Section:
    return Section("unprintable", "t", "ours", COLUMNS, [{"x": object()}])


def no_probability(data: Any) -> Section:
    return Section("no_probability", "t", "ours", COLUMNS, [{"x": 0.5, "family": "f", "p": 1.5}])


def bad_layout(data: Any) -> Section:
    return Section("bad_layout", "t", "ours", COLUMNS, [{"x": 0.5}], layout=lambda rows: rows[3])


def bad_cell(data: Any) -> Section:
    return Section("bad_cell", "t", "ours", COLUMNS, [{"x": "words"}])


def ends(data: Any) -> Section:
    raise SystemExit(0)


def odd_family(data: Any) -> Section:
    return Section("odd_family", "t", "ours", COLUMNS, [{"x": 0.5, "family": ["x"], "p": 0.5}])


def odd_p(data: Any) -> Section:
    return Section("odd_p", "t", "ours", COLUMNS, [{"x": 0.5, "family": "f", "p": True + 1j}])


def odd_name(data: Any) -> Section:
    return Section(["a"], "t", "ours", COLUMNS, [{"x": 0.5}])  # type: ignore[arg-type]


def odd_title(data: Any) -> Section:
    return Section("odd_title", 3, "ours", COLUMNS, [{"x": 0.5}])  # type: ignore[arg-type]


def odd_note(data: Any) -> Section:
    return Section("odd_note", "t", "ours", COLUMNS, [{"x": 0.5}], [["a"]])  # type: ignore[list-item]


def odd_undefined(data: Any) -> Section:
    return Section("odd_undefined", "t", "ours", COLUMNS, [{"x": None, "undefined": "why"}])


def no_section(data: Any) -> Section:
    return None  # type: ignore[return-value]


FAULTS = {
    "ends": "SystemExit: 0",
    "odd_family": "a family must be str, not list",
    "odd_p": "p must be int or float, not complex",
    "odd_name": "name must be str, not list",
    "odd_title": "title must be str, not int",
    "odd_note": "a note must be str, not list",
    "odd_undefined": "`undefined` of a row must be dict, not str",
    "no_section": "the endpoint gave no Section, but NoneType",
    "raises": "ZeroDivisionError",
    "unprintable": "TypeError",
    "no_probability": "p = 1.5",
    "bad_layout": "IndexError",
    "bad_cell": "ValueError",
}


@pytest.fixture
def run(c2s, tmp_path: Path) -> Path:
    path = tmp_path / "run"
    assert c2s("run", "--model", "sim:random", "--domain", "math", "--limit", 6, "--out", path)[0] == 0
    return path


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_section_leaves_the_others(c2s, run: Path, monkeypatch: pytest.MonkeyPatch, fault: str):
    for name in FAULTS:
        monkeypatch.setattr(retention, name, globals()[name], raising=False)
    main = PANELS["main"]
    broken = dataclasses.replace(main, endpoints=(Endpoint(f"c2s.reports.retention:{fault}"), *main.endpoints))
    monkeypatch.setitem(PANELS.loaded, "main", broken)
    code, out, err = c2s("report", run, "--format", "json")
    sections = json.loads(out)["sections"]
    assert code == 1 and err.count("\n") == 1
    assert FAULTS[fault] in sections[fault]["error"] and sections[fault]["error"] in err and "'main'" in err
    assert [name for name in sections if "error" in sections[name]] == [fault]
    assert sections["transitions"]["rows"][0]["n"] == 6
    (test,) = sections["mcnemar"]["rows"]  # the faulty section may have had tests of the same family
    if fault.startswith("bad"):  # its table could not be written, but its rows, which hold no test, are known
        assert test["m"] == 1 and test["p_holm"] == test["p"]
    else:
        assert test["m"] is test["p_holm"] is None and 0 <= test["p"] <= 1
        assert f"because '{fault}' could not be made" in test["undefined"]["p_holm"]
    code, out, _ = c2s("report", run)
    assert code == 1 and "could not be made" in " ".join(out.split()) and "main: by target length" in out


def test_names_across_runs_are_unique_and_every_section_is_kept(c2s, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = tmp_path / "other"
    assert c2s("run", "--model", "sim:oracle", "--domain", "math", "--limit", 2, "--out", other)[0] == 0
    one = Section("same", "t", "ours", COLUMNS, [{"x": 0.5}])
    monkeypatch.setattr(retention, "same", lambda data: one, raising=False)
    same = Endpoint("c2s.reports.retention:same")
    monkeypatch.setitem(PANELS.loaded, "main", dataclasses.replace(PANELS["main"], endpoints=(same, same), across=(same, same)))
    document = build([run, other]).as_dict()
    assert list(document["across"]["main"]) == ["same", "same 2"]
    assert list(document["runs"][0]["sections"])[:2] == ["same", "same 2"]


def test_a_run_with_a_section_that_was_not_made_exits_with_1(c2s, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(retention, "by_length", raises)
    code, _, err = c2s("run", "--model", "sim:random", "--domain", "math", "--limit", 2, "--out", tmp_path / "run")
    assert code == 1 and "Section 'by_length' of panel 'main' could not be made" in err


def test_an_unknown_panel_is_named_and_the_others_are_reported(c2s, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "run"
    assert c2s("run", "--panel", "main,prefix", "--model", "sim:random", "--domain", "math", "--limit", 2, "--out", path)[0] == 0
    monkeypatch.delitem(PANELS.declared, "prefix")
    monkeypatch.delitem(PANELS.loaded, "prefix")
    report = build([path])
    assert len(report.errors) == 1 and "panel 'prefix' is not installed here" in report.errors[0]
    text = render(report, "text")
    assert "main: by target length" in text and "prefix" in text
    code, out, err = c2s("report", path, "--format", "json")
    document = json.loads(out)
    assert code == 1 and "bug" not in err and list(document["panels"]) == ["main", "prefix"]
    assert document["panels"]["prefix"]["requests"]["ok"] == 8
    assert document["panels"]["prefix"]["sections"]["panel"]["error"] == report.errors[0]


class Large:
    """As much of a panel's data as the retention sections read: 150,000 items in six lengths."""

    panel = PANELS["main"]

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        flags = rng.random((150_000, 2)) < (0.9, 0.5)
        self.flags = flags
        rows = []
        for i, (native, serial) in enumerate(flags.tolist()):
            both = {(arm, 0, 0): Outcome(arm, correct=right) for arm, right in (("native", native), ("serial", serial))}
            rows.append(Row(Parent(str(i), "math", 3 + i % 6, {}), both))
        self.domains = {"math": rows}


def test_a_table_of_150_000_pairs_uses_the_best_method_that_can_be_done_and_names_it():
    """Finding S9: the exact law of so many items is too large; the interval is drawn then, and the table says how."""
    data = Large()
    section = retention.transitions(data)  # type: ignore[arg-type]
    (row,) = section.rows
    native, serial = data.flags.T
    assert row["joint"] == [int(x.sum()) for x in (native & serial, native & ~serial, ~native & serial, ~native & ~serial)]
    low, high = row["scr_interval"]
    assert row["scr_method"] == "multinomial" and low < row["scr"] < high
    assert high - low == pytest.approx(2 * 1.96 * (row["scr"] * (1 - row["scr"]) / native.sum()) ** 0.5, rel=0.02)
    assert any("multinomial" in note for note in section.notes)
