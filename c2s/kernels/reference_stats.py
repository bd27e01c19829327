"""Slow plain-Python twins of the statistical kernels, written to be obviously right. Tests assert that each kernel equals its twin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

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
