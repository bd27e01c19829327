"""What `c2s bank check` says about the files that ship beside the natural bank."""

from __future__ import annotations

from pathlib import Path

import pytest

from c2s.bankbuild import check_sources
from c2s.bankbuild.check_sources import check_choices, check_frozen, check_wordnet_files
from c2s.banks import cohort, symbolic, words
from c2s.banks.natural import load_bank


def test_the_shipped_files_hold():
    assert list(check_frozen()) == [] and list(check_choices(load_bank())) == []


def test_a_damaged_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "isomorphic-v1.jsonl"
    path.write_bytes(symbolic.ISOMORPHIC_FILE.read_bytes().replace(b'"late"', b'"Late"', 1))
    monkeypatch.setattr(symbolic, "FILES", {path: symbolic.isomorphic_bytes})
    monkeypatch.setattr(check_sources.semantic, "FILES", {})
    found = [finding.what for finding in check_frozen()]
    assert found[0] == "a new build differs" and "damaged" in found[1]


def test_cohort_and_words_disagree_with_nothing():
    frozen, natural = cohort.load_cohort(), load_bank()
    assert {n: sum(i.length == n for i in frozen.items) for n in cohort.QUOTAS} == cohort.QUOTAS and len(frozen.items) == 2347
    assert not {i.target for i in frozen.items} & {i.target for i in natural.items}
    nouns, others = words.words()
    assert all(item.target in nouns and set(item.candidates) <= nouns for item in frozen.items) and not nouns & others
    for item in frozen.items:
        assert len(set(item.candidates)) == 8 and item.target in item.candidates and {len(c) for c in item.candidates} == {item.length}
        assert len({c[0] for c in item.candidates}) == 4


@pytest.mark.slow
def test_cohort_and_words_are_made_again_from_wordnet(nouns):
    from c2s.bankbuild.natural_build import wordfreq_zipf

    assert list(check_wordnet_files(load_bank(), nouns, wordfreq_zipf())) == []
