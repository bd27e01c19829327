"""Tables show whatever is in a cell as data (CASES 25)."""

from __future__ import annotations

import pytest

from c2s.reports.tables import Table, as_markdown, as_text, literal, width

HOSTILE = [
    "[/red]",
    "[@click=app.quit]x[/]",
    "\x1b[31mred\x1b[0m",
    "\u202eevil",
    "a\nb\tc",
    "|x|",
    "<script>",
    "`rm`",
    "\u200bzero",
    "\ufeff",
    "\x9b31m",
]


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


ROWS = [
    ["math", "order_1", "16.7 [16.7, 16.7]", "1/5/0/0", "0.0 [0.0, 45.9] †"],
    ["lexical", "reference, " * 8 + "last", "0.0 [0.0, 0.0]", "-", "-"],
]
HEAD = ["domain", "worst setting", "mean SCR % [95 % CI]", "both/lost/gained/neither", "worst SCR % [95 % CI]"]


def test_a_wide_table_is_broken_where_it_does_not_hurt():
    """Every cell is there, in 79 columns; numbers and what stands in brackets are whole."""
    text = as_text(Table("t", HEAD, ROWS, left=2))
    assert (
        text
        == """t
                                                       both/
                                                       lost/
                                         mean SCR %  gained/        worst SCR %
domain   worst setting                    [95 % CI]  neither          [95 % CI]
-------  -----------------------  -----------------  -------  -----------------
math     order_1                  16.7 [16.7, 16.7]  1/5/0/0  0.0 [0.0, 45.9] †
lexical  reference, reference,       0.0 [0.0, 0.0]        -                  -
         reference, reference,
         reference, reference,
         reference, reference,
         last
"""
    )


@pytest.mark.parametrize("columns", range(1, 30, 3))
def test_a_table_of_any_width_fits_and_loses_nothing(columns):
    rows = [[f"row {r}", *(f"{r}.{c} [{r}, {c}]" for c in range(columns))] for r in range(3)]
    lines = as_text(Table("t", ["name", *(f"column number/{c}" for c in range(columns))], rows)).splitlines()
    assert max(map(width, lines)) <= 79
    for row in rows:
        found = [cell for line in lines if line.startswith(row[0]) for cell in line.split("  ") if cell.strip() and cell.strip() != row[0]]
        assert [cell.strip() for cell in found] == row[1:]


def test_a_single_cell_may_still_be_wider_than_the_terminal():
    assert "x" * 200 in as_text(Table("t", ["a", "b"], [["1", "x" * 200]]))
