"""What the screens are made of: filters, selections, joint counts, pace, items, comparisons; each against the rows themselves."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from c2s_tui.data import apart
from c2s_tui.data.compare import SideSpec, _interval, compare
from c2s_tui.data.filters import Filter, base_pair, parse
from c2s_tui.data.follow import Follower
from c2s_tui.data.item import item_view
from c2s_tui.data.items import all_rows
from c2s_tui.data.joint import complete_interval
from c2s_tui.data.plan import Plan, read_plan
from c2s_tui.data.runs import RunsWatch, find_runs
from c2s_tui.data.selection import Sort, select
from c2s_tui.data.source import Source
from hypothesis import given
from hypothesis import strategies as st
from support.synthetic import EPOCH, Shape, synthesise

from c2s import stats
from c2s.errors import InputError, UsageError
from c2s.ledger import reader
from c2s.ledger.counters import Count
from c2s.ledger.pairs import TRANSITIONS, Pair
from c2s.ledger.search import SORTS
from c2s.reports.build import build

PLAN = Plan(
    {("main", "math", 3): 2, ("other one", "lexical", 4): 2},
    {"main": 1, "other one": 3},
    4,
    {"main": ("native", "independent", "serial"), "other one": ("native", "trie_call")},
    {"main": ("native", "serial"), "other one": ("native", "trie_call")},
)


@given(
    st.builds(
        Filter,
        st.lists(st.sampled_from(TRANSITIONS), unique=True).map(tuple),
        st.sampled_from([None, "math", "lexical"]),
        st.one_of(st.none(), st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda p: (min(p), max(p)))),
        st.sampled_from([None, "main", "other one"]),
        st.none(),
        st.lists(st.text(min_size=1).filter(lambda t: (t == t.strip() and t.split() == [t]) or '"' in t or " " in t), max_size=3).map(
            tuple
        ),
    )
)
def test_a_filter_is_read_back_from_what_it_types(chosen: Filter):
    assert parse(chosen.typed(), PLAN) == chosen


def test_what_may_be_typed():
    assert parse("t:lost,gained l:6-4 dom:math arm:independent", PLAN) == Filter(
        ("lost", "gained"), "math", (4, 6), None, ("native", "independent")
    )
    assert parse('"t:lost" foo:bar a"b', PLAN).words == ("t:lost", "foo:bar", 'a"b')
    assert parse('panel:"other one"', PLAN).panel == "other one"
    assert parse('"still open', PLAN).words == ("still open",)
    assert parse("a:native/trie", PLAN).arms == ("native", "trie_call")
    for typed, said in [
        ("t:lots", "did you mean lost"),
        ("length:x", "give a number"),
        ("d:maths", "did you mean math"),
        ("a:a/b/c", "no arm"),
        ("a:independent/trie_call", "no panel of this run has both"),
    ]:
        with pytest.raises(UsageError, match=said):
            parse(typed, PLAN)


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """A generated run, so small that everything can be counted by hand."""
    return Source(synthesise(tmp_path_factory.mktemp("part") / "run", Shape(300, undefined=0.05, settled=0.7, in_flight=3)).path)


def rows_of(source: Source) -> list[dict]:
    """All parents with what the list shows, read without any of the code under test."""
    db = sqlite3.connect(source.run.ledger_path)
    db.row_factory = sqlite3.Row
    rows = db.execute(
        "SELECT p.*, json_extract(CAST(i.payload AS TEXT), '$.target') AS target, json_extract(CAST(i.payload AS TEXT), '$.problem') AS "
        "problem,"
        " a.output AS native, a.correct AS right_a, b.output AS serial, b.correct AS right_b, b.first_wrong, b.min_confidence"
        " FROM parents p JOIN items i ON i.id = p.item"
        " LEFT JOIN outcomes a ON a.parent = p.id AND a.arm = 'native' LEFT JOIN outcomes b ON b.parent = p.id AND b.arm = 'serial' ORDER "
        "BY p.id"
    ).fetchall()
    return [dict(row) | {"transition": row["transition"] or "pending"} for row in rows]


def plan_of(source: Source) -> Plan:
    with source.read() as db:
        return read_plan(db, ["main"])


UNSORTED = Sort()


def last(source: Source, typed: str, sort: Sort = UNSORTED):
    plan = plan_of(source)
    return list(select(source, plan, parse(typed, plan), sort))[-1]


FILTERS = {
    "": lambda r: True,
    "t:lost": lambda r: r["transition"] == "lost",
    "t:pending,undefined": lambda r: r["transition"] in ("pending", "undefined"),
    "d:math l:4-6": lambda r: r["domain"] == "math" and 4 <= r["length"] <= 6,
    "M-00001": lambda r: "m-00001" in r["parent"],
    "definition 7": lambda r: (
        "definition" in r["problem"] and any("7" in (r[k] or "") for k in ("parent", "problem", "target", "native", "serial"))
    ),
    "0": lambda r: any("0" in (r[k] or "") for k in ("parent", "problem", "target", "native", "serial")),
    "%": lambda r: False,
    "arm:serial/native t:gained": lambda r: r["right_a"] == 1 and r["right_b"] == 0,
}


@pytest.mark.parametrize("typed", FILTERS)
def test_a_selection_is_what_the_filter_says_and_its_counts_add_up(typed: str, part: Source):
    selection = last(part, typed)
    expected = [r for r in rows_of(part) if FILTERS[typed](r)]
    assert selection.ids.tolist() == [r["id"] for r in expected]
    assert sum(selection.counts.values()) == len(selection.ids) and selection.complete
    if "arm" not in typed:
        found = Counter(r["transition"] for r in expected)
        assert {k: v for k, v in selection.counts.items() if v} == dict(found)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("by", SORTS)
def test_sorting(by: str, descending: bool, part: Source):
    key = {"order": "id", "item": "parent"}.get(by, by)
    rank = {name: n for n, name in enumerate(TRANSITIONS)}

    def value(r):
        return rank[r["transition"]] if by == "transition" else r[key]

    rows = rows_of(part)
    there = sorted((r for r in rows if value(r) is not None), key=value, reverse=descending)
    absent = [r for r in rows if value(r) is None]
    selection = last(part, "", Sort(by, descending))
    if by == "order":
        assert selection.ids.tolist() == [r["id"] for r in there]
    values = {r["id"]: value(r) for r in rows}
    assert [values[n] for n in selection.ids.tolist()] == [value(r) for r in [*there, *absent]]
    assert sorted(selection.ids.tolist()) == [r["id"] for r in rows]


def test_rows_are_what_the_ledger_holds(part: Source):
    selection = last(part, "")
    for row, raw in zip(all_rows(part, Pair(), selection.ids, page=7), rows_of(part), strict=True):
        assert (row.id, row.name, row.domain, row.length, row.transition, row.target, row.problem) == (
            raw["id"], raw["parent"], raw["domain"], raw["length"], raw["transition"], raw["target"], raw["problem"],
        )  # fmt: skip
        assert (row.first.output, row.second.output, row.second.first_wrong) == (raw["native"], raw["serial"], raw["first_wrong"])


def test_the_prefix_counts_parents_that_closed_in_order_and_no_others(tmp_path: Path):
    """Parents close in any order; the joint counts hold those before the first open one, and everything at the end."""
    run = synthesise(tmp_path / "run", Shape(120, undefined=0.1))
    db = sqlite3.connect(run.ledger_path, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    final = dict(db.execute("SELECT id, transition FROM parents").fetchall())
    db.execute("UPDATE parents SET closed = 0, transition = NULL")
    db.execute("DELETE FROM counters WHERE key LIKE 'transition:%'")
    follower = Follower(Source(run.path))
    rng = random.Random(3)
    left = list(final)
    rng.shuffle(left)
    closed: set[int] = set()
    while left:
        for number in [left.pop() for _ in range(min(len(left), 13))]:
            closed.add(number)
            db.execute("UPDATE parents SET closed = 1, transition = ? WHERE id = ?", (final[number], number))
            db.execute(
                "INSERT INTO counters SELECT panel, domain, length, '', 'transition:' || transition, 1 FROM parents WHERE id = ?"
                " ON CONFLICT DO UPDATE SET n = n + 1",
                (number,),
            )
        prefix = next(n for n in range(1, 122) if n not in closed) - 1
        expected = Counter(final[n] for n in range(1, prefix + 1))
        rows = follower.look().joint
        assert sum(row.prefix for row in rows) == prefix
        for name in ("both", "lost", "gained", "neither", "undefined"):
            assert sum(getattr(row, name) for row in rows) == expected[name]
        for row in rows:
            if row.both + row.lost and not row.complete:
                interval = stats.anytime_interval(row.both, row.both + row.lost, 0.95)
                assert (row.low, row.high, row.method) == (interval.low, interval.high, interval.method)
    db.execute("UPDATE parents SET closed = 0, transition = NULL WHERE id = 5")  # --retry-errors opens parents again
    db.execute(
        "UPDATE counters SET n = n - 1 WHERE key = ? AND (domain, length) = (SELECT domain, length FROM parents WHERE id = 5)",
        (f"transition:{final[5]}",),
    )
    assert sum(row.prefix for row in follower.look().joint) == 4
    db.close()


def test_an_interval_is_the_same_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(1)
    native, serial, strata = rng.random(400) < 0.9, rng.random(400) < 0.5, rng.integers(3, 9, 400)
    here = apart.interval("bootstrap_scr", native, native & serial, strata)
    monkeypatch.setattr(apart, "SMALL", 10)
    assert apart.interval("bootstrap_scr", native, native & serial, strata) == here == stats.bootstrap_scr(native, native & serial, strata)
    with pytest.raises(InputError, match=r"entries|length|same"):
        apart.interval("bootstrap_scr", native, serial[:-1], strata)


def test_a_finished_run_has_the_interval_of_its_report(made: Path):
    picture = Follower(Source(made / "good")).look()
    report = build([made / "good"]).as_dict()
    for row in picture.joint:
        (cell,) = [c for c in report["sections"]["transitions"]["rows"] if c["domain"] == row.domain]
        assert row.complete and [row.low, row.high] == cell["scr_interval"] and row.counts.scr == cell["scr"]
        assert row.counts.native_em == cell["native_em"] and row.counts.n == cell["n"]


def test_the_pace_of_a_run_that_is_opened_late(tmp_path: Path):
    """600 requests at 20 a second, seen at their end: the last half minute and the two minutes before it."""
    run = synthesise(tmp_path / "run", Shape(200, rate=20.0, settled=0.5))
    sends = sqlite3.connect(run.ledger_path).execute("SELECT count(*) FROM exchanges").fetchone()[0]
    follower = Follower(Source(run.path), clock=lambda: EPOCH + sends / 20.0)
    with run.locked():
        pace = follower.look().pace
    assert pace.now == pytest.approx(20.0, rel=0.05)
    busy = [rate for rate in pace.history if rate > 0]
    assert sum(busy) * pace.seconds == pytest.approx(sends, abs=2) and max(busy) == pytest.approx(20.0, rel=0.1)
    finished = follower.look().pace
    assert finished.now == pytest.approx(20.0, rel=0.05) and sum(finished.history) * finished.seconds == pytest.approx(sends, rel=0.05)


def test_the_oldest_request_and_the_retries(part: Source):
    picture = Follower(part, clock=lambda: EPOCH + 100).look()
    db = sqlite3.connect(part.run.ledger_path)
    slot, sent = db.execute("SELECT slot, sent_at FROM exchanges WHERE state = 'sent' ORDER BY sent_at LIMIT 1").fetchone()
    name = db.execute("SELECT p.parent FROM slots s JOIN parents p ON p.id = s.parent WHERE s.id = ?", (slot,)).fetchone()[0]
    assert picture.in_flight.count == 3 and picture.in_flight.sent_at == sent and f"/{name}/" in picture.in_flight.slot
    assert picture.retries == 0 and picture.requests["error"] == picture.cells[1].error + picture.cells[3].error > 0
    assert picture.spend.input_tokens == db.execute("SELECT sum(input_tokens) FROM exchanges").fetchone()[0]


def test_an_item_is_replayed_to_what_was_recorded(made: Path):
    """Every step's request is the recorded one, and what was taken makes up the recorded output."""
    source = Source(made / "good")
    plan = plan_of(source)
    for number in range(1, plan.last + 1, 7):
        view = item_view(source, number)
        assert view.note is None and [arm.name for arm in view.arms] == ["native", "candidates_only", "independent", "serial"]
        for arm in view.arms:
            assert all(step.same for step in arm.steps)
            assert "".join(step.taken for step in arm.steps) == arm.outcome.output
            assert [step.prefix for step in arm.steps] == [arm.outcome.output[:n] for n in range(len(arm.steps))]
            wrong = next((s.step for s in arm.steps if s.taken != s.truth), None)
            if arm.name == "serial":
                assert wrong == arm.outcome.first_wrong
        assert view.geometry.k[0] == 8 and view.geometry.k[-1] == 1 and len(view.geometry.unions) == view.length


def test_a_request_that_is_not_the_derived_one_is_said_to_differ(made: Path, tmp_path: Path):
    import shutil

    shutil.copytree(made / "good", tmp_path / "run")
    db = sqlite3.connect(tmp_path / "run/ledger.sqlite")
    db.execute("UPDATE exchanges SET request = CAST(request || ' ' AS BLOB) WHERE id = (SELECT exchange FROM slots WHERE id = 1)")
    db.commit()
    db.close()
    view = item_view(Source(tmp_path / "run"), 1)
    assert view.arms[0].steps[0].same is False and view.arms[1].steps[0].same is True


def side(source: Source, pair: Pair | None = None) -> SideSpec:
    plan = plan_of(source)
    return SideSpec(source, plan, pair or base_pair(plan))


def test_a_comparison_counts_every_item_once(made: Path):
    left, right = side(Source(made / "part")), side(Source(made / "other"))
    found = compare(left, right)
    a = {r["parent"]: r["transition"] for r in rows_of(left.source)}
    b = {r["parent"]: r["transition"] for r in rows_of(right.source)}
    cells = TRANSITIONS[:4]
    expected = Counter((a[name], b[name]) for name in a if a[name] in cells and b[name] in cells)
    assert found.matrix().tolist() == [[expected[x, y] for y in cells] for x in cells]
    assert len(found.codes) == 400 == found.matrix().sum() + found.dropped
    changed = [code // 4 != code % 4 for code in found.codes[: found.tests[0].changed]]
    assert all(changed) and found.tests[0].changed == sum(n for (x, y), n in expected.items() if x != y)
    every = found.tests[0]
    lost = {x for x in cells if x in ("both", "gained")}
    b_only = sum(n for (x, y), n in expected.items() if x in lost and y not in lost)
    c_only = sum(n for (x, y), n in expected.items() if x not in lost and y in lost)
    assert (every.second.left_only, every.second.right_only) == (b_only, c_only)
    assert every.second.p == stats.mcnemar_exact(b_only, c_only)
    assert every.low <= every.difference <= every.high
    assert sum(t.n for t in found.tests[1:]) == every.n


def test_two_arms_of_one_run(made: Path):
    source = Source(made / "good")
    found = compare(side(source), side(source, Pair("native", "independent", declared=False)))
    with source.read() as db:
        outcomes = {(n, o.arm): o.correct for n, o in reader.outcomes(db, "main")}
    both = sum(outcomes[n, "native"] and outcomes[n, "serial"] and outcomes[n, "independent"] for n in range(1, 31))
    assert found.matrix()[0, 0] == both and np.trace(found.matrix()) == 30 - found.tests[0].changed
    assert found.tests[0].first.left_only == found.tests[0].first.right_only == 0


def test_runs_are_found_in_folders_and_nowhere_else(made: Path, tmp_path: Path):
    import shutil

    shutil.copytree(made / "good", tmp_path / "a/b/run")
    shutil.copytree(made / "good", tmp_path / ".hidden/run")
    (tmp_path / "a/manifest.txt").write_text("no")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert find_runs(tmp_path) == ([tmp_path / "a/b/run"], False)
    entries = RunsWatch(tmp_path).look().entries
    assert [entry.name for entry in entries] == ["a/b/run"]


def test_one_parent_per_length_has_no_interval_of_zero_width():
    counts = [Count("main", "math", length, "", f"transition:{key}", 1) for length, key in ((3, "both"), (4, "both"), (5, "lost"))]
    exact = stats.clopper_pearson(2, 3)
    assert complete_interval(counts) == (exact.low, exact.high, "Clopper-Pearson")
    first, kept, other = np.ones(3, bool), np.array([1, 1, 0], bool), np.array([1, 0, 0], bool)
    assert _interval(first, kept, first, other, np.arange(3)) == (
        None,
        None,
        "no variation to resample (for instance one parent per length)",
    )
