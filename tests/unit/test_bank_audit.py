"""The audit of the frozen bank: Table D7's and D6's counts, quotas, and candidates-only cues at chance."""

from __future__ import annotations

import json

import pytest

from c2s.bankbuild.audit import audit_bank
from c2s.bankbuild.chance import LEXICAL_CUES, MATH_CUES
from c2s.bankbuild.check import check_header, check_items
from c2s.banks.natural import load_bank
from tests.support.shared import shared_file


@pytest.fixture(scope="module")
def audit():
    return audit_bank()


def test_the_frozen_items_need_no_source_to_be_checked():
    bank = load_bank()
    assert list(check_header(bank)) == list(check_items(bank)) == []


def test_support_and_calls_are_those_of_the_protocol(audit):
    calls = {row.domain: row for row in audit.calls}
    assert (calls["math"].full, calls["math"].union, calls["math"].forced) == (2112, 768, 1344)
    assert (calls["lexical"].full, calls["lexical"].union, calls["lexical"].forced) == (2112, 2112, 0)
    for row in audit.support:
        if row.domain == "math":
            assert (row.cartesian_min, row.cartesian_median, row.cartesian_max) == (8, 8, 8)
            if row.length is not None:
                assert row.mean_union == pytest.approx(1 + 4 / row.length, abs=1e-12) and row.forced == row.length - 2
        else:
            assert row.forced == 0


def test_lexical_support_is_of_the_published_size(audit):
    """Ours are other words: the medians of Table D7 are met within a third."""
    published = json.loads(shared_file("spec/published.json").read_text())["choice2seq"]
    for row in audit.support:
        if row.domain == "lexical" and row.length is not None:
            _, median, _ = published["table_d7_support"]["lexical_min_median_max"][str(row.length)]
            assert 2 / 3 <= row.cartesian_median / median <= 3 / 2
    calls = published["table_d6_calls"]
    assert [row.union for row in audit.calls] == [calls["union_math"], calls["union_lexical"]]
    assert audit.calls[0].full == calls["full"] and audit.calls[0].forced == calls["forced_math"]


def test_no_candidates_only_cue_beats_chance(audit):
    assert [(row.domain, row.cue) for row in audit.cues] == [("math", c) for c in MATH_CUES] + [("lexical", c) for c in LEXICAL_CUES]
    for row in audit.cues:
        assert row.within and abs(row.percent - 12.5) <= 2, row
        assert 10.5 <= row.ties_low <= row.ties_high <= 14.5, row  # however ties are broken
        assert abs(row.furthest_percent - 12.5) <= 2, row  # at every single length too


def test_mixed_sets_leak_and_are_printed_beside(audit):
    mixed = {(row.domain, row.cue): row.mixed_percent for row in audit.cues}
    assert mixed["lexical", "most frequent"] > 20
    assert all((value is None) == (domain == "math" or "listed" in cue) for (domain, cue), value in mixed.items())


def test_quotas(audit):
    by_length = {}
    for row in audit.quotas:
        by_length.setdefault((row.domain, row.length), []).append(row.items)
        assert row.available is not None and (row.domain == "math" or row.items <= row.available)
    assert all(sum(items) == 64 for items in by_length.values())
    assert all(items == [16] * 4 for (domain, length), items in by_length.items() if domain == "math" or length > 3)


def test_rows_are_plain_data(audit):
    rows = audit.rows()
    assert list(rows) == ["support", "calls", "quotas", "cues"]
    assert json.loads(json.dumps(rows)) == rows
