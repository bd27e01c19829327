"""SCR across settings of the same items: differences, means, and the worst setting redrawn with the items (D.3, D.4)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import joint, resample
from c2s.kernels.joint import NUMBERS, Labels
from c2s.stats import _draws
from c2s.stats._options import Settings, options
from c2s.stats.ratio import checked_weights, clustered
from c2s.stats.results import Interval, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstScr(Interval):
    """The smallest SCR over the settings, redetermined in every draw.

    worst     names of the settings with the observed smallest SCR
    mean      the mean SCR over the settings
    settings  each setting's own SCR
    All come from the same draws.
    """

    worst: tuple[Hashable, ...]
    mean: Interval
    settings: Mapping[Hashable, Interval]


def bootstrap_scr_difference(
    native_a: ArrayLike,
    serial_a: ArrayLike,
    native_b: ArrayLike,
    serial_b: ArrayLike,
    strata: Labels | None = None,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> Interval:
    """SCR of a minus SCR of b on paired items [n] (or partner pairs), each with its own redrawn Native denominator.

    Settings as for `bootstrap_ratio`, with method "auto" or "items". A draw is undefined where either side has no Native success.
    """
    chosen = options(settings, ("auto", "items"))
    a = [joint.flags(name, v) for name, v in (("native_a", native_a), ("serial_a", serial_a))]
    b = [joint.flags(name, v) for name, v in (("native_b", native_b), ("serial_b", serial_b))]
    joint.same_length(native_a=a[0], serial_a=a[1], native_b=b[0], serial_b=b[1])
    sampler, observed = _sampler([a, b], strata, clusters, weights)

    def difference(**part: Any) -> list[NUMBERS]:
        x, d, y, e = sampler.draw(**part)
        return [resample.ratio(x, d) - resample.ratio(y, e)]

    (values,) = _draws.run(difference, sampler.ns_per_draw, chosen)
    left, right = observed
    estimate = None if left is None or right is None else left - right
    return _draws.interval(values, estimate, chosen, sampler.method, reason="a side has no Native success")


def bootstrap_worst_scr(
    native_by_setting: Mapping[Hashable, ArrayLike] | ArrayLike,
    serial_by_setting: Mapping[Hashable, ArrayLike] | ArrayLike,
    strata: Labels | None = None,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> WorstScr:
    """The worst SCR over settings of the same n items, with the mean and each setting's own (Table D4).

    Zeros and ones as {setting: [n]} or [settings, n]; all settings of an item are redrawn together, and each has its own Native
    denominator. A draw in which any setting has no Native success is undefined for the worst and the mean, because the worst
    is then unknown.
    Settings as for `bootstrap_ratio`, with method "auto" or "items".
    """
    chosen = options(settings, ("auto", "items"))
    native, serial = _by_setting("native_by_setting", native_by_setting), _by_setting("serial_by_setting", serial_by_setting)
    if list(native) != list(serial):
        raise InputError(f"settings of Native are {list(native)}, of Serial {list(serial)}: give the same, in the same order")
    names = list(native)
    if not names:
        raise InputError("native_by_setting is empty: give at least one setting")
    pairs = [[native[name], serial[name]] for name in names]
    joint.same_length(
        **{f"setting {name!r} ({side})": p[i] for name, p in zip(names, pairs, strict=True) for i, side in ((0, "native"), (1, "serial"))}
    )
    sampler, observed = _sampler(pairs, strata, clusters, weights)

    def scrs(**part: Any) -> list[NUMBERS]:
        sums = sampler.draw(**part)
        each = np.stack([resample.ratio(x, d) for x, d in zip(sums[::2], sums[1::2], strict=True)])
        return [each.min(axis=0), each.mean(axis=0), *each]  # a NaN makes the minimum and the mean NaN

    worst, mean, *each = _draws.run(scrs, sampler.ns_per_draw + 20 * len(names), chosen)
    known = [scr for scr in observed if scr is not None]
    complete = len(known) == len(names)
    reason = "a setting has no Native success"

    def make(values: NUMBERS, estimate: float | None, why: str) -> Interval:
        return _draws.interval(values, estimate, chosen, sampler.method, reason=why)

    base = make(worst, min(known) if complete else None, reason)
    return WorstScr(
        **{f.name: getattr(base, f.name) for f in fields(base)},
        worst=tuple(name for name, scr in zip(names, observed, strict=True) if complete and scr == min(known)),
        mean=make(mean, sum(known) / len(known) if complete else None, reason),
        settings=Table({name: make(v, scr, "no Native success") for name, v, scr in zip(names, each, observed, strict=True)}),
    )


def _by_setting(name: str, values: Mapping[Hashable, ArrayLike] | ArrayLike) -> dict[Hashable, NDArray[np.bool_]]:
    if isinstance(values, Mapping):
        return {key: joint.flags(f"{name}[{key!r}]", v) for key, v in values.items()}
    return {i: joint.flags(f"{name}[{i}]", v) for i, v in enumerate(cast("Iterable[ArrayLike]", values))}


def _sampler(
    pairs: list[list[NDArray[np.bool_]]], strata: Labels | None, clusters: Labels | None, weights: ArrayLike | None
) -> tuple[resample.ItemSampler, list[float | None]]:
    """Columns both, native of every pair; and the observed SCRs."""
    n = len(pairs[0][0])
    columns: list[NUMBERS] = [c.astype(np.int64) for native, serial in pairs for c in (native & serial, native)]
    if weights is not None:
        w = checked_weights(weights, n)
        columns = [c * w for c in columns]
    found = joint.strata_of(strata, n)
    if clusters is not None:
        unit, found = clustered(clusters, found)
        columns = [resample.unit_totals(unit, len(found.index), c) for c in columns]
    totals = [c.sum() for c in columns]
    observed = [float(x / d) if d > 0 else None for x, d in zip(totals[::2], totals[1::2], strict=True)]
    return resample.ItemSampler(columns, found), observed
