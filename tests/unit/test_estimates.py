"""From outcomes to intervals: what did not vary is never shown as an interval of zero width."""

from __future__ import annotations

import pytest

from c2s import stats
from c2s.panels.registry import panel
from c2s.reports import estimates
from c2s.reports.section import NO_VARIATION, SAME_VALUES, Column, Section, show, table

MAIN = panel("main")
ONE_EACH = list("abcdef")


def test_a_share_without_variation_carries_clopper_pearson():
    for row in (
        estimates.retention("x", [1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 0, 0], ONE_EACH, MAIN),
        estimates.share("x", [1, 1, 0, 0, 0], ONE_EACH[:5], MAIN),
    ):
        exact = stats.clopper_pearson(2, 5)
        assert row["x_degenerate"] is True and row["x_method"] == "clopper-pearson" and row["x_interval"] == [exact.low, exact.high]
        assert show(row, Column("x", "x", "ci_rate")) == "40.0 [5.3, 85.3] †"


@pytest.mark.parametrize("make", [
    lambda: estimates.difference("x", [1, 1, 0], [0, 1, 0], list("abc"), MAIN),
    lambda: estimates.mean("x", [1.0, 0.0, 0.0], list("abc"), MAIN),
    lambda: estimates.difference("x", [1, 0, 1], [1, 0, 1], list("aaa"), MAIN),
])  # fmt: skip
def test_anything_else_without_variation_has_no_interval(make):
    row = make()
    assert row["x_degenerate"] is True and row["x_interval"] is None and row["x_method"] == NO_VARIATION
    assert show(row, Column("x", "x", "ci_points")).endswith("[-] †")
    notes = table(Section("s", "s", "ours", (Column("x", "x", "ci_points"),), [row]), "h").notes
    assert notes == [f"† {SAME_VALUES}: the bootstrap interval has no width; no interval is shown."]


def test_what_varies_keeps_its_interval():
    row = estimates.difference("x", [1, 1, 0], [0, 1, 0], list("aab"), MAIN)
    assert row["x_interval"] == [0, 2 / 3] and "x_degenerate" not in row
    assert "†" not in show(row, Column("x", "x", "ci_points"))
