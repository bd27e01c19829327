"""Every panel's report where a model errs: on 5, 20 and 100 % of its requests each section is made, or undefined with its reasons."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from c2s.backends.base import Backend, Call, Exchange
from c2s.backends.registry import open_model
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.panels.registry import PANELS, select
from c2s.reports.build import Report, as_json, build, render
from c2s.runner.policy import Policy
from c2s.verification import verify
from tests.support.runs import drive, make_run

JUDGE = tuple(name for name in PANELS if name.startswith(("judge-", "reference-switch")))
DIALOGUES = ("dialogue-construction", "dialogue-access")
ITEMS = tuple(name for name in PANELS if name not in (*JUDGE, *DIALOGUES, "token-padding"))  # that one needs a tokenizer
CASES = {
    "decisions": ("sim:positions?p=0.7&native=0.9", ITEMS, 6),
    "texts": ("sim:writer?habit=aloud&share=0.3&contract=direct", ITEMS, 6),
    "dialogues": ("sim:positions?p=0.7&native=0.9", DIALOGUES, None),
    "judge": ("sim:judge?kind=both", JUDGE, 6),
}


class Erring:
    """A model that answers as another one does, and ends a share of its requests in an error, always the same ones."""

    def __init__(self, inner: Backend, share: float) -> None:
        self.inner, self.share = inner, share

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            digest = hashlib.sha256("/".join(map(str, call.slot)).encode()).digest()
            if int.from_bytes(digest[:4]) < self.share * 2**32:
                yield Exchange("error", message="no answer")
            else:
                yield from self.inner.call([call])


def reported(path: Path, case: str, share: float) -> tuple[Report, RunDirectory]:
    """A finished run of every panel of a case, with its report."""
    model, names, limit = CASES[case]
    erring = Erring(open_model(model, {}), share)
    panels = [panel for panel in select(["all"], erring.lacks).panels if panel.name in names]
    run = make_run(path, erring, limit=limit, panels=panels, settings={"domain": None})
    drive(run, erring, panels=panels, policy=Policy(stop_after_errors=0))
    return build([run.path]), run


def test_the_cases_hold_every_panel_but_one():
    assert {name for _, names, _ in CASES.values() for name in names} == set(PANELS) - {"token-padding"}


@pytest.mark.parametrize("share", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("case", CASES)
def test_every_section_is_made_or_undefined_with_its_reasons(tmp_path: Path, case: str, share: float):
    report, run = reported(tmp_path / "run", case, share)
    assert report.requests("error") > 0 and report.requests("open") == 0
    assert report.errors == []
    for name in report.names():
        sections = report.sections(name)
        assert sections, name
        for section in sections:
            assert section.rows or section.notes, (name, section.name)
            for row in section.rows:
                shown = {column.key.split(".")[0] for column in section.columns if column.form != "text"}
                unexplained = {key for key in shown if key in row and row[key] is None} - set(row.get("undefined", {}))
                assert not unexplained, (name, section.name, row)
    assert "nan" not in render(report, "text").lower().split()
    assert run.report_path.read_bytes() == as_json(report)
    assert not verify(run.path).differences


def test_states_are_compared_turn_by_turn_where_turns_are_missing(tmp_path: Path):
    """20 % errors leave each arm without other turns (finding Q2): the same turns are compared, not the same places."""
    report, run = reported(tmp_path / "run", "dialogues", 0.2)
    (section,) = [s for s in report.sections("dialogue-access") if s.name == "perturbations"]
    with sqlite.reading(run.ledger_path) as db:
        outcomes = reader.outcomes_by_parent(db, "dialogue-access")
    for row in section.rows:
        arms = (row["arm"], f"{row['arm']}_{row['version']}")
        states = [
            {t["turn"]: t["state"] for o in group if o.arm == arm and o.status == "ok" for t in o.detail["turns"]}
            for group in outcomes.values()
            for arm in arms
        ]
        same = [a[turn] == b[turn] for a, b in zip(states[::2], states[1::2], strict=True) for turn in a if turn in b]
        assert row["same_state"] == (sum(same) / len(same) if same else None)
    assert any(row["same_state"] is not None for row in section.rows)
