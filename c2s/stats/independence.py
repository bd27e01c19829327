"""The empirical independence reference: the product of position accuracies, redrawn with everything else (D.10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import joint, resample
from c2s.kernels.joint import NUMBERS
from c2s.stats import _draws
from c2s.stats._options import Settings, options
from c2s.stats.results import Interval, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One length (or all lengths together, where `length` is None); every interval comes from the same draws.

    n                     items in the population
    reference             R, the product over positions of the share of items that are right there
    string_em             share of items that are right at every position
    serial_em             share that Serial answers correctly
    string_minus_reference, serial_minus_reference, serial_minus_string
    """

    length: int | None
    n: int
    reference: Interval
    string_em: Interval
    serial_em: Interval
    string_minus_reference: Interval
    serial_minus_reference: Interval
    serial_minus_string: Interval


_QUANTITIES = tuple(f.name for f in fields(Reference) if f.name not in ("length", "n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependenceReference(Interval):
    """R over all lengths (as an Interval), `pooled` with its contrasts, and `by_length`.

    Over all lengths, each length counts by its share of the (redrawn) population.
    """

    pooled: Reference
    by_length: Mapping[int, Reference]


def bootstrap_independence_reference(
    position_correct: ArrayLike | Sequence[ArrayLike],
    serial: ArrayLike,
    lengths: ArrayLike,
    population: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> IndependenceReference:
    """R = product over positions of the observed accuracies, per length, against string EM and Serial EM (D.10).

    `position_correct`: zeros and ones [n, longest length] (what lies beyond an item's length is ignored) or n sequences.
    `serial`: zeros and ones [n]. `lengths`: n integers of at least 1. `population`: zeros and ones [n], such as Native
    correctness; the means are over the members, whose number is redrawn too. Items are redrawn within their length; every position mean,
    product, EM and denominator is recomputed in each draw. Settings as for `bootstrap_ratio`, with method "auto" or "items".
    """
    chosen = options(settings, ("auto", "items"))
    size = joint.numbers("lengths", lengths)
    if size.dtype.kind != "i" or (len(size) and size.min() < 1):
        raise InputError("lengths: give integers of at least 1")
    right = joint.flags("serial", serial)
    member = np.ones(len(size), bool) if population is None else joint.flags("population", population)
    joint.same_length(lengths=size, serial=right, population=member)
    if len(size) == 0:
        raise InputError("lengths is empty: give at least one item")
    positions = _positions(position_correct, size)
    strata = joint.strata_of(size, len(size))
    present: tuple[int, ...] = tuple(np.unique(size).tolist())

    columns: list[NUMBERS] = []
    for length in present:
        here = member & (size == length)
        string = positions[:, :length].all(axis=1)
        columns += [here & positions[:, t] for t in range(length)] + [here & string, here & right, here]
    sampler = resample.ItemSampler([c.astype(np.int64) for c in columns], strata)

    def statistic(**part: Any) -> list[NUMBERS]:
        return _quantities(sampler.draw(**part), present)

    groups = len(present) + 1
    values = _draws.run(statistic, sampler.ns_per_draw + 100 * groups, chosen)
    observed = [float(v[0]) for v in _quantities([np.array([c.sum()]) for c in columns], present)]
    counts = [int((member & (size == length)).sum()) for length in present]

    def build(group: int, length: int | None, n: int) -> Reference:
        at = group * len(_QUANTITIES)
        made = {
            name: _draws.interval(
                values[at + i],
                None if np.isnan(observed[at + i]) else observed[at + i],
                chosen,
                sampler.method,
                reason="no member of the population",
            )
            for i, name in enumerate(_QUANTITIES)
        }
        return Reference(length=length, n=n, **made)

    pooled = build(groups - 1, None, sum(counts))
    return IndependenceReference(
        **{f.name: getattr(pooled.reference, f.name) for f in fields(Interval)},
        pooled=pooled,
        by_length=Table({k: build(i, k, n) for i, (k, n) in enumerate(zip(present, counts, strict=True))}),
    )


def _positions(values: ArrayLike | Sequence[ArrayLike], size: NUMBERS) -> NDArray[np.bool_]:
    """[n, longest], True beyond an item's length."""
    out = np.ones((len(size), int(size.max())), bool)
    rows = list(cast("Iterable[ArrayLike]", values))
    if len(rows) != len(size):
        raise InputError(f"position_correct has {len(rows)} rows for {len(size)} items: give one per item")
    for i, (row, length) in enumerate(zip(rows, size.tolist(), strict=True)):
        found = joint.flags(f"position_correct[{i}]", np.asarray(row)[:length])
        if len(found) < length:
            raise InputError(f"position_correct[{i}] has {len(found)} positions, its length is {length}")
        out[i, :length] = found
    return out


def _quantities(sums: list[NUMBERS], lengths: tuple[int, ...]) -> list[NUMBERS]:
    """By length, then pooled: R, string EM, Serial EM and their differences; NaN without a member."""
    out: list[NUMBERS] = []
    total = np.zeros(len(sums[0]))
    weighted = [np.zeros(len(total)) for _ in range(3)]
    at = 0
    for length in lengths:
        n = sums[at + length + 2].astype(np.float64)
        product = np.ones(len(n))
        for t in range(length):
            product *= resample.ratio(sums[at + t], n)
        levels = [product, resample.ratio(sums[at + length], n), resample.ratio(sums[at + length + 1], n)]
        out += _with_differences(levels)
        total += n
        for w, level in zip(weighted, levels, strict=True):
            w += np.where(n > 0, n * level, 0.0)
        at += length + 3
    return out + _with_differences([resample.ratio(w, total) for w in weighted])


def _with_differences(levels: list[NUMBERS]) -> list[NUMBERS]:
    reference, string, serial = levels
    return [reference, string, serial, string - reference, serial - reference, serial - string]
