"""Holm's correction over a planned family of tests."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from c2s.errors import InputError
from c2s.stats._options import check_int

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class HolmResult(Mapping[K, float]):
    """Adjusted p by name, in the order given. Maps a name to its adjusted p.

    m          size of the family that was planned
    raw        p as given, None for a test that could not run
    not_run    the names that kept their slot with p = 1 without having run
    """

    m: int
    raw: Mapping[K, float | None]
    not_run: frozenset[K]
    _adjusted: dict[K, float] = field(repr=False)

    def __getitem__(self, name: K) -> float:
        return self._adjusted[name]

    def __iter__(self) -> Iterator[K]:
        return iter(self._adjusted)

    def __len__(self) -> int:
        return len(self._adjusted)

    def rejected(self, alpha: float = 0.05) -> tuple[K, ...]:
        """Names whose adjusted p is at most `alpha`, in the order given."""
        return tuple(name for name, p in self._adjusted.items() if p <= alpha)


def holm(p_by_name: Mapping[K, float | None] | Mapping[K, float], planned: int | Sequence[K] | None = None) -> HolmResult[K]:
    """Holm's step-down adjusted p-values (Holm 1979), family-wise over the planned family.

    `p_by_name`: p in [0, 1] by name; None for a test that could not run, which keeps its slot with p = 1 and is listed in
    `not_run`. `planned`: the family, as its size m or as all its names (names without a p are added, as not run); None
    means the names given. The adjusted values are monotone and at most 1; equal p get equal values. InputError for a p
    outside [0, 1] or NaN, or a family smaller than the tests given.
    """
    if not isinstance(p_by_name, Mapping):
        raise InputError("p_by_name: give a mapping from names to p; for a plain list, dict(enumerate(p))")
    given: dict[K, float | None] = {**p_by_name}
    if planned is None:
        m = len(given)
    elif isinstance(planned, int) or not isinstance(planned, Sequence):
        m = check_int("planned", planned, 0, 2**53)
    else:
        stray = [name for name in given if name not in set(planned)]
        if stray:
            raise InputError(f"{stray[0]!r} has a p but is not in the planned family; name every planned test")
        m = len(set(planned))
        if m < len(planned):
            raise InputError("planned: a name occurs more than once")
        given = {name: given.get(name) for name in planned}
    if m < len(given):
        raise InputError(f"planned = {m} tests, but {len(given)} are given: the family cannot be smaller")
    not_run = frozenset(name for name, p in given.items() if p is None)
    p = np.array([1.0 if p is None else p for p in given.values()], np.float64)
    bad = ~((p >= 0) & (p <= 1))
    if bad.any():
        name = list(given)[int(np.argmax(bad))]
        raise InputError(f"p of {name!r} is {given[name]!r}: give a number from 0 to 1, or None if the test could not run")
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(np.maximum.accumulate(p[order] * (m - np.arange(len(p)))), 1.0)
    adjusted = np.empty_like(stepped)
    adjusted[order] = stepped
    return HolmResult(m=m, raw=given, not_run=not_run, _adjusted=dict(zip(given, adjusted.tolist(), strict=True)))
