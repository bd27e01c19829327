"""Keys of the list of items, of one item and of its bytes: filtering, sorting, walking, exporting."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from c2s_tui.data.filters import SHORT, Filter, parse
from c2s_tui.screens.item import ItemScreen
from c2s_tui.screens.items import ItemsScreen
from c2s_tui.screens.raw import RawScreen
from c2s_tui.widgets.lines import Fixed
from c2s_tui.widgets.rows import Rows
from support.pilots import drive, keys_of
from support.screens import screen_text
from textual.widgets import Input

from c2s.ledger.pairs import TRANSITIONS


def counts(screen: ItemsScreen) -> tuple[int, int]:
    """The total in the header, and the sum of its parts."""
    selection = screen.found.selection
    return len(selection.ids), sum(selection.counts.values())


def test_filter_narrows_as_it_is_typed_and_escape_takes_it_back(app_of):
    app = app_of("part", screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        screen = app.screen
        assert counts(screen) == (400, 400)
        await pilot.press("slash", *keys_of("t:lost dom:math "))
        await pilot.settled()
        lost = counts(screen)
        assert lost[0] == lost[1] == screen.found.selection.counts["lost"] > 0
        await pilot.press(*keys_of("length:x"))
        await pilot.settled()
        assert "give a number" in screen.query_one("#said", Fixed).lines[0].plain
        await pilot.press("escape")
        await pilot.settled()
        assert counts(screen) == (400, 400) and not screen.query_one(Input).display
        await pilot.press("slash", *keys_of("w-00001"), "enter")
        await pilot.settled()
        assert counts(screen) == (10, 10) and app.session.chosen.words == ("w-00001",)
        await pilot.press("x")
        await pilot.settled()
        assert counts(screen) == (400, 400)

    drive(app, press)


def test_a_bad_filter_keeps_the_last_good_one_and_says_every_known_word(app_of):
    app = app_of("part", screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("slash", *keys_of("d:math "))
        before = app.session.chosen
        assert before.domain == "math"
        await pilot.press(*keys_of("t:"))
        assert app.session.chosen == before, "half a word is no text to look for"
        await pilot.press(*keys_of("zzz d:foo l:9-2"))
        assert app.session.chosen == before
        said = [line.plain for line in app.screen.query_one("#said", Fixed).lines]
        assert all(len(line) <= 80 for line in said) and all(name in " ".join(said) for name in (*TRANSITIONS, *SHORT))
        assert said[-1].rstrip()[-8:] in screen_text(app)

    drive(app, press)


def test_a_text_with_a_colon_is_quoted(app_of):
    app = app_of("part", screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        plan = app.screen.found.plan
        assert parse("t:", plan) == Filter() and parse('"t:"', plan).words == ("t:",)

    drive(app, press)


@pytest.mark.parametrize("number, name", [("3", "items"), ("4", "item"), ("1", "runs")])
def test_keys_of_the_screens_leave_the_bytes(number: str, name: str, app_of):
    app = app_of("good", screen="item")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("enter")
        assert isinstance(app.screen, RawScreen)
        await pilot.press(number)
        assert name == app.screen.NAME and len(app.screen_stack) == 2

    drive(app, press)


def test_transition_domain_arm_and_sort_keys(app_of):
    app = app_of("good", screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        screen = app.screen
        for name in ("both", "lost", "gained", "neither", "undefined", "pending"):
            await pilot.press("t")
            await pilot.settled()
            assert app.session.chosen.transitions == (name,)
            total, parts = counts(screen)
            assert total == parts == screen.found.selection.counts[name]
        await pilot.press("t", "d")
        await pilot.settled()
        assert app.session.chosen.transitions == () and app.session.chosen.domain == "math"
        await pilot.press("a")
        await pilot.settled()
        assert screen.found.selection.pair.second == "candidates_only"
        assert "Native -> Candidates only" in screen_text(app)
        await pilot.press("x")
        for by in ("item", "domain", "length"):
            await pilot.press("s")
            await pilot.settled()
            assert app.session.sort.by == by
        first = screen.query_one(Rows).row(0)
        await pilot.press("r")
        await pilot.settled()
        assert first.length == 3 and screen.query_one(Rows).row(0).length == 8

    drive(app, press)


def test_item_goes_through_the_filter_its_arms_and_its_steps(app_of):
    app = app_of("good", screen="items")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("slash", *keys_of("t:lost"), "enter")
        await pilot.settled()
        ids = [int(n) for n in app.screen.found.selection.ids]
        await pilot.press("enter")
        await pilot.settled()
        screen = app.screen
        assert isinstance(screen, ItemScreen) and screen.view.id == ids[0]
        for key, number in [("n", ids[1]), ("right", ids[2]), ("N", ids[1]), ("left", ids[0]), ("N", ids[0])]:
            await pilot.press(key)
            await pilot.settled()
            assert screen.view.id == number, key
        assert f"1/{len(ids)}" in screen_text(app)
        await pilot.press("j", "j")
        assert screen.step.step == 3
        await pilot.press("enter")
        await pilot.settled()
        assert isinstance(app.screen, RawScreen) and app.screen.sends[0].slot.endswith("serial step 3")
        await pilot.press("y")
        assert app.clipboard.encode() == app.screen.sends[0].row.request
        await pilot.press("Y")
        assert app.clipboard.encode() == app.screen.sends[0].row.response
        await pilot.press("e", "escape")
        await pilot.settled()
        written = sorted(path.name for path in Path(".").glob("slot-*/*"))
        assert written == ["1-request", "1-response"]
        await pilot.press("a")
        await pilot.settled()
        assert app.session.arm == ("native", 0, 0) and screen.step.truth == screen.view.target
        await pilot.press("escape")
        await pilot.settled()
        assert isinstance(app.screen, ItemsScreen)

    drive(app, press)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_export_holds_the_filtered_rows_in_their_order(form: str, app_of):
    app = app_of("good", screen="items", typed="t:lost,neither")

    async def press(pilot) -> None:
        await pilot.settled()
        await pilot.press("s", "s", "s", "r")  # longest first
        await pilot.settled()
        await pilot.press("e", form[0])
        await pilot.settled()

    drive(app, press)
    (path,) = Path(".").glob(f"items-good-*.{form}")
    text = path.read_text()
    rows = [json.loads(line) for line in text.splitlines()] if form == "jsonl" else list(csv.DictReader(text.splitlines()))
    assert len(rows) == 14 and {row["transition"] for row in rows} == {"lost", "neither"}
    lengths = [int(row["length"]) for row in rows]
    assert lengths == sorted(lengths, reverse=True)
    assert all(row["serial_output"] != row["target"] for row in rows)
