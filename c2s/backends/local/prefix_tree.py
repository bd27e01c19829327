"""Which prefixes of token sequences have stored keys and values, and in which places: a radix tree with bounded room.

A node holds a run of tokens and the place (a row of the store) of each; a path from the root is a prefix. The tree knows
nothing of tensors: it hands out places, remembers what is in them and frees those used longest ago.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import numpy as np


class Node:
    """A run of tokens after its parent's.

    `pins` counts the jobs that need it now; `tick` is the call that used it last; `shared`: a second prompt begins with it; `ready`: the
    keys and values in its places have been computed.
    """

    __slots__ = ("children", "parent", "pins", "places", "ready", "shared", "tick", "tokens")

    def __init__(self, parent: Node | None, tokens: Sequence[int], places: np.ndarray, tick: int) -> None:
        self.parent = parent
        self.tokens = list(tokens)
        self.places = places
        self.children: dict[int, Node] = {}
        self.pins = 0
        self.tick = tick
        self.shared = False
        self.ready = False


NOWHERE = np.empty(0, dtype=np.int64)


class PrefixTree:
    """Prefixes in at most `capacity` places."""

    def __init__(self, capacity: int) -> None:
        self.root = Node(None, (), NOWHERE, 0)
        self.root.ready = True
        self.tick = 0
        self.capacity = capacity
        self._free = list(range(capacity - 1, -1, -1))

    @property
    def used(self) -> int:
        return self.capacity - len(self._free)

    def grow(self, capacity: int) -> None:
        """More places; those in use keep their numbers."""
        self._free = [*range(capacity - 1, self.capacity - 1, -1), *self._free]
        self.capacity = max(self.capacity, capacity)

    def match(self, tokens: Sequence[int]) -> tuple[Node, np.ndarray]:
        """The deepest node along `tokens`, cut to where they part from it, and the places of the whole way there."""
        node, at, ways = self.root, 0, []
        while at < len(tokens) and (child := node.children.get(tokens[at])) is not None:
            same = _common(child.tokens, tokens, at)
            if same < len(child.tokens):
                child = self._split(node, child, same)
            ways.append(child.places)
            child.tick, child.shared = self.tick, True
            node, at = child, at + same
        return node, np.concatenate(ways) if ways else NOWHERE

    def insert(self, node: Node, tokens: Sequence[int], places: np.ndarray) -> Node:
        """A new child of `node`, which `match` returned for what comes before `tokens`."""
        if not len(tokens):
            return node
        child = Node(node, tokens, places, self.tick)
        node.children[child.tokens[0]] = child
        return child

    def remove(self, node: Node) -> None:
        """Forget a leaf and free its places."""
        if node.parent is not None:
            del node.parent.children[node.tokens[0]]
            self.release(node.places)

    def take(self, count: int) -> np.ndarray | None:
        """`count` free places, after forgetting what was used longest ago; None where too much is pinned."""
        if count > len(self._free):
            self._evict(count - len(self._free))
        if count > len(self._free):
            return None
        taken = self._free[len(self._free) - count :]
        del self._free[len(self._free) - count :]
        return np.array(taken[::-1], dtype=np.int64)

    def release(self, places: np.ndarray) -> None:
        self._free.extend(places[::-1].tolist())

    def nodes(self) -> Iterator[Node]:
        waiting = list(self.root.children.values())
        while waiting:
            node = waiting.pop()
            waiting.extend(node.children.values())
            yield node

    def _split(self, parent: Node, node: Node, at: int) -> Node:
        """Cut a child of `parent` in two; returns the upper half. The node itself stays the lower one, so its pins stay true."""
        upper = Node(parent, node.tokens[:at], node.places[:at], node.tick)
        parent.children[node.tokens[0]] = upper
        node.tokens, node.places, node.parent = node.tokens[at:], node.places[at:], upper
        upper.children[node.tokens[0]] = node
        # What a second prompt did not share is unlikely to be shared by a third: a prompt's own end goes before its head.
        upper.ready = node.ready
        upper.shared, node.shared = node.shared, node.shared and bool(node.children)
        return upper

    def _evict(self, wanted: int) -> None:
        """Free at least `wanted` places if that many are not pinned.

        The nodes of the oldest calls go first; among those, ends that nobody shared, from the back.
        """
        heap = [(n.tick, n.shared, i, n) for i, n in enumerate(self.nodes()) if not n.children and not n.pins]
        heapq.heapify(heap)
        order = len(heap) + self.capacity
        while heap and wanted > 0:
            _, _, _, node = heapq.heappop(heap)
            if len(node.tokens) > wanted:
                keep = len(node.tokens) - wanted
                self.release(node.places[keep:])
                node.tokens, node.places = node.tokens[:keep], node.places[:keep]
                return
            wanted -= len(node.tokens)
            above = node.parent
            self.remove(node)
            if above is not None and above is not self.root and not above.children and not above.pins:
                order += 1
                heapq.heappush(heap, (above.tick, above.shared, order, above))


def _common(run: Sequence[int], tokens: Sequence[int], at: int) -> int:
    """How many tokens of `run` stand in `tokens` from `at` on."""
    end = min(len(run), len(tokens) - at)
    if list(tokens[at : at + end]) == list(run[:end]):
        return end
    return next(i for i in range(end) if run[i] != tokens[at + i])
