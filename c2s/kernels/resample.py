"""Sums of a bootstrap draw, by items or by joint cells (see `c2s_core/resample.hpp`, `c2s_core/bootstrap.hpp`).

A sampler's `draw(seed, first, count, threads)` gives draws first, ... first + count - 1: one array of sums per column. Draw t
is a function of (seed, t) alone: threads and batches change nothing, and neither does the order of the units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from c2s.kernels._load import core
from c2s.kernels.exact import COST_LIMIT
from c2s.kernels.joint import FLOAT, INT, NUMBERS, RatioCells, Strata

_PICK_NS = 1.0  # of one pick on one thread, roughly: sizes the batches
_LOOKUP_NS = 10.0


@dataclass(frozen=True, slots=True)
class Field:
    """Where the sum of a column lies in the packed words: `word`, then `bits` bits from `shift` on."""

    word: int
    shift: int
    bits: int


def pack(columns: Sequence[NUMBERS]) -> tuple[NDArray[np.uint64], tuple[Field, ...]] | None:
    """Columns of integers of at least 0 as 64-bit words [units, words] whose sums cannot overflow; None if a column has floats
    or negative values, or sums of 2**63 and more."""
    fields, used = [], [0]
    for column in columns:
        if column.dtype.kind not in "bi" or (column.size and column.min() < 0):
            return None
        bits = max(1, (int(column.max(initial=0)) * len(column)).bit_length())
        if bits > 63:
            return None
        if used[-1] + bits > 64:
            used.append(0)
        fields.append(Field(len(used) - 1, used[-1], bits))
        used[-1] += bits
    words = np.zeros((len(columns[0]), len(used)), np.uint64)
    for column, field in zip(columns, fields, strict=True):
        words[:, field.word] |= column.astype(np.uint64) << np.uint64(field.shift)
    return words, tuple(fields)


class ItemSampler:
    """Redraws units within strata and adds up their columns. Integer columns give int64 sums, others float64."""

    method = "items"

    def __init__(self, columns: Sequence[NUMBERS], strata: Strata) -> None:
        order = np.lexsort((*columns[::-1], strata.index))
        columns = [np.asarray(column)[order] for column in columns]
        self._offsets = np.zeros(len(strata.sizes) + 1, np.int64)
        np.cumsum(strata.sizes, out=self._offsets[1:])
        self._packed = pack(columns)
        self._values = np.zeros((len(order), 0)) if self._packed else np.ascontiguousarray(np.stack(columns, axis=1), np.float64)
        width = (self._packed[0] if self._packed else self._values).shape[1]
        self.ns_per_draw = max(20.0, len(order) * _PICK_NS * (1 + width / 4))

    def ratios(self, *, seed: int, first: int, count: int, threads: int) -> NDArray[np.float64]:
        """First column over second of each draw, NaN where the second is 0."""
        numerator, denominator = self.draw(seed=seed, first=first, count=count, threads=threads)
        return ratio(numerator, denominator)

    def draw(self, *, seed: int, first: int, count: int, threads: int) -> list[NUMBERS]:
        """The sums of each column, [count] each."""
        if self._packed is None:
            sums = core.resample_sums(offsets=self._offsets, values=self._values, seed=seed, first=first, count=count, threads=threads)
            return list(sums.T)
        values, fields = self._packed
        words = core.resample_packed(offsets=self._offsets, values=values, seed=seed, first=first, count=count, threads=threads)
        return [(words[:, f.word] >> np.uint64(f.shift) & np.uint64((1 << f.bits) - 1)).view(np.int64) for f in fields]


class CellSampler:
    """Draws numerator and denominator of a ratio from alias tables over the joint totals of merged strata."""

    method = "multinomial"

    def __init__(self, cells: RatioCells, x_scale: FLOAT | None = None, d_scale: FLOAT | None = None, limit: float = COST_LIMIT):
        """Scales: one per stratum, 1 by default; the cells' own units multiply them. `too_large` holds the cost of a
        stratum beyond `limit`, and then nothing can be drawn."""
        ones = np.ones(len(cells.offsets) - 1)
        self._tables = core.Multinomial(
            offsets=cells.offsets,
            x=cells.x,
            d=cells.d,
            count=cells.count,
            x_scale=cells.x_unit * (ones if x_scale is None else x_scale),
            d_scale=cells.d_unit * (ones if d_scale is None else d_scale),
            max_cost=float(limit),
        )
        self.too_large: float = self._tables.too_large
        self.single: bool = self._tables.tables == 1
        self.ns_per_draw = _LOOKUP_NS * max(1, self._tables.tables)

    def draw(self, *, seed: int, first: int, count: int, threads: int) -> list[NUMBERS]:
        return list(self._tables.draw(seed=seed, first=first, count=count, threads=threads))

    def ratios(self, *, seed: int, first: int, count: int, threads: int) -> NDArray[np.float64]:
        """Numerator over denominator of each draw, NaN where the denominator is 0."""
        return self._tables.ratios(seed=seed, first=first, count=count, threads=threads)

    def state_ratios(self) -> FLOAT:
        """Where one table holds all strata (`single`): the ratio of each of its states, NaN where the denominator is 0."""
        return self._tables.state_ratios()

    def tally(self, *, seed: int, first: int, count: int, threads: int) -> INT:
        """How many of the draws fall on each state."""
        return self._tables.tally(seed=seed, first=first, count=count, threads=threads)


def ratio(numerator: NUMBERS, denominator: NUMBERS) -> NDArray[np.float64]:
    """numerator / denominator, NaN where the denominator is 0."""
    if denominator.all():
        return numerator / denominator
    out = np.full(len(denominator), math.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def philox(counter: Sequence[int], key: Sequence[int]) -> list[int]:
    """One block of Philox4x32-10: four 32-bit words."""
    return core.philox(counter=list(counter), key=list(key))


def philox_words(*, seed: int, stream: int, first_draw: int, block: int, count: int, over_draws: bool) -> NDArray[np.uint32]:
    """Words [count, 4] of successive blocks of one draw, or (`over_draws`) of the same block of successive draws."""
    return core.philox_words(seed=seed, stream=stream, first_draw=first_draw, block=block, count=count, over_draws=over_draws)


def unit_totals(index: INT, size: int, values: NUMBERS) -> NUMBERS:
    """Sums of `values` over the units `index` (clusters): integers stay integers."""
    if values.dtype.kind == "f":
        return np.bincount(index, weights=values, minlength=size)
    out = np.zeros(size, np.int64)
    np.add.at(out, index, values)
    return out
