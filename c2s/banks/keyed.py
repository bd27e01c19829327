"""Keyed randomness for the banks: every draw is a hash of (seed, what is drawn), never the next number of a shared stream.

So a bank's bytes do not depend on the number of workers, on the order of the work, or on a library's generator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from struct import Struct
from typing import TypeVar

T = TypeVar("T")
_EIGHT_WORDS = Struct(">8Q").unpack


class Keyed:
    """The random numbers that belong to one key. Two objects with the same key give the same numbers."""

    __slots__ = ("_counter", "_key", "_words")

    def __init__(self, seed: int, *what: object) -> None:
        self._key = "\x1f".join([str(seed), *map(str, what)]).encode()
        self._counter = 0
        self._words: list[int] = []

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, uniform up to 2**-64 n."""
        if not self._words:
            block = blake2b(self._key, digest_size=64, salt=self._counter.to_bytes(8, "big")).digest()
            self._words = list(_EIGHT_WORDS(block))
            self._counter += 1
        return self._words.pop() * n >> 64

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """A new list in random order (Fisher-Yates)."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out
