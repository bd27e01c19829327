"""Displayed order of options: a shuffle keyed by (seed, parent, position, order), the same for every arm (PROTOCOL section 2, ours)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

CODES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Choice codes: one uppercase letter each."""


def keyed_order(options: Sequence[str], *, seed: int, parent: str, position: int, order: int = 0) -> list[str]:
    """`options` in the order shown for this position of this parent; position 0 is the whole answer.

    `order` names another shuffle where a panel varies the displayed order; panels that do not leave it at 0.
    Each option gets eight bytes of SHAKE-256 over the key and options are sorted by them, so the order depends on
    nothing but the key and the stored order of the options.
    """
    return [options[i] for i in _ranked(len(options), seed, parent, position, order)]


@lru_cache(maxsize=8192)  # the arms of one parent ask for the same few orders
def _ranked(count: int, seed: int, parent: str, position: int, order: int) -> list[int]:
    stream = hashlib.shake_256(f"c2s-options\0{seed}\0{parent}\0{position}\0{order}".encode()).digest(8 * count)
    return sorted(range(count), key=lambda i: stream[8 * i : 8 * i + 8])
