"""The rules that decide what may become an item: keyed draws, the cue rule, clarity, candidates-only cues, quotas."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.bankbuild.chance import (
    CHANCE,
    HIT,
    LEXICAL_CUES,
    MATH_CUES,
    TIES,
    Balance,
    cue_hits,
    cue_percent,
    listing_hits,
    selection_hits,
)
from c2s.bankbuild.lexical import water_fill
from c2s.banks import glosses
from c2s.banks.keyed import Keyed

RULE = glosses.CueRule({"geese": frozenset({"goose"}), "mice": frozenset({"mouse"})})


def test_keyed_draws_never_change():
    keyed = Keyed(1, "a", 2)
    assert [keyed.below(100) for _ in range(12)] == [9, 65, 32, 35, 75, 65, 11, 56, 19, 46, 52, 91]
    assert Keyed(1, "s").shuffled(range(10)) == [7, 9, 1, 3, 0, 8, 2, 5, 6, 4]
    assert Keyed(1, "a", "b").below(2**60) != Keyed(1, "a\x1fb", "").below(2**60)


@given(st.integers(0, 2**64), st.integers(1, 50))
def test_keyed_draws_stay_in_range_and_shuffles_keep_everything(seed, n):
    keyed = Keyed(seed, "x")
    assert all(0 <= keyed.below(n) < n for _ in range(20))
    assert sorted(keyed.shuffled(range(n))) == list(range(n))


def test_keyed_draws_are_even():
    keyed = Keyed(3, "even")
    counts = Counter(keyed.below(8) for _ in range(8000))
    assert all(870 <= n <= 1130 for n in counts.values())  # 4.4 standard deviations


@pytest.mark.parametrize(
    ("word", "definition"),
    [
        ("dog", "a kind of dog"),
        ("dog", "one of many dogs"),
        ("goose", "a flock of geese"),  # exception list
        ("run", "the act of running"),  # undoubled
        ("bake", "to have baked"),
        ("car", "a carriage without a horse"),  # begins a token
        ("hearse", "something with a hear in it"),  # first letters
        ("humanity", "the quality of being humane"),
        ("corn", "a popcorn machine"),  # inside a token
        ("hairline", "a very thin line"),  # a part of the word
        ("notepad", "paper for keeping notes"),
        ("surfing", "riding a surfboard"),
        ("porosity", "the property of being porous"),
        ("ways", "a sloping way to the water"),  # the word's own base form
    ],
)
def test_definitions_that_give_the_word_away(word, definition):
    assert RULE.gives_away(word, glosses.tokens(definition))


@pytest.mark.parametrize(
    ("word", "definition"),
    [
        ("dog", "a domesticated animal that barks"),
        ("oar", "a board with a roar"),  # three letters inside a token are no cue
        ("someone", "some person or other"),  # stop words are no part of a word
        ("table", "furniture with a flat top"),
    ],
)
def test_definitions_that_do_not(word, definition):
    assert not RULE.gives_away(word, glosses.tokens(definition))


def test_tokens_are_runs_of_lower_case_letters():
    assert glosses.tokens("(Music) one-eyed `Mr'; 2 of 3") == ("music", "one", "eyed", "mr", "of")


@pytest.mark.parametrize(
    ("definition", "clear"),
    [
        ("a flat piece of wood", True),
        ("flat wood piece", False),  # too short
        ("a " + "very " * 40 + "long one", False),
        ("with a handle and a lid", False),
        ("located near the base of the neck", False),
        ("salted roe of a large fish", True),
        ("a state of great dishonour; - A.Name", False),  # what a quotation leaves
        ("an awareness of something;  or", False),
    ],
)
def test_clear_definitions(definition, clear):
    assert glosses.is_clear(definition, glosses.tokens(definition)) is clear


def test_unfit_definitions_and_words():
    assert glosses.is_fit("a small boat with a sail")
    assert not glosses.is_fit("an offensive term for somebody")
    assert not glosses.is_fit("a disparaging remark")
    assert glosses.is_fit_word("boat", ["a small ship", "the people in it"])
    assert not glosses.is_fit_word("boat", ["a small ship", "(ethnic slur) a name for somebody"])
    assert len(glosses._HASHED) > 100 and all(len(h) == 8 for h in glosses._HASHED)
    hashed = glosses.sha256(b"boat").hexdigest()[:8]
    assert hashed not in glosses._HASHED


@pytest.mark.parametrize(
    ("total", "available", "share"),
    [
        (64, [99, 99, 99, 99], [16, 16, 16, 16]),
        (64, [6, 152, 13, 178], [6, 23, 13, 22]),
        (64, [0, 90, 16, 130], [0, 24, 16, 24]),
        (8, [0, 0, 3, 2], [0, 0, 3, 2]),
        (0, [5], [0]),
        (3, [1, 1, 1, 1], [1, 1, 1, 0]),
    ],
)
def test_water_filling(total, available, share):
    assert water_fill(total, available) == share


@given(st.integers(0, 200), st.lists(st.integers(0, 90), min_size=1, max_size=6))
def test_water_filling_is_as_even_as_possible(total, available):
    share = water_fill(total, available)
    assert sum(share) == min(total, sum(available))
    assert all(s <= a for s, a in zip(share, available, strict=True))
    open_cells = [s for s, a in zip(share, available, strict=True) if s < a]
    assert not open_cells or max(share) - min(open_cells) <= 1


WORDS = ("banana", "bottle", "cattle", "candle", "dinner", "dancer", "engine", "enters")
ZIPF = (400, 401, 402, 403, 404, 405, 406, 407)


def test_cues_name_what_they_pick():
    hits = cue_hits("lexical", WORDS, "banana", ZIPF)
    assert tuple(hits) == LEXICAL_CUES
    assert hits["first listed"] == hits["alphabet first"] == hits["least frequent"] == hits["repeated characters"] == HIT
    assert hits["last listed"] == hits["most frequent"] == 0
    assert hits["common initial"] == CHANCE  # every initial occurs twice: all eight tie
    assert cue_hits("lexical", WORDS, "enters", ZIPF)["most frequent"] == HIT
    assert sum(cue_hits("lexical", WORDS, word, ZIPF)["vowels"] for word in WORDS) == HIT


def test_math_cues():
    grid = ("585", "589", "385", "389", "485", "489", "685", "689")
    assert tuple(cue_hits("math", grid, "585")) == MATH_CUES
    assert cue_hits("math", grid, "385")["smallest"] == cue_hits("math", grid, "689")["largest"] == HIT
    assert cue_hits("math", grid, "489")["closest to mean"] == HIT // 2  # 489 and 585, both 48 off
    assert cue_hits("math", grid, "585")["even last digit"] == CHANCE
    for name in MATH_CUES:
        assert sum(cue_hits("math", grid, word)[name] for word in grid) == HIT  # a cue finds one gold in eight


def test_ties_are_shared_or_broken_by_alphabet_or_listing():
    grid = ("589", "585", "385", "389", "485", "489", "685", "689")
    found = {ties: cue_hits("math", grid, "585", ties=ties)["closest to mean"] for ties in TIES}
    assert found == {"shared": HIT // 2, "alphabet first": 0, "alphabet last": HIT, "listed first": HIT, "listed last": 0}
    assert len(selection_hits("math", grid, "585")) == 3 * len(MATH_CUES)
    assert len(listing_hits("math", grid, "585")) == 2 * len(MATH_CUES)


def test_cue_percent_counts_shares_of_ties():
    rows = [("lexical", WORDS, "banana", ZIPF), ("lexical", WORDS, "bottle", ZIPF)]
    percent = cue_percent(rows)["lexical"]
    assert percent["first listed"] == 50.0 and percent["common initial"] == 12.5


def test_lexical_cues_need_frequencies():
    with pytest.raises(ValueError, match="frequencies"):
        cue_hits("lexical", WORDS, "banana")


def test_balance_prefers_what_brings_the_cues_back_to_chance():
    balance = Balance()
    assert balance.cost([HIT]) > balance.cost([0])
    for _ in range(8):
        balance.add([0])
    assert balance.cost([HIT]) < balance.cost([0])
