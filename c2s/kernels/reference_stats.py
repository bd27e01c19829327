"""Slow plain-Python twins of the statistical kernels, written to be obviously right. Tests assert that each kernel equals its twin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise, product

Cell = tuple[int, int, int]
"""(x, d, count): so many units of the stratum add (x, d) to the totals."""


def exact_law(strata: Sequence[Sequence[Cell]]) -> dict[tuple[int, int], float]:
    """P(X, D) of the stratified resample, one unit after the other."""
    law = {(0, 0): 1.0}
    for cells in strata:
        n = sum(count for _, _, count in cells)
        for _ in range(n):
            grown: dict[tuple[int, int], float] = defaultdict(float)
            for (x, d), p in law.items():
                for add_x, add_d, count in cells:
                    grown[x + add_x, d + add_d] += p * count / n
            law = dict(grown)
    return law


def quantile(values: Iterable[float], mass: Iterable[float], level: float) -> float:
    """The smallest value whose mass at or below it reaches level * total (up to 1e-12 of the total)."""
    atoms = sorted(zip(values, mass, strict=True))
    total = sum(m for _, m in atoms)
    sums: dict[float, float] = {}
    running = 0.0
    for value, m in atoms:
        running += m
        sums[value] = running
    return next((v for v, s in sums.items() if s >= (level - 1e-12) * total), atoms[-1][0])


def philox(counter: Sequence[int], key: Sequence[int]) -> list[int]:
    """Philox4x32-10 as Salmon, Moraes, Dror and Shaw (2011) define it, on Python integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


ITEMS, MULTINOMIAL, SIGNS = 1, 2, 3
"""Streams: which numbers a kernel draws."""


def words(seed: int, stream: int, draw: int, count: int) -> list[int]:
    """The first `count` words of a draw in a stream."""
    out: list[int] = []
    key = [seed & 0xFFFFFFFF, seed >> 32]
    block = 0
    while len(out) < count:
        out += philox([block, stream, draw & 0xFFFFFFFF, draw >> 32], key)
        block += 1
    return out[:count]


def picks(offsets: Sequence[int], seed: int, draw: int) -> list[int]:
    """The unit that each slot of a draw takes; stratum s holds offsets[s] <= i < offsets[s + 1]."""
    out = []
    stream = words(seed, ITEMS, draw, offsets[-1])
    for first, last in pairwise(offsets):
        out += [first + (stream[slot] * (last - first) >> 32) for slot in range(first, last)]
    return out


def item_sums(offsets: Sequence[int], columns: Sequence[Sequence[float]], seed: int, draw: int) -> list[float]:
    """Column sums of one draw over units in stratum order."""
    picked = picks(offsets, seed, draw)
    return [sum(column[i] for i in picked) for column in columns]


def auroc(scores: Sequence[float], outcomes: Sequence[int], weights: Sequence[float]) -> float | None:
    """Every pair of a positive and a negative, ties one half."""
    wins = pairs = 0.0
    for s, y, w in zip(scores, outcomes, weights, strict=True):
        for t, z, v in zip(scores, outcomes, weights, strict=True):
            if y and not z:
                pairs += w * v
                wins += w * v * (1.0 if s > t else 0.5 if s == t else 0.0)
    return wins / pairs if pairs > 0 else None


def average_precision(scores: Sequence[float], outcomes: Sequence[int], weights: Sequence[float]) -> float | None:
    """Precision at each distinct score, times the recall that it adds."""
    rows = list(zip(scores, outcomes, weights, strict=True))
    positive = sum(w for _, y, w in rows if y)
    if positive == 0 or positive == sum(weights):
        return None
    total = 0.0
    for threshold in sorted(set(scores), reverse=True):
        added = sum(w for s, y, w in rows if y and s == threshold)
        if added > 0:
            taken = [(y, w) for s, y, w in rows if s >= threshold]
            total += added / positive * sum(w for y, w in taken if y) / sum(w for _, w in taken)
    return total


def expected_calibration_error(scores: Sequence[float], outcomes: Sequence[int], weights: Sequence[float]) -> float | None:
    """Ten fixed bins, the last one closed."""
    total = sum(weights)
    if total == 0:
        return None
    error = 0.0
    for b in range(10):
        low, high = b / 10, (b + 1) / 10
        inside = [(s, y, w) for s, y, w in zip(scores, outcomes, weights, strict=True) if low <= s < high or (b == 9 and s == 1)]
        error += abs(sum(w * (s - y) for s, y, w in inside))
    return error / total


def precision_at_coverage(scores: Sequence[float], outcomes: Sequence[int], weights: Sequence[float], coverage: float) -> float | None:
    """Blocks of equal scores from the top; the block at the cutoff counts by the share of it that fits."""
    room = wanted = coverage * sum(weights)
    if wanted == 0:
        return None
    hits = 0.0
    for threshold in sorted(set(scores), reverse=True):
        block = [(y, w) for s, y, w in zip(scores, outcomes, weights, strict=True) if s == threshold]
        size = sum(w for _, w in block)
        if size > 0 and room > 0:
            share = min(1.0, room / size)
            hits += share * sum(w for y, w in block if y)
            room -= share * size
    return hits / wanted


def signflip_p(differences: Sequence[float], alternative: str = "two-sided") -> float:
    """All 2^n sign patterns; sums that differ by rounding alone count as equal."""
    observed, slack = sum(differences), 1e-12 * sum(abs(d) for d in differences)
    extreme = 0
    for signs in product((1, -1), repeat=len(differences)):
        total = sum(s * d for s, d in zip(signs, differences, strict=True))
        extreme += {
            "two-sided": abs(total) >= abs(observed) - slack,
            "greater": total >= observed - slack,
            "less": total <= observed + slack,
        }[alternative]
    return extreme / float(2 ** len(differences))
