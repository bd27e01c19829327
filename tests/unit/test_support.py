"""Full, Union and Trie support: the paper's example, the twin, and every refusal."""

from __future__ import annotations

from itertools import compress, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.errors import InputError
from c2s.kernels import reference
from c2s.kernels.geometry import encode_candidates
from c2s.kernels.support import SupportKind, support, support_masks

FIGURE_1 = ["585", "589", "385", "389", "485", "489", "685", "689"]
DIGITS = "0123456789"


def offered(candidates, prefix, kind, alphabet):
    return "".join(compress(alphabet, support(candidates, prefix, kind, alphabet)))


@pytest.mark.parametrize(
    ("prefix", "kind", "expected"),
    [
        ("", "full", DIGITS),
        ("5_", "full", DIGITS),
        ("", "union", "3456"),
        ("_", "union", "8"),
        ("58", "union", "59"),
        ("", "trie", "3456"),
        ("5", "trie", "8"),
        ("58", "trie", "59"),
        ("57", "trie", ""),
        ("_8", "trie", ""),
        ("5_", "trie", ""),
    ],
)
def test_figure_1_of_the_paper(prefix, kind, expected):
    assert offered(FIGURE_1, prefix, kind, DIGITS) == expected


def test_mask_is_in_alphabet_order():
    assert support(("ab", "cb"), "", SupportKind.TRIE, "cxab") == (True, False, True, False)


@st.composite
def sets_and_prefixes(draw):
    length = draw(st.integers(1, 5))
    word = st.text("abc", min_size=length, max_size=length)
    count = draw(st.integers(1, 6))
    sets = draw(st.lists(st.lists(word, min_size=count, max_size=count), max_size=5))
    prefixes = [draw(st.one_of(st.text("ab_", max_size=length - 1), st.sampled_from(s).map(lambda w: w[:-1]))) for s in sets]
    return sets, prefixes


@given(sets_and_prefixes(), st.sampled_from(list(SupportKind)), st.permutations("abcd").map("".join))
def test_random_sets_equal_the_twin(case, kind, alphabet):
    sets, prefixes = case
    for candidates, prefix in zip(sets, prefixes, strict=True):
        assert support(candidates, prefix, kind, alphabet) == reference.support(candidates, prefix, kind, alphabet)
        one_set = support_masks(encode_candidates([candidates])[0], prefixes, kind, alphabet)
        np.testing.assert_array_equal(one_set, reference.support_masks([candidates] * len(prefixes), prefixes, kind, alphabet))
    encoded = encode_candidates(sets) if sets else np.zeros((0, 1, 1), dtype=np.uint8)
    masks = support_masks(encoded, prefixes, kind, alphabet)
    assert masks.dtype == np.bool_ and masks.shape == (len(sets), 4)
    np.testing.assert_array_equal(masks, reference.support_masks(sets, prefixes, kind, alphabet))


@pytest.mark.parametrize("kind", list(SupportKind))
def test_every_prefix_of_a_small_alphabet(kind):
    candidates = ["aba", "abb", "caa", "cab"]
    prefixes = ["".join(p) for n in range(3) for p in product("abc_", repeat=n)]
    masks = support_masks(encode_candidates([candidates])[0], prefixes, kind, "abc")
    for prefix, mask in zip(prefixes, masks, strict=True):
        assert tuple(mask.tolist()) == reference.support(candidates, prefix, kind, "abc")
        assert support(candidates, prefix, kind, "abc") == tuple(mask.tolist())


def test_trie_keeps_a_controller_inside_the_candidates():
    """Walking every branch of the trie spells exactly the candidates; the union spells the Cartesian product."""

    def spell(kind):
        strings = [""]
        for _ in range(3):
            strings = [s + c for s in strings for c in offered(FIGURE_1, s, kind, DIGITS)]
        return strings

    assert sorted(spell("trie")) == sorted(FIGURE_1)
    assert len(spell("union")) == 8 and len(spell("full")) == 1000


def test_layouts_and_types():
    sets = encode_candidates([FIGURE_1, FIGURE_1[::-1]])
    expected = support_masks(sets, ["5", "58"], "trie", DIGITS)
    for other in (sets.astype(np.int64), np.asfortranarray(sets), np.repeat(sets, 2, axis=0)[::2]):
        np.testing.assert_array_equal(support_masks(other, ("5", "58"), "trie", DIGITS), expected)


SETS = encode_candidates([["ab", "cb"]])


@pytest.mark.parametrize(
    ("candidates", "prefix", "kind", "alphabet", "message"),
    [
        (["ab"], "", "tri", "ab", "support kind 'tri' is none of full, union, trie (did you mean trie?)"),
        (["ab"], "", None, "ab", "support kind None is none of full, union, trie"),
        (["ab"], "", [], "ab", "support kind [] is none of full, union, trie"),
        (["ab"], "ab", "full", "ab", "prefix = 'ab' leaves no position: the candidates have 2 characters"),
        (["ab"], "é", "trie", "ab", "prefix = 'é' is not ASCII"),
        (["ab"], 3, "trie", "ab", "prefix = 3 is not a string"),
        (["ab", "xb"], "", "trie", "ab", "candidate 'xb': 'x' is not in the alphabet 'ab'"),
        (["ab", "abb"], "", "trie", "ab", "set 0: 'abb' has 3 characters, the first candidate has 2"),
        (["ab", "éb"], "", "trie", "ab", "set 0: 'éb' is not ASCII"),
        (["ab"], "", "trie", "aba", "the alphabet 'aba' repeats a character"),
        (["ab"], "", "trie", "abé", "the alphabet 'abé' is not ASCII"),
        (["ab"], "", "trie", ["a", "b"], "alphabet ['a', 'b']: give one string of single characters"),
        ("ab", "", "trie", "ab", "candidates 'ab': give a list of strings"),
        (7, "", "trie", "ab", "candidates 7: give a list of strings"),
        ([b"ab"], "", "trie", "ab", "candidates [b'ab']: give a list of strings"),
        ([], "", "trie", "ab", "candidates: give at least one candidate of at least one character"),
        ([""], "", "trie", "ab", "candidates: give at least one candidate of at least one character"),
    ],
)
def test_refused_calls(candidates, prefix, kind, alphabet, message):
    with pytest.raises(InputError) as error:
        support(candidates, prefix, kind, alphabet)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("candidates", "prefixes", "kind", "alphabet", "message"),
    [
        (SETS, [""], "trei", "abc", "support kind 'trei' is none of full, union, trie (did you mean trie?)"),
        (SETS, ["", ""], "trie", "abc", "candidates has 1 entries and prefixes has 2: give as many of both"),
        (SETS, ["ab"], "trie", "abc", "prefixes[0] = 'ab' leaves no position: the candidates have 2 characters"),
        (SETS[0], ["", "é"], "trie", "abc", "prefixes[1] = 'é' is not ASCII"),
        (SETS[0], ["", None], "trie", "abc", "prefixes[1] = None is not a string"),
        (SETS, [""], "trie", "ac", "candidates[0, 0, 1] = 'b' is not in the alphabet 'ac'"),
        (SETS, [""], "trie", "abcb", "the alphabet 'abcb' repeats a character"),
        (SETS[0, 0], [""], "trie", "abc", "candidates: shape (2,) instead of [m, L] or [n, m, L]"),
        (
            SETS / 2,
            [""],
            "trie",
            "abc",
            "candidates: dtype float64 is not an integer type; give integers of shape [m, L] or [n, m, L]",
        ),
        (
            SETS[:, :0],
            [""],
            "trie",
            "abc",
            "candidates: shape (1, 0, 2); give at least one candidate of at least one character",
        ),
    ],
)
def test_refused_batches(candidates, prefixes, kind, alphabet, message):
    with pytest.raises(InputError) as error:
        support_masks(candidates, prefixes, kind, alphabet)
    assert str(error.value) == message
