"""Tables show whatever is in a cell as data (CASES 25)."""

from __future__ import annotations

import pytest

from c2s.reports.tables import Table, as_markdown, as_text, literal, width

HOSTILE = ["[/red]", "[@click=app.quit]x[/]", "\x1b[31mred\x1b[0m", "\u202eevil", "a\nb\tc", "|x|", "<script>", "`rm`", "\u200bzero", "\ufeff", "\x9b31m"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_comes_alive(text):
    table = Table(text, [text, "n"], [[text, "1"]], [text])
    for shown in (as_text(table), as_markdown(table), literal(text)):
        assert not set(shown) & set("\x1b\x9b\u202e\u200b\ufeff\t")
    body = as_text(table).splitlines()
    assert len([line for line in body if line.endswith("1")]) == 1
    assert "<script" not in as_markdown(table) and "|x|" not in as_markdown(table)


def test_ordinary_text_in_any_script_is_left_alone():
    assert literal("39 × 15 = ?, naïve, 東京, †") == "39 × 15 = ?, naïve, 東京, †"


def test_columns_line_up_also_for_wide_characters():
    lines = as_text(Table("t", ["name", "n"], [["東京", "1"], ["ab", "22"]])).splitlines()
    assert width("東京") == 4 and [width(line) for line in lines[1:]] == [8, 8, 8, 8]


def test_long_notes_wrap():
    assert max(map(len, as_text(Table("t", ["a"], [["1"]], ["word " * 60])).splitlines())) <= 79
