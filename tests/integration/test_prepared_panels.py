"""Panels that come after others: what is handed on, what is frozen, what verify finds, what an error leaves."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from support import runs
from support.runs import Stopping

from c2s.backends.base import Call, Exchange
from c2s.backends.scripted import Scripted
from c2s.ledger.directory import RunDirectory
from c2s.panels.registry import select
from c2s.planning.plan import create_run, make_plan
from c2s.reports.build import build
from c2s.settings import Settings
from c2s.verification import verify


def wrong_native(call: Call) -> str | Exchange:
    """Copies faithfully; picks the first wrong candidate; the Native of the first item of length 3 fails."""
    if call.slot.arm == "native" and call.parent.length == 3 and FAIL["on"]:
        return Exchange("error", message="scripted failure")
    truth = call.ask.truth["answer"]
    if call.ask.request.questions["answer"].unit == "whole":
        return next(c for c in call.parent.candidates if c != truth)
    return truth


FAIL = {"on": False}


@pytest.fixture
def run(tmp_path: Path):
    def make(name: str = "run", **attributes: object) -> tuple[RunDirectory, Scripted, tuple]:
        backend = Scripted("script:test", wrong_native, uses_truth=True, **attributes)
        panels = select(["workflows"]).panels
        plan = make_plan(panels, Settings(domain="math", limit=12), asked=["workflows"])
        return create_run(tmp_path / name, plan, backend, provenance={"reuse_from": None, "backend_options": {}}), backend, panels

    FAIL["on"] = False
    return make


def drive(directory: RunDirectory, backend: Scripted, panels: tuple, *, stop_after: int | None = None, retry: bool = False) -> bool:
    watch = None if stop_after is None else Stopping(lambda tally: tally.asked >= stop_after)
    return runs.drive(directory, backend, panels=panels, report=False, watch=watch, errors=retry).finished


def rows(directory: RunDirectory, sql: str) -> list[tuple]:
    db = sqlite3.connect(directory.ledger_path)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def test_a_wrong_selection_is_taken_over_and_copied_faithfully(run):
    directory, backend, panels = run()
    assert drive(directory, backend, panels)
    assert verify(directory.path).differences == []
    section = build([directory.path]).as_dict()["sections"]["workflows"]
    by_name = {row["workflow"]: row for row in section["rows"]}
    assert by_name["program return"]["faithful_and_right"] == [0, 12, 0, 0] and by_name["SelfPlanSpell"]["faithful_and_right"] == [
        0,
        12,
        0,
        0,
    ]
    assert by_name["independent Serial"]["faithful_and_right"] == [0, 0, 12, 0]
    plans = {
        parent: json.loads(a)["plan"]
        for parent, a in rows(directory, "SELECT p.parent, addition FROM prepared a JOIN parents p ON p.id = a.parent")
    }
    assert len(plans) == 12 and all(len(plan) >= 3 for plan in plans.values())


def test_no_parent_opens_before_what_it_uses_has_closed_and_an_interrupted_run_ends_alike(run):
    directory, backend, panels = run("a")
    drive(directory, backend, panels)
    whole = build([directory.path]).as_dict()
    first = rows(
        directory,
        "SELECT min(e.id) FROM exchanges e JOIN slots s ON s.id = e.slot JOIN parents p ON p.id = s.parent WHERE p.panel = 'workflows'",
    )
    last = rows(
        directory,
        "SELECT max(e.id) FROM exchanges e JOIN slots s ON s.id = e.slot JOIN parents p ON p.id = s.parent WHERE p.panel = 'main'",
    )
    assert first[0][0] > last[0][0]
    directory, backend, panels = run("b", max_batch=1)
    for stop in (40, 120, 30, None):
        drive(directory, backend, panels, stop_after=stop)
        assert verify(directory.path).differences == []
    assert build([directory.path]).as_dict() == whole


def test_without_a_selection_there_is_no_plan_and_a_retry_makes_one(run):
    directory, backend, panels = run()
    FAIL["on"] = True
    assert drive(directory, backend, panels)
    assert verify(directory.path).differences == []
    states = dict(
        rows(directory, "SELECT state, count(*) FROM slots s JOIN parents p ON p.id = s.parent WHERE p.panel = 'workflows' GROUP BY 1")
    )
    assert states["not_needed"] == 2 * 3
    ((reason,),) = rows(directory, "SELECT DISTINCT reason FROM outcomes WHERE arm = 'self_plan_spell' AND status = 'undefined'")
    assert reason == "main's Native is undefined: step 1: error: scripted failure"
    FAIL["on"] = False
    assert drive(directory, backend, panels, retry=True)
    assert verify(directory.path).differences == []
    assert rows(directory, "SELECT count(*) FROM outcomes WHERE status = 'undefined'") == [(0,)]
    assert build([directory.path]).as_dict()["sections"]["workflows"]["rows"][2]["faithful_and_right"] == [0, 12, 0, 0]


def test_verify_notices_another_plan(run):
    directory, backend, panels = run()
    drive(directory, backend, panels)
    db = sqlite3.connect(directory.ledger_path)
    (number,) = db.execute("SELECT min(parent) FROM prepared").fetchone()
    db.execute('UPDATE prepared SET addition = \'{"plan": "999"}\' WHERE parent = ?', (number,))
    db.commit()
    db.close()
    found = verify(directory.path).differences
    assert any("what was prepared does not follow" in d for d in found) and any("cannot be derived" in d for d in found)
