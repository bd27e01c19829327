"""Bootstrap intervals of a stratified ratio whose denominator is redrawn with its numerator: SCR, means and related statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import exact, joint, resample
from c2s.kernels.joint import NUMBERS, Labels
from c2s.stats import _draws
from c2s.stats._options import Options, Settings, options
from c2s.stats.proportion import clopper_pearson
from c2s.stats.results import Interval


@dataclass(frozen=True, slots=True)
class _Units:
    """What is resampled: units in strata, each adding x to the numerator and d to the denominator."""

    x: NUMBERS
    d: NUMBERS
    strata: joint.Strata


def bootstrap_scr(
    native: ArrayLike,
    serial: ArrayLike,
    strata: Labels | None = None,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> Interval:
    """SCR, the share of Native-correct items that Serial keeps, with its bootstrap interval (paper 3.1, 3.4, A.6).

    `native`, `serial`: zeros and ones of shape [n]. The Native denominator is redrawn with the items; draws without a Native success
    are undefined and counted. Without variation to redraw (0 or all successes, or strata that are each constant) the interval is
    degenerate and carries the Clopper-Pearson interval.
    `strata`, `clusters`, `weights` and the settings are those of `bootstrap_ratio`.
    """
    a, b = joint.flags("native", native), joint.flags("serial", serial)
    joint.same_length(native=a, serial=b)
    return _count_ratio(a & b, a, strata, clusters, weights, options(settings), "no Native success")


def bootstrap_gain_rate(
    native: ArrayLike,
    serial: ArrayLike,
    strata: Labels | None = None,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> Interval:
    """The share of Native-wrong items that Serial answers correctly, with a redrawn denominator (D.16)."""
    a, b = joint.flags("native", native), joint.flags("serial", serial)
    joint.same_length(native=a, serial=b)
    return _count_ratio(~a & b, ~a, strata, clusters, weights, options(settings), "no Native failure")


def bootstrap_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> Interval:
    """Sum of `numerator` over sum of `denominator`, both of shape [n], resampled together.

    strata    n labels; units are redrawn within a stratum, as many as it has
    clusters  n labels; whole clusters are redrawn instead of items; each lies in one stratum
    weights   n numbers of at least 0 that multiply both; an item keeps its weight when it is redrawn

    Settings (keywords): draws=99_999, seed=0, method="auto" | "exact" | "multinomial" | "items", confidence=0.95,
    threads=None, progress=None, withhold_above=0.5 (no interval where more than this share of the draws is undefined).
    `exact` is the bootstrap with infinitely many draws: no seed, no Monte Carlo error; it needs values on a lattice, such as
    counts, and a law of bounded size, and says so otherwise. `multinomial` draws the totals of strata, `items` every item;
    `auto` takes the first of the three that can be done. Denominators must be at least 0; a draw whose denominator is 0 is undefined.
    """
    x, d = joint.numbers("numerator", numerator), joint.numbers("denominator", denominator)
    n = joint.same_length(numerator=x, denominator=d)
    if n and d.min() < 0:
        raise InputError(f"denominator[{int(np.argmin(d))}] = {d.min()} is below 0")
    return _estimate(_units(x, d, strata, clusters, weights), options(settings), "zero denominator")


def bootstrap_mean(
    values: ArrayLike,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> Interval:
    """Mean of `values` [n], such as EM of zeros and ones; weighted if `weights` are given. Arguments as for `bootstrap_ratio`.

    With clusters the mean is over items, so clusters of unequal size redraw its denominator too.
    """
    x = joint.numbers("values", values)
    return _estimate(_units(x, np.ones(len(x), np.int64), strata, clusters, weights), options(settings), "no items")


def bootstrap_paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> Interval:
    """Mean of a - b over pairs [n], such as a difference of EM on the same items. Arguments as for `bootstrap_ratio`."""
    first, second = joint.numbers("a", a), joint.numbers("b", b)
    n = joint.same_length(a=first, b=second)
    return _estimate(_units(first - second, np.ones(n, np.int64), strata, clusters, weights), options(settings), "no items")


def _units(x: NUMBERS, d: NUMBERS, strata: Labels | None, clusters: Labels | None, weights: ArrayLike | None) -> _Units:
    n = len(x)
    if weights is not None:
        w = checked_weights(weights, n)
        x, d = x * w, d * w
    found = joint.strata_of(strata, n)
    if clusters is None:
        return _Units(x, d, found)
    unit, unit_strata = clustered(clusters, found)
    size = len(unit_strata.index)
    return _Units(resample.unit_totals(unit, size, x), resample.unit_totals(unit, size, d), unit_strata)


def checked_weights(weights: ArrayLike, n: int) -> NUMBERS:
    w = joint.numbers("weights", weights)
    if len(w) != n:
        raise InputError(f"weights has {len(w)} entries for {n} items: give one per item")
    if n and w.min() < 0:
        raise InputError(f"weights[{int(np.argmin(w))}] = {w.min()} is below 0")
    return w


def clustered(clusters: Labels, strata: joint.Strata) -> tuple[NDArray[np.int64], joint.Strata]:
    """The cluster of each item, and the strata of the clusters. A cluster in two strata is an InputError."""
    unit, labels = joint.codes("clusters", clusters, len(strata.index))
    home = np.zeros(len(labels), np.int64)
    home[unit] = strata.index
    astray = home[unit] != strata.index
    if astray.any():
        at = int(np.argmax(astray))
        raise InputError(f"cluster {labels[unit[at]]!r} lies in more than one stratum; a cluster is redrawn as a whole")
    return unit, joint.Strata(home, np.bincount(home, minlength=len(strata.sizes)), strata.labels)


def _count_ratio(
    part: NDArray[np.bool_],
    whole: NDArray[np.bool_],
    strata: Labels | None,
    clusters: Labels | None,
    weights: ArrayLike | None,
    chosen: Options,
    reason: str,
) -> Interval:
    successes, trials = int(np.count_nonzero(part)), int(np.count_nonzero(whole))
    plain = clusters is None and weights is None
    if plain:
        found = joint.strata_of(strata, len(whole))
        units = _Units(part, whole, found)
        cells = joint.joint_cells(part, whole, found)
    else:
        units = _units(part.astype(np.int64), whole.astype(np.int64), strata, clusters, weights)
        cells = None
    result = _estimate(units, chosen, reason, cells)
    if result.degenerate and trials:
        boundary = clopper_pearson(successes, trials, chosen.confidence) if plain else None
        note = f"{successes}/{trials}: every draw gives the estimate" + (", see clopper_pearson" if plain else "")
        result = replace(result, clopper_pearson=boundary, note="; ".join(filter(None, (note, result.note))))
    return result


def _estimate(units: _Units, chosen: Options, reason: str, cells: joint.RatioCells | None = None) -> Interval:
    """The first method that can be done, of those that `chosen.method` allows."""
    whole = units.d.sum()
    estimate = float(units.x.sum() / whole) if whole > 0 else None
    if estimate is None:
        return Interval(
            estimate=None,
            low=None,
            high=None,
            confidence=chosen.confidence,
            method=chosen.method,
            undefined=1.0,
            note=f"undefined ({reason})",
        )
    note = ""
    if chosen.method in ("auto", "exact"):
        lattice = cells or _lattice_cells(units)
        law = exact.exact_ratio(lattice, chosen.levels) if lattice else None
        if lattice is not None and isinstance(law, exact.RatioLaw):
            return _from_law(law, lattice, estimate, chosen, reason)
        why = "the values lie on no common lattice" if law is None else (f"the law is too large (cost {law:.3g}, limit {exact.COST_LIMIT})")
        if chosen.method == "exact":
            raise InputError(f"method='exact': {why}; draw instead, with method='multinomial' or 'items'")
        note = f"drawn, because {why}"
    sampler: resample.CellSampler | resample.ItemSampler | None = None
    if chosen.method in ("auto", "multinomial"):
        sampler, why = _cell_sampler(units, cells)
        if sampler is None and chosen.method == "multinomial":
            raise InputError(f"method='multinomial': {why}; use method='items'")
    if sampler is None:
        sampler = resample.ItemSampler([units.x, units.d], units.strata)
    times = None
    if isinstance(sampler, resample.CellSampler) and sampler.single:
        values, times = sampler.state_ratios(), _draws.tally(sampler, chosen)
    else:
        (values,) = _draws.run(lambda **part: [sampler.ratios(**part)], sampler.ns_per_draw, chosen)
    return _draws.interval(values, estimate, chosen, sampler.method, reason=reason, note=note, times=times)


def _lattice_cells(units: _Units) -> joint.RatioCells | None:
    x, d = joint.lattice(units.x), joint.lattice(units.d)
    if x is None or d is None:
        return None
    return joint.ratio_cells(x[1], d[1], units.strata, x[0], d[0])


def _cell_sampler(units: _Units, cells: joint.RatioCells | None) -> tuple[resample.CellSampler | None, str]:
    """Tables for every stratum, each on a lattice of its own (weights may differ between strata)."""
    k = len(units.strata.sizes)
    x_scale, d_scale = np.ones(k), np.ones(k)
    if cells is None:
        x, d = np.zeros(len(units.x), np.int64), np.zeros(len(units.d), np.int64)
        for s in range(k):
            inside = units.strata.index == s
            own_x, own_d = joint.lattice(units.x[inside]), joint.lattice(units.d[inside])
            if own_x is None or own_d is None:
                return None, f"the values of stratum {units.strata.labels[s]!r} lie on no lattice"
            x_scale[s], x[inside] = own_x
            d_scale[s], d[inside] = own_d
        cells = joint.ratio_cells(x, d, units.strata)
    sampler = resample.CellSampler(cells, x_scale, d_scale)
    if sampler.too_large:
        return None, f"the law of a stratum is too large (cost {sampler.too_large:.3g}, limit {exact.COST_LIMIT})"
    return sampler, ""


def _from_law(law: exact.RatioLaw, cells: joint.RatioCells, estimate: float, chosen: Options, reason: str) -> Interval:
    withheld = law.undefined > chosen.withhold_above
    degenerate = _is_fixed(cells, estimate)
    note = ""
    if law.undefined >= 1e-6:
        note = f"{law.undefined:.3g} of the draws undefined ({reason})" + ("; interval withheld" if withheld else "")
    return Interval(
        estimate=estimate,
        low=None if withheld else float(law.quantiles[0]),
        high=None if withheld else float(law.quantiles[1]),
        confidence=chosen.confidence,
        method="exact",
        undefined=law.undefined,
        degenerate=degenerate and not withheld,
        note=note,
        standard_error=None if withheld else 0.0 if degenerate else law.sd,
    )


def _is_fixed(cells: joint.RatioCells, estimate: float) -> bool:
    """Whether every draw gives the estimate: within each stratum x - estimate * d is the same for all cells."""
    left = cells.x * cells.x_unit - estimate * (cells.d * cells.d_unit)
    starts = cells.offsets[:-1][np.diff(cells.offsets) > 0]
    spread = np.maximum.reduceat(left, starts) - np.minimum.reduceat(left, starts)
    return bool((spread <= 1e-12 * max(abs(cells.x_unit), abs(estimate * cells.d_unit))).all())
