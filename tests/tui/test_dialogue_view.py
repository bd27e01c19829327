"""A dialogue's item view: turns, fields, arms, and where the state first went wrong."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from pathlib import Path

import orjson
import pytest
from c2s_tui import main as tui
from c2s_tui.app import TuiApp
from c2s_tui.data.compare import SideSpec, compare
from c2s_tui.data.filters import arm_pair, parse
from c2s_tui.data.follow import Follower
from c2s_tui.data.item import item_view, sends
from c2s_tui.data.items import all_rows
from c2s_tui.data.selection import Sort, select
from c2s_tui.data.source import Source
from c2s_tui.screens.raw import RawScreen
from c2s_tui.views.item import item_lines
from c2s_tui.widgets.lines import Text
from support import dialogues, pilots
from support.scripted_runs import drive, planned, run_script

from c2s.backends.base import Call, Exchange
from c2s.backends.scripted import Scripted
from c2s.runner.policy import Policy


def number_of(run, *, turns: int = 8, holding: str = "Boats_1") -> int:
    """The first dialogue of so many turns whose frozen item holds this text."""
    db = sqlite3.connect(run.ledger_path)
    query = "SELECT p.id FROM parents p JOIN items i ON i.id = p.item WHERE length = ? AND instr(CAST(i.payload AS TEXT), ?) ORDER BY p.id"
    (number,) = db.execute(query, (turns, holding)).fetchone()
    db.close()
    return number


def lines(run, number: int, key: tuple[str, int] | None = None, step: int = 0, width: int = 100) -> list[str]:
    shown = item_lines(item_view(Source(run.path), number), key, step, width)
    assert all(line.width <= width for line in shown.lines)
    return [line.plain.rstrip() for line in shown.lines]


def marks(text: list[str], arm: str) -> list[str]:
    (found,) = [m[1] for line in text if (m := re.match(rf"..{arm}\s+([…✓✗!?\[].*)", line))]
    return found.split()


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory):
    return run_script(tmp_path_factory.mktemp("tui") / "run", ["dialogue-access"], dialogues.copies_its_errors)


@pytest.fixture(scope="module")
def failing(copied) -> int:
    """A dialogue whose Rollout fails in more turns than its Oracle."""
    for number in range(18, 0, -1):
        text = lines(copied, number)
        if sum("✗" in mark for mark in marks(text, "Rollout")) > sum("✗" in mark for mark in marks(text, "Oracle")) > 0:
            return number
    raise AssertionError("no dialogue fails")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_arm_has_a_mark_for_each_turn_and_the_first_wrong_one_is_bracketed(copied, failing, width: int):
    view = item_view(Source(copied.path), failing)
    text = lines(copied, failing, width=width)
    for arm in ("Rollout", "Oracle"):
        found = marks(text, arm)
        if width >= 80:
            assert len(found) == view.length and set("".join(found)) <= set("✓✗[]1234")
            bracketed = [i for i, mark in enumerate(found) if mark.startswith("[")]
            assert bracketed == [i for i, mark in enumerate(found) if "✗" in mark][:1]
    if width == 200:
        assert any("[first wrong turn]" in line for line in text)


def test_a_turn_shows_what_was_said_and_every_field(copied, failing):
    view = item_view(Source(copied.path), failing)
    fields = [f["name"] for f in view.payload["fields"]]
    for turn in range(view.length):
        text = lines(copied, failing, ("oracle", 0, turn + 1), width=200)
        said = view.payload["turns"][turn]
        assert any(line.endswith(said["user"]) for line in text if line.startswith("user"))
        assert said["system"] is None or any(line.endswith(said["system"]) for line in text if line.startswith("system"))
        found = [line for line in text if line.strip().split(" ")[0] in fields]
        assert [line.split()[0] for line in found][: len(fields)] == fields
        for line, name in zip(found, fields, strict=True):
            assert view.payload["gold"][turn][name] in line and " v0 " not in line
    rollout = next(arm for arm in view.arms if arm.name == "rollout")
    assert [(s.step, s.question) for s in rollout.steps] == [(t, name) for t in range(1, view.length + 1) for name in fields]


def test_a_field_that_is_asked_alone_has_its_name(tmp_path: Path):
    construction = run_script(tmp_path / "run", ["dialogue-construction"], dialogues.recovers)
    asked = item_view(Source(construction.path), 1)
    assert {s.question for arm in asked.arms for s in arm.steps} == {f["name"] for f in asked.payload["fields"]}


def test_a_slot_that_shares_a_response_shows_the_bytes_that_it_received(copied, failing):
    """Oracle's first turn asks what Rollout's first turn asks."""
    source = Source(copied.path)
    view = item_view(source, failing)
    shared, owner = (sends(source, view.arm((arm, 0, turn)).steps[0].slot) for arm, turn in (("oracle", 1), ("rollout", 0)))
    assert len(shared) == len(owner) == 1
    assert (shared[0].row.request, shared[0].row.response) == (owner[0].row.request, owner[0].row.response)


def test_paraphrased_turns_show_their_own_words(copied):
    number = number_of(copied, holding='"paraphrase":[')
    payload = item_view(Source(copied.path), number).payload
    assert payload["paraphrase"][0] in "\n".join(lines(copied, number, ("oracle_paraphrase", 0, 1), width=200))
    assert payload["turns"][0]["user"] in "\n".join(lines(copied, number, ("oracle", 0, 1), width=200))


def test_errors_open_turns_and_illegal_answers_are_told_apart(tmp_path: Path):
    def model(call: Call):
        turn = dialogues.turn_of(call)
        if (call.slot.arm == "oracle" and turn == 2) or (call.slot.arm == "rollout" and turn == 3):
            return Exchange("error", message="scripted [red]failure[/red]")
        chosen = dialogues.recovers(call)
        return chosen | (
            {dialogues.first_slot(call): "[@click=app.quit]x[/]"} if call.slot.arm == "history_recompute" and turn == 4 else {}
        )

    backend = Scripted("script:test", model, uses_truth=True)
    run = planned(tmp_path / "run", ["dialogue-access"], backend)
    number = number_of(run)
    assert set(marks(lines(run, number), "Rollout")) == {"…"}
    assert drive(run, backend, policy=Policy(stop_after_errors=0))
    text = lines(run, number)
    assert marks(text, "Oracle")[1] == "?" and "!1" in marks(text, "History recompute")[3]
    broken = lines(run, number, ("history_recompute", 0, 4))
    assert any("_ [@click=app.quit]x[/]" in line for line in broken)
    assert any("scripted [red]failure[/red]" in line for line in lines(run, number, ("oracle", 0, 2)))


def test_a_dialogue_counts_by_its_whole_trajectories(copied):
    with sqlite3.connect(copied.ledger_path) as db:
        rows = db.execute("SELECT id, transition FROM parents").fetchall()
        right = {
            (parent, arm): all(
                correct for (correct,) in db.execute("SELECT correct FROM outcomes WHERE parent = ? AND arm = ?", (parent, arm))
            )
            for parent, _ in rows
            for arm in ("oracle", "rollout")
        }
    db.close()
    names = {(True, True): "both", (True, False): "lost", (False, True): "gained", (False, False): "neither"}
    assert all(transition == names[right[parent, "oracle"], right[parent, "rollout"]] for parent, transition in rows)
    assert {transition for _, transition in rows} == {"both", "neither"}  # trajectories fail alike, whatever comes later


def turns_right(run, parent: int, arm: str) -> list[bool]:
    """Turn by turn whether the whole state is right, from the outcomes themselves."""
    with sqlite3.connect(run.ledger_path) as db:
        details = [
            orjson.loads(d) for (d,) in db.execute("SELECT detail FROM outcomes WHERE parent = ? AND arm = ? ORDER BY turn", (parent, arm))
        ]
    db.close()
    return [all(turn["right"]) for detail in details for turn in detail["turns"]]


@pytest.mark.parametrize("typed", ["", "arm:history_recompute/oracle", "arm:rollout/oracle"])
def test_the_list_counts_turns_and_its_transitions_are_those_of_trajectories(copied, typed: str):
    """An arm with one instance a turn and one with a single trajectory, as declared pair and as any other."""
    follower = Follower(Source(copied.path))
    picture = follower.look()
    plan = follower.plan
    *_, selection = select(follower.source, plan, parse(typed, plan))
    pair = selection.pair
    names = {(True, True): "both", (True, False): "lost", (False, True): "gained", (False, False): "neither"}
    found = list(all_rows(follower.source, pair, selection.ids))
    assert len(found) == 18
    for row in found:
        sides = [turns_right(copied, row.id, arm) for arm in (pair.first, pair.second)]
        for side, right in zip((row.first, row.second), sides, strict=True):
            assert (
                side.turns == f"{sum(right)} of {row.length}" and side.correct == all(right) and isinstance(orjson.loads(side.output), list)
            )
            assert side.first_wrong == (None if all(right) else right.index(False) + 1)
        assert row.transition == names[all(sides[0]), all(sides[1])]
    assert {name: n for name, n in selection.counts.items() if n} == Counter(row.transition for row in found)
    by_place = list(select(follower.source, plan, parse(typed, plan), Sort("first_wrong")))[-1]
    places = [row.second.first_wrong or 99 for row in all_rows(follower.source, pair, by_place.ids)]
    assert places == sorted(places)
    assert {row.share for row in picture.joint} == {"kept"}, "whole trajectories are no SCR"


def test_a_comparison_of_arms_counts_whole_trajectories(copied):
    follower = Follower(Source(copied.path))
    follower.look()
    sides = [SideSpec(follower.source, follower.plan, arm_pair(follower.plan, "oracle", arm)) for arm in ("rollout", "history_recompute")]
    found = compare(*sides)
    for left, code in zip(found.left.tolist(), found.codes.tolist(), strict=True):
        cells = []
        for arm in ("rollout", "history_recompute"):
            a, b = (all(turns_right(copied, left, name)) for name in ("oracle", arm))
            cells.append({(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}[a, b])
        assert code == 4 * cells[0] + cells[1]
    assert found.whole and found.dropped == 0 and len(found.codes) == 18


def test_keys_go_through_arms_and_turns_to_the_bytes(copied, failing):
    app = TuiApp(copied.path.parent, copied.path, screen="item")

    async def press(pilot) -> None:
        await pilot.settled()
        app.screen.session.item = failing
        app.screen.look(again=True)
        await pilot.settled()
        seen = set()
        for _ in range(40):
            text = app.screen.query_one("#text", Text)
            seen.add(next(line.plain for line in text.lines if line.plain.startswith("▶"))[2:20].strip().split("  ")[0])
            await pilot.press("a")
            await pilot.settled()
        assert {"History recompute", "Rollout", "Oracle"} <= seen
        await pilot.press("enter")
        await pilot.settled()
        assert isinstance(app.screen, RawScreen) and app.screen.sends
        await pilot.press("escape")
        await pilot.press("q")

    pilots.drive(app, press)


@pytest.mark.parametrize("screen", ["items", "compare"])
def test_lists_of_dialogues_have_whole_ids_and_a_target(copied, screen: str, capsys, monkeypatch: pytest.MonkeyPatch):
    db = sqlite3.connect(copied.ledger_path)
    names = {name: length for name, length in db.execute("SELECT parent, length FROM parents")}
    db.close()
    monkeypatch.setenv("COLUMNS", "100")
    capsys.readouterr()
    assert tui([str(copied.path), "--once", "--screen", screen]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if " dialogue " in line and " turns " in line]
    assert len(rows) == len(names)
    for row in rows:
        (name,) = names.keys() & {*row}
        assert row[row.index("turns") - 1] == str(names[name])


def test_every_click_on_an_arm_names_one_of_its_instances(copied, failing):
    view = item_view(Source(copied.path), failing)
    spans = [span for line in item_lines(view, None, 0, 200).lines for span in line.spans]
    hits = [tuple(span.hit[1:]) for span in spans if span.hit is not None and span.hit[0] == "arm"]
    assert set(hits) == {arm.key for arm in view.arms}
    assert hits.count(("oracle", 0, 3)) == 1 and ("rollout", 0, 0) in hits and ("oracle", 0, 1) in hits
