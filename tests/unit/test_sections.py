"""Sections as tables: the same section of several runs, notes, dotted columns, number formats, Holm."""

from __future__ import annotations

import pytest

from c2s.reports import formats
from c2s.reports.head import letter
from c2s.reports.section import TEST_OF, Column, Section, failed, holm, show, together, value_at
from c2s.reports.tables import as_markdown, as_text


def section(rate: float | None, *notes: str, columns: tuple[Column, ...] = ()) -> Section:
    row = {"domain": "math", "x": rate, "extra": 3}
    if rate is None:
        row["undefined"] = {"x": "no parent is defined"}
    return Section("s", "shares", "ours", (Column("domain", "domain"), Column("x", "x %", "rate"), *columns), [row], list(notes))


def test_one_section_of_several_runs_is_one_table_with_a_column_for_the_run():
    parts = [("A", section(0.5, "Common.", "Only here.")), ("B", section(None, "Common.", columns=(Column("extra", "more", "int"),)))]
    found = together(parts, "main")
    assert found.title == "main: shares (ours)"
    assert list(found.header) == ["run", "domain", "x %", "more"] and found.left == 2
    assert [list(row) for row in found.rows] == [["A", "math", "50.0", "3"], ["B", "math", "-", "3"]]
    assert list(found.notes) == ["Common.", "A: Only here.", "B math: x is undefined: no parent is defined."]
    alone = together(parts[:1], "main")
    assert list(alone.header) == ["domain", "x %"] and list(alone.notes) == ["Common.", "Only here."]


def test_a_section_that_failed_in_one_run_leaves_the_rows_of_the_others():
    found = together([("A", failed("s", "Section 's' could not be made: it broke.")), ("B", section(0.25))], "main")
    assert found.title == "main: shares (ours)" and [list(row) for row in found.rows] == [["B", "math", "25.0"]]
    assert list(found.notes) == ["A: Section 's' could not be made: it broke."]


def test_a_failed_section_alone_is_a_title_and_its_sentence():
    found = together([(None, failed("s", "It broke."))], "main")
    assert as_text(found) == "main: not made (error)\nIt broke.\n"
    assert as_markdown(found).splitlines() == ["### main: not made (error)", "", "It broke."]
    assert failed("s", "It broke.").as_dict(False)["error"] == "It broke."


def test_a_dotted_key_looks_inside_mappings_and_lists():
    row = {"joint": [1, 2, 3, 4], "clock": {"seconds": 1.5}, "a.b": 7}
    assert [value_at(row, key) for key in ("joint.1", "clock.seconds", "a.b", "joint.9", "clock.x", "none", "joint.x")] == [
        2, 1.5, 7, None, None, None, None,
    ]  # fmt: skip
    assert show(row, Column("joint.2", "gained", "int")) == "3" and show(row, Column("joint.9", "x", "int")) == "-"


def test_the_document_says_how_columns_are_written_and_what_the_table_shows():
    made = Section(
        "s", "t", "ours", (Column("x", "X", "ci_rate"), Column("y", "Y")), [{"x": 1, "clock": {"s": 2}}], layout=lambda rows: rows[:0]
    )
    document = made.as_dict(clock=False)
    assert document["columns"] == [
        {"name": "x", "head": "X", "format": "rate", "interval": True, "unit": "%"},
        {"name": "y", "head": "Y", "format": "text", "interval": False, "unit": None},
    ]
    assert document["rows"] == [{"x": 1}] and document["table"] == [] and made.as_dict(clock=True)["rows"][0]["clock"] == {"s": 2}


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("rate", 0.1234, "12.3"), ("points", 0.05, "+5.0"), ("points", -0.0001, "0.0"), ("p", 0.0123, "0.0123"), ("p", 3e-7, "3.0e-07"),
        ("p", 1.0, "1.0000"), ("of", [3, 4], "3/4"), ("slashes", [1, 0, 2], "1/0/2"), ("number", 0.5, "0.500"), ("usd", 0.1, "0.1000"),
        ("time", 0, "01-01 00:00:00"), ("text", "a", "a"), ("rate", None, "-"), ("p", None, "-"),
    ],
)  # fmt: skip
def test_a_number_is_written_in_one_way(form: str, value: object, text: str):
    assert formats.written(value, form) == text


def test_intervals():
    assert formats.interval([0.1, 0.25], "rate") == "[10.0, 25.0]" and formats.interval(None, "rate") == "[-]"


def test_holm_corrects_inside_each_family_and_a_test_that_did_not_run_keeps_its_slot():
    rows = [{"family": "a", "p": 0.01}, {"family": "a", "p": None}, {"family": "b", "p": 0.04}, {"family": "a", "p": 0.02}]
    holm(rows)
    assert [row["p_holm"] for row in rows] == pytest.approx([0.03, 1, 0.04, 0.04]) and [row["m"] for row in rows] == [3, 3, 1, 3]


def test_a_family_that_a_failed_section_may_feed_is_not_corrected():
    rows = [{"family": "a", "p": 0.01}, {"family": "b", "p": 0.04, "undefined": {"x": "why"}}]
    holm(rows, [failed("s", "It broke.", frozenset(["a"])), failed("compliance", "It broke.", frozenset())])
    assert rows[1] == {"family": "b", "p": 0.04, "undefined": {"x": "why"}, "p_holm": 0.04, "m": 1}
    reason = "the size of family 'a' is not known, because 's' could not be made"
    assert rows[0] == {"family": "a", "p": 0.01, "p_holm": None, "m": None, "undefined": {"p_holm": reason, "m": reason}}
    holm(rows, [failed("unknown", "It broke.")])
    assert rows[1]["p_holm"] is None and "'unknown'" in rows[1]["undefined"]["m"] and rows[1]["undefined"]["x"] == "why"
    shown = together([(None, Section("s", "t", "ours", (Column("domain", "domain"), *TEST_OF), [{"domain": "math"} | rows[0]]))])
    assert [list(row) for row in shown.rows] == [["math", "0.0100", "-", "-"]] and list(shown.notes) == [
        f"math: p (Holm) is undefined: {rows[0]['undefined']['p_holm']}."
    ]


def test_notes_name_rows_by_all_that_tells_them_apart_and_columns_by_their_heads():
    columns = (
        Column("domain", "domain"),
        Column("length", "length", "int", names_row=True),
        Column("n", "pairs", "int"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
        *TEST_OF,
    )
    why = {"scr": "no native success among 1 pair", "p": "no pair is defined"}
    rows = [{"domain": "math", "length": n, "n": 1, "scr": None, "p": None, "family": "f", "undefined": why} for n in (3, 4)]
    holm(rows[:1])
    found = together([(None, Section("s", "t", "ours", columns, rows[:1]))])
    assert [list(row) for row in found.rows] == [["math", "3", "1", "-", "-", "-", "1"]] and rows[0]["p_holm"] == 1
    assert list(found.notes) == [
        "math length 3: SCR is undefined: no native success among 1 pair.",
        "math length 3: p is undefined (the test counts in m with p = 1): no pair is defined.",
        "Holm over the m = 1 test of family 'f'.",
    ]
    both = together([(None, Section("s", "t", "ours", columns[:4], rows))])
    assert both.notes[0] == "math length 3; math length 4: SCR is undefined: no native success among 1 pair."


def test_a_section_in_python_is_short_and_in_a_notebook_escaped():
    made = section(0.5, "<b>")
    made.rows[0]["domain"] = "<script>\x1b"
    assert repr(made) == "<Section s: shares, 1 row>" and str(made) == made.text() and "50.0" in made.text()
    page = made._repr_html_()
    assert "<td>&lt;script&gt;\\x1b</td><td>50.0</td>" in page and "<p>&lt;b&gt;</p>" in page and "<script" not in page


def test_letters_go_on_after_z():
    assert [letter(i) for i in (0, 1, 25, 26, 52)] == ["A", "B", "Z", "AA", "AAA"]
