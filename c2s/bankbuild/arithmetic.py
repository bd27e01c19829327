"""Arithmetic items: products of exactly L digits, eight candidates in a four by two grid (paper A.2; protocol 1.1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from statistics import median

import numpy as np

from c2s.bankbuild.chance import Balance, selection_hits
from c2s.banks.keyed import Keyed
from c2s.errors import BankError
from c2s.kernels.carry import carry_counts

STRUCTURES = ("balanced", "unbalanced")
CELLS = tuple(f"{structure}-{load}" for structure in STRUCTURES for load in ("low", "high"))
DIGITS = "123456789"
POOL = 2_048
LEAST_OPERAND = 2  # a product with 1 is a copy of the other operand, and 900 of 1,931 unbalanced three-digit pairs have one
WINDOW = 8  # pool ranks, and draws of distractors for each, among which the selection looks for the best balancing item


@dataclass(frozen=True, slots=True)
class PairSpace:
    """All unordered pairs (a <= b) with a product of exactly `length` digits and one structure, as runs of b for each a."""

    runs: tuple[tuple[int, int, int], ...]
    """(a, first b, pairs before this run)."""
    total: int

    def at(self, index: int) -> tuple[int, int]:
        a, first, before = self.runs[bisect_right(self.runs, index, key=lambda run: run[2]) - 1]
        return a, first + index - before


@dataclass(frozen=True, slots=True)
class Pool:
    """Pairs drawn for one length and structure, with their carry counts and the split between low and high carry."""

    length: int
    structure: str
    total: int
    pairs: tuple[tuple[int, int], ...]
    carries: tuple[int, ...]
    median: float
    threshold: int
    """Low carry is at or below this: min(median, maximum - 1), so that neither side is empty."""

    def cell(self, i: int) -> str:
        return f"{self.structure}-{'low' if self.carries[i] <= self.threshold else 'high'}"

    def summary(self) -> dict[str, object]:
        """Plain facts for the bank's header."""
        text = ";".join(f"{a}x{b}" for a, b in self.pairs)
        return {
            "pairs": self.total,
            "pool": len(self.pairs),
            "median_carries": self.median,
            "max_carries": max(self.carries),
            "threshold": self.threshold,
            "high_share": round(sum(c > self.threshold for c in self.carries) / len(self.carries), 4),
            "sha256": sha256(text.encode()).hexdigest(),
        }


@dataclass(frozen=True, slots=True)
class Product:
    """A chosen problem with its candidates, not yet in stored order."""

    a: int
    b: int
    cell: str
    candidates: tuple[str, ...]

    @property
    def target(self) -> str:
        return str(self.a * self.b)


def pair_space(length: int, structure: str) -> PairSpace:
    """Balanced: operand lengths differ by at most one digit; unbalanced: by two or more."""
    low, high = 10 ** (length - 1), 10**length - 1
    starts, sizes = [], []
    for a in range(LEAST_OPERAND, int(high**0.5) + 1):
        digits = len(str(a))
        for other in range(digits, length + 1):
            if (other - digits <= 1) != (structure == "balanced"):
                continue
            first = max(a, 10 ** (other - 1), -(-low // a))
            last = min(10**other - 1, high // a)
            if first <= last:
                starts.append((a, first))
                sizes.append(last - first + 1)
    before = list(accumulate(sizes, initial=0))
    return PairSpace(tuple((a, first, n) for (a, first), n in zip(starts, before, strict=False)), before[-1])


def draw_pool(length: int, structure: str, seed: int, size: int = POOL) -> Pool:
    """`size` different pairs, uniform over the pairs (all of them where there are fewer), in drawing order."""
    space = pair_space(length, structure)
    keyed = Keyed(seed, "pool", length, structure)
    if space.total <= size:
        drawn = keyed.shuffled(range(space.total))
    else:
        seen: dict[int, None] = {}
        while len(seen) < size:
            seen[keyed.below(space.total)] = None
        drawn = list(seen)
    pairs = tuple(map(space.at, drawn))
    a, b = np.array(pairs, dtype=np.uint64).T
    carries = tuple(carry_counts(a, b).carries.tolist())
    middle = float(median(carries))
    return Pool(length, structure, space.total, pairs, carries, middle, min(int(middle), max(carries) - 1))


def grid(gold: str, depth: int, initials: Sequence[str], other: str) -> tuple[str, ...]:
    """The eight strings f g_2 .. g_{d-1} s g_{d+1} .. g_L: f from the gold's first digit and `initials`, s from its d-th and `other`."""
    middle, tail = gold[1 : depth - 1], gold[depth:]
    return tuple(f"{f}{middle}{s}{tail}" for f in (gold[0], *initials) for s in (gold[depth - 1], other))


@dataclass(frozen=True, slots=True)
class ProductSelection:
    test: tuple[Product, ...]
    dev: tuple[Product, ...]
    """Both in the order of the depths that were given."""
    pools: tuple[Pool, ...]


def select(length: int, *, seed: int, test_depths: Sequence[int], dev_depths: Sequence[int]) -> ProductSelection:
    """One product for each depth, as many from each cell; products (so pairs too) differ throughout, test and development together.

    First digits are dealt evenly over 1 to 9: products favour small ones so strongly that "take the smallest" would
    otherwise beat chance by far. The other digit at position d is that of a random product of the pool, so
    that the pair does not show which one multiplication is likelier to leave there.
    """
    pools = tuple(draw_pool(length, structure, seed) for structure in STRUCTURES)
    ranks: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for pool in pools:
        for i, (a, b) in enumerate(pool.pairs):
            ranks.setdefault((pool.cell(i), str(a * b)[0]), []).append((a, b))
    used: set[int] = set()
    chosen: dict[str, tuple[Product, ...]] = {}
    for split, depths in (("test", test_depths), ("dev", dev_depths)):
        supply = {slot: len({a * b for a, b in pairs} - used) for slot, pairs in ranks.items()}
        slots = deal_digits(len(depths), supply, Keyed(seed, "first digits", split, length))
        balance = Balance()
        made = []
        for depth, (cell, digit) in zip(depths, slots, strict=True):
            pool = pools[STRUCTURES.index(cell.partition("-")[0])]
            ahead = [p for p in ranks[cell, digit] if p[0] * p[1] not in used][:WINDOW]
            if not ahead:
                raise BankError(f"the pool of length {length} runs out of {cell} products that begin with {digit}: try another seed")
            options = [(selection_hits("math", p.candidates, p.target), p) for p in _options(ahead, cell, depth, pool, seed)]
            hits, best = min(options, key=lambda option: balance.cost(option[0]))
            balance.add(hits)
            used.add(best.a * best.b)
            made.append(best)
        chosen[split] = tuple(made)
    return ProductSelection(chosen["test"], chosen["dev"], pools)


def deal_digits(n: int, supply: Mapping[tuple[str, str], int], keyed: Keyed) -> list[tuple[str, str]]:
    """`n` slots (cell, first digit), shuffled: as many for each cell and, within one, for each digit.

    Not every cell has every digit (no one-digit times three-digit product below 200 is left without operands of 1), so the digits
    that few cells supply are placed first, each in the cell with the most room. `supply` counts different products.
    """
    whole, rest = divmod(n, len(DIGITS))
    spare = keyed.shuffled(DIGITS)[:rest]
    room = {cell: n // len(CELLS) for cell in CELLS}
    slots: list[tuple[str, str]] = []
    for digit in sorted(DIGITS, key=lambda d: (sum(supply.get((cell, d), 0) > 0 for cell in CELLS), d)):
        for _ in range(whole + (digit in spare)):
            able = [c for c in CELLS if room[c] and supply.get((c, digit), 0) > slots.count((c, digit))]
            if not able:
                raise BankError(f"no cell has a product left that begins with {digit}: try another seed")
            cell = max(able, key=room.__getitem__)
            room[cell] -= 1
            slots.append((cell, digit))
    return keyed.shuffled(slots)


def _options(pairs: Sequence[tuple[int, int]], cell: str, depth: int, pool: Pool, seed: int) -> Iterator[Product]:
    for small, large in pairs:
        gold = str(small * large)
        turn = Keyed(seed, "operand order", small, large).below(2)
        a, b = (large, small) if turn else (small, large)
        for attempt in range(WINDOW):
            keyed = Keyed(seed, "distractors", small, large, depth, attempt)
            initials = keyed.shuffled(d for d in DIGITS if d != gold[0])[:3]
            other = gold[depth - 1]
            while other == gold[depth - 1]:
                x, y = keyed.pick(pool.pairs)
                other = str(x * y)[depth - 1]
            yield Product(a, b, cell, grid(gold, depth, initials, other))
