"""Bytes, texts and displayed order: the parts of a request that must never move."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c2s.presentation import texts
from c2s.presentation.encode import body_hash, canonical_state, content_hash, encode
from c2s.presentation.option_order import keyed_order
from tests.support.shared import shared_file


def test_request_texts_are_those_of_the_papers_byte_for_byte():
    assert texts._raw() == shared_file("spec/contracts.toml").read_bytes()


def test_instructions_by_template_and_arm():
    assert texts.natural("v1", "native") == "Select the complete correct answer from the provided candidates."
    assert texts.natural("v2", "serial").startswith("Given the possibly incorrect draft prefix")


def test_canonical_state_is_sorted_compact_utf8():
    state = {"problem": "39 × 15 = ?", "candidates": ("585", "589"), "target_length": 3}
    assert canonical_state(state) == '{"candidates":["585","589"],"problem":"39 × 15 = ?","target_length":3}'


def test_insertion_keeps_order_and_sorted_sorts_every_level():
    value = {"b": {"z": 1, "a": [{"y": 0, "x": 0}]}, "a": None}
    assert encode(value) == b'{"b":{"z":1,"a":[{"y":0,"x":0}]},"a":null}'
    assert encode(value, "sorted") == b'{"a":null,"b":{"a":[{"x":0,"y":0}],"z":1}}'
    assert body_hash(encode(value)) != body_hash(encode(value, "sorted"))
    assert content_hash(encode(value)) == content_hash(encode(value, "sorted"))
    with pytest.raises(ValueError, match="unknown presentation"):
        encode(value, "shuffled")


@given(st.lists(st.text(min_size=1), min_size=1, max_size=60, unique=True), st.integers(), st.text(), st.integers(0, 9))
def test_keyed_order_is_a_permutation_and_depends_on_its_key_alone(options, seed, parent, position):
    shown = keyed_order(options, seed=seed, parent=parent, position=position)
    assert Counter(shown) == Counter(options)
    assert shown == keyed_order(tuple(options), seed=seed, parent=parent, position=position)


def test_keyed_order_is_frozen():
    """A change of this order would change every request: it is part of the protocol."""
    assert "".join(keyed_order("abcdefghij", seed=20261005, parent="lexical-3-01", position=1)) == "cibgahjfed"


def test_every_part_of_the_key_matters():
    base = {"seed": 1, "parent": "p", "position": 1, "order": 0}
    changes = ({}, {"seed": 2}, {"parent": "q"}, {"position": 2}, {"order": 1})
    orders = {tuple(keyed_order("abcdefghijklmnopqrstuvwxyz", **base | change)) for change in changes}
    assert len(orders) == 5


def test_keyed_order_is_uniform_over_the_permutations_of_three():
    counts = Counter("".join(keyed_order("abc", seed=0, parent=str(i), position=0)) for i in range(6000))
    assert set(counts) == {"".join(p) for p in itertools.permutations("abc")}
    chi2 = sum((n - 1000) ** 2 / 1000 for n in counts.values())
    assert chi2 < 25.7  # 5 degrees of freedom, false alarm 1e-4
