"""The prefix tree against a plain list of the sequences that it was given."""

from __future__ import annotations

import numpy as np
import pytest

from c2s.backends.local.prefix_tree import PrefixTree


def store(tree: PrefixTree, tokens: list[int]) -> np.ndarray | None:
    """What the engine does with a prompt: match, take places for the rest, insert. The places of the whole sequence."""
    node, way = tree.match(tokens)
    node.pins += 1
    places = tree.take(len(tokens) - len(way))
    node.pins -= 1
    if places is None:
        return None
    tree.insert(node, tokens[len(way) :], places)
    return np.concatenate([way, places])


def common(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def test_matches_are_the_longest_and_places_stay_with_their_tokens():
    rng = np.random.default_rng(1)
    tree, known = PrefixTree(20_000), []
    held: dict[int, tuple[int, ...]] = {}
    for _ in range(300):
        tokens = rng.integers(0, 3, int(rng.integers(1, 30))).tolist()
        _, way = tree.match(tokens)
        assert len(way) == max((common(tokens, k) for k in known), default=0)
        places = store(tree, tokens)
        for depth, place in enumerate(places.tolist(), start=1):
            assert held.setdefault(place, tuple(tokens[:depth])) == tuple(tokens[:depth])
        known.append(tokens)
    assert tree.used == len({tuple(k[:n]) for k in known for n in range(1, len(k) + 1)})


@pytest.mark.parametrize("capacity", [30, 31, 64, 100])
def test_a_small_tree_never_exceeds_its_room_and_never_lies(capacity: int):
    rng = np.random.default_rng(capacity)
    tree, held = PrefixTree(capacity), {}
    for _ in range(400):
        tree.tick += 1
        tokens = rng.integers(0, 3, int(rng.integers(1, 30))).tolist()
        _, way = tree.match(tokens)
        for depth, place in enumerate(way.tolist(), start=1):
            assert held[place] == tuple(tokens[:depth])
        places = store(tree, tokens)
        assert places is not None and len(set(places.tolist())) == len(tokens)
        held |= {place: tuple(tokens[:depth]) for depth, place in enumerate(places.tolist(), start=1)}
        assert tree.used == sum(len(node.places) for node in tree.nodes()) <= capacity


def test_the_oldest_go_first_and_unshared_ends_before_shared_heads():
    tree = PrefixTree(12)
    for tick, tokens in enumerate(([1, 2, 3, 4], [1, 2, 5, 6], [7, 8, 9, 9]), start=1):
        tree.tick = tick
        store(tree, tokens)
    assert tree.used == 10
    tree.tick = 4
    store(tree, [6, 6, 6, 6])
    assert [len(tree.match(t)[1]) for t in ([1, 2, 3, 4], [1, 2, 5, 6], [7, 8, 9, 9], [6, 6, 6, 6])] == [2, 4, 4, 4]


def test_pinned_ways_stay():
    tree = PrefixTree(8)
    store(tree, [1, 2, 3, 4])
    node, _ = tree.match([1, 2, 3, 4])
    node.pins += 1
    assert tree.take(5) is None
    assert tree.take(4) is not None and len(tree.match([1, 2, 3, 4])[1]) == 4
