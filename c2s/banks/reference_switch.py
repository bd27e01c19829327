"""Reference-switch pairs (judge paper, B.1, D.5).

A pair is two three-digit values of one synthetic item, either of which a trusted record may assign to it.

24 pairs, balanced over near/far and over which value is larger. The paper prints the template, one example and the balance; the
distances (near 1, far at least 100) and the draws are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from c2s.banks.judge import letters
from c2s.banks.keyed import Keyed

SEED = 20260930140


@dataclass(frozen=True, slots=True)
class Pair:
    """`x` stands first in every candidate and `y` last; `item` names it in the question."""

    id: str
    item: str
    x: int
    y: int
    distance: str
    r: str


def pairs(n: int = 24, seed: int = SEED) -> list[Pair]:
    """`n` pairs with distinct values; near and far alternate, and so do rising and falling pairs."""
    found: list[Pair] = []
    used: set[int] = set()
    for number in range(1, n + 1):
        distance, rising = ("near", "far")[number % 2], number // 2 % 2 == 1
        draw = Keyed(seed, "reference switch", number)
        while True:
            low = 100 + draw.below(900)
            high = low + (1 if distance == "near" else 100 + draw.below(800))
            if high <= 999 and not {low, high} & used:
                break
        used |= {low, high}
        x, y = (low, high) if rising else (high, low)
        item = "K" + "".join(draw.pick("0123456789abcdef") for _ in range(10))
        name = f"refswitch:{seed}:{number}"
        found.append(Pair(name, item, x, y, distance, letters(seed, name, title=False)))
    return found
