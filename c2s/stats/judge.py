"""The presentation interaction of the judge study (judge paper 4.4, A.5)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import exact, joint, resample
from c2s.kernels.joint import FLOAT, NUMBERS, Labels
from c2s.stats import _draws
from c2s.stats._options import Options, Settings, options
from c2s.stats.results import Bounds, Interval, Table

CELLS = ("insertion_random", "insertion_random_colon", "sorted_random", "sorted_random_colon")
"""Order of the four cells of a source."""

_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])
_ATOMS = 2**22

MOST = 2.0
"""The largest D: a difference of two differences of shares lies between -MOST and MOST."""

TOO_FEW = "too few items to say anything: the bound covers all that D can be"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction(Interval):
    """theta, the weighted mean over workloads of the mean D, with its interval (an Interval) and its test.

    p           two-sided; None where theta is undefined
    bounds      what theta can be on the full planned panel, whatever the missing labels would be; not a confidence interval
    by_workload mean D of each workload; None without a complete source
    complete, planned   sources of each workload
    counts      {D: sources} of each workload's complete sources
    """

    p: float | None = None
    bounds: Bounds
    by_workload: Mapping[Hashable, float | None]
    complete: Mapping[Hashable, int]
    planned: Mapping[Hashable, int]
    counts: Mapping[Hashable, Mapping[int, int]]

    @property
    def theta(self) -> float | None:
        return self.estimate


class _Planned(TypedDict):
    """What every Interaction says of the planned panel, whatever the method."""

    bounds: Bounds
    by_workload: Mapping[Hashable, float | None]
    complete: Mapping[Hashable, int]
    planned: Mapping[Hashable, int]
    counts: Mapping[Hashable, Mapping[int, int]]


def interaction(
    cells: Mapping[str, ArrayLike] | ArrayLike,
    workloads: Labels,
    weights: Mapping[Hashable, float] | None = None,
    **settings: Unpack[Settings],
) -> Interaction:
    """D = [A(R:, sorted) - A(R, sorted)] - [A(R:, insertion) - A(R, insertion)], averaged within and over workloads.

    cells      acceptances of n sources, {name: [n]} or [n, 4] in the order of `CELLS`: 1, 0, or None / NaN where a label is missing
    workloads  n labels; sources are redrawn within a workload
    weights    {workload: weight}, divided by their sum; equal by default

    method     "exact": interval and p from the law of the bootstrap, P(|theta* - theta| >= |theta|).
               "multinomial": as printed in the paper, p = (1 + #{|theta* - theta| >= |theta|}) / (1 + draws).
               "hoeffding": p = min(1, 2 exp(-theta^2 / 8 S)), theta +- sqrt(8 S log(2 / alpha)) as far as D can reach (-2 to 2;
               where that is all of it `note` says so), S = sum of w_d^2 / n_d.
               "auto": exact, multinomial where the law is too large, hoeffding where no source's D differs from its workload's.
    Incomplete sources are left out of theta and enter `bounds` alone. A workload without a complete source leaves theta undefined.
    Other settings as for `bootstrap_ratio`.
    """
    chosen = options({"draws": 49_999, **settings}, ("auto", "exact", "multinomial", "hoeffding"))
    table = _table(cells)
    index, labels = joint.codes("workloads", workloads, len(table))
    if not labels:
        raise InputError("cells is empty: give at least one source")
    share = _weights(weights, labels)
    whole = ~np.isnan(table).any(axis=1)
    d = np.where(whole, table @ _SIGNS, 0.0)
    planned = np.bincount(index, minlength=len(labels))
    complete = np.bincount(index[whole], minlength=len(labels))
    groups = [np.rint(d[whole & (index == s)]).astype(np.int64) for s in range(len(labels))]
    common = _Planned(
        bounds=_bounds(table, index, share, planned),
        by_workload=Table({k: float(g.mean()) if len(g) else None for k, g in zip(labels, groups, strict=True)}),
        complete=Table(dict(zip(labels, complete.tolist(), strict=True))),
        planned=Table(dict(zip(labels, planned.tolist(), strict=True))),
        counts=Table(
            {
                k: Table({int(v): int(c) for v, c in zip(*np.unique(g, return_counts=True), strict=True)})
                for k, g in zip(labels, groups, strict=True)
            }
        ),
    )
    if (complete == 0).any():
        gone = labels[int(np.argmin(complete))]
        return Interaction(
            estimate=None,
            low=None,
            high=None,
            confidence=chosen.confidence,
            method=chosen.method,
            note=f"undefined (workload {gone!r} has no complete source)",
            **common,
        )
    theta = float(sum(w * g.mean() for w, g in zip(share, groups, strict=True)))
    fixed = all(len(set(g.tolist())) == 1 for g in groups)
    if chosen.method == "hoeffding" or (chosen.method == "auto" and fixed):
        return _hoeffding(theta, share, complete, chosen, fixed, common)
    if chosen.method != "multinomial":
        law = _law(groups, share)
        if law is not None:
            return _exact(theta, *law, chosen, fixed, common)
        if chosen.method == "exact":
            raise InputError(f"method='exact': the law has more than {_ATOMS} values; draw instead, with method='multinomial'")
    return _drawn(theta, groups, share, chosen, common)


def _exact(theta: float, values: NUMBERS, mass: NUMBERS, chosen: Options, fixed: bool, common: _Planned) -> Interaction:
    far = np.abs(values - theta) >= abs(theta) - 1e-12
    low, high = exact.quantiles(values, chosen.levels, mass).tolist()
    mean = float(mass @ values)
    return Interaction(
        estimate=theta,
        low=low,
        high=high,
        confidence=chosen.confidence,
        method="exact",
        degenerate=fixed,
        standard_error=0.0 if fixed else math.sqrt(float(mass @ (values - mean) ** 2)),
        p=min(1.0, float(mass[far].sum())),
        note="every draw gives the estimate" if fixed else "",
        **common,
    )


def _drawn(theta: float, groups: list[NUMBERS], share: NUMBERS, chosen: Options, common: _Planned) -> Interaction:
    strata = joint.Strata(
        np.repeat(np.arange(len(groups)), [len(g) for g in groups]), np.array([len(g) for g in groups]), tuple(range(len(groups)))
    )
    d = np.concatenate(groups)
    sampler = resample.CellSampler(joint.ratio_cells(d, np.ones(len(d), np.int64), strata), x_scale=share / strata.sizes, limit=math.inf)
    (values,) = _draws.run(lambda **part: sampler.draw(**part)[:1], sampler.ns_per_draw, chosen)
    extreme = int(np.count_nonzero(np.abs(values - theta) >= abs(theta) - 1e-12))
    base = _draws.interval(values, theta, chosen, sampler.method, reason="")
    return Interaction(**{f.name: getattr(base, f.name) for f in fields(Interval)}, p=(1 + extreme) / (1 + chosen.draws), **common)


def _hoeffding(theta: float, share: NUMBERS, complete: NUMBERS, chosen: Options, fixed: bool, common: _Planned) -> Interaction:
    s = float((share**2 / complete).sum())
    half = math.sqrt(8 * s * math.log(2 / (1 - chosen.confidence)))
    low, high = max(-MOST, theta - half), min(MOST, theta + half)
    notes = ["every complete source of a workload has the same D: the bootstrap has no width"] if fixed else []
    notes += [TOO_FEW] if (low, high) == (-MOST, MOST) else []
    return Interaction(
        estimate=theta,
        low=low,
        high=high,
        confidence=chosen.confidence,
        method="hoeffding",
        degenerate=fixed,
        p=min(1.0, 2 * math.exp(-(theta**2) / (8 * s))),
        note="; ".join(notes),
        **common,
    )


def _law(groups: list[NUMBERS], share: NUMBERS) -> tuple[NUMBERS, NUMBERS] | None:
    """Values and probabilities of theta*, by direct convolution: small tails keep their relative accuracy."""
    scale = [w / len(g) for w, g in zip(share, groups, strict=True)]
    if len({*scale}) == 1:
        sizes = np.array([len(g) for g in groups])
        strata = joint.Strata(np.repeat(np.arange(len(groups)), sizes), sizes, tuple(range(len(groups))))
        d = np.concatenate(groups)
        low, mass = exact.exact_sum(joint.ratio_cells(d, np.ones_like(d), strata))
        return (low + np.arange(len(mass))) * scale[0], mass
    values, mass = np.zeros(1), np.ones(1)
    for g, unit in zip(groups, scale, strict=True):
        low, own = exact.exact_sum(joint.ratio_cells(g, np.ones_like(g), joint.strata_of(None, len(g))))
        if len(values) * len(own) > _ATOMS:
            return None
        values = np.add.outer(values, (low + np.arange(len(own))) * unit).ravel()
        mass = np.multiply.outer(mass, own).ravel()
    return values, mass


def _bounds(table: NUMBERS, index: NUMBERS, share: NUMBERS, planned: NUMBERS) -> Bounds:
    missing = np.isnan(table)
    least = np.where(missing, np.minimum(_SIGNS, 0.0), table * _SIGNS).sum(axis=1)
    most = np.where(missing, np.maximum(_SIGNS, 0.0), table * _SIGNS).sum(axis=1)
    per_source = (share / planned)[index]
    return Bounds(float(per_source @ least), float(per_source @ most))


def _weights(weights: Mapping[Hashable, float] | None, labels: Sequence[Hashable]) -> NDArray[np.float64]:
    if weights is None:
        return np.full(len(labels), 1 / len(labels))
    if set(weights) != set(labels):
        raise InputError(f"weights are for {sorted(map(str, weights))}, workloads are {sorted(map(str, labels))}: give one weight each")
    w: FLOAT = joint.numbers("weights", [float(weights[label]) for label in labels])
    if w.min() <= 0:
        raise InputError("weights: give numbers above 0")
    share: FLOAT = w / w.sum()
    return share


def _table(cells: Mapping[str, ArrayLike] | ArrayLike) -> NDArray[np.float64]:
    """[n, 4], NaN where a label is missing."""
    if isinstance(cells, Mapping):
        if set(cells) != set(CELLS):
            raise InputError(f"cells are {sorted(map(str, cells))}: give {', '.join(CELLS)}")
        columns = [np.asarray(cells[name], dtype=object) for name in CELLS]
        joint.same_length(**dict(zip(CELLS, columns, strict=True)))
        raw = np.stack(columns, axis=1) if len(columns[0]) else np.zeros((0, 4), object)
    else:
        raw = np.asarray(cells, dtype=object)
    if raw.ndim != 2 or raw.shape[1] != 4:
        raise InputError(f"cells: shape {raw.shape} instead of [n, 4]")
    try:
        table = np.array([[math.nan if v is None else float(v) for v in row] for row in raw.tolist()]).reshape(-1, 4)
    except (TypeError, ValueError) as error:
        raise InputError(f"cells: {error}; give 1, 0, or None where a label is missing") from error
    bad = ~(np.isnan(table) | (table == 0) | (table == 1))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InputError(f"cells[{i}, {j}] = {table[i, j]} is neither 0 nor 1 nor missing")
    return table
