"""Sections as tables: the same section of several runs, notes, dotted columns, number formats, Holm."""

from __future__ import annotations

import pytest

from c2s.reports import formats
from c2s.reports.head import letter
from c2s.reports.section import Column, Section, failed, holm, show, together, value_at
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


def test_letters_go_on_after_z():
    assert [letter(i) for i in (0, 1, 25, 26, 52)] == ["A", "B", "Z", "AA", "AAA"]
