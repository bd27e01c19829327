"""What every endpoint estimates, as the values of a section's row: shares, SCR, differences, tests.

Intervals are bootstrap intervals over whole parents within strata, exact where that is feasible. Where there is no variation to redraw
(no success, no failure, or one parent per stratum) the bootstrap has no width, which says nothing about the uncertainty: for a ratio of
counts the Clopper-Pearson interval stands for it (paper, section 3.4), for anything else no interval does.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c2s import stats
from c2s.panels.base import Panel
from c2s.reports.formats import counted
from c2s.reports.section import NO_VARIATION
from c2s.stats.results import Interval

Values = Sequence[float | bool | int] | NDArray[Any]
Strata = Sequence[Hashable] | None


def settings(panel: Panel) -> dict[str, Any]:
    """Draws and seed as the paper states them for this panel, where anything has to be drawn."""
    return {"draws": panel.draws, "seed": panel.seed}


def put(key: str, found: Interval) -> dict[str, Any]:
    """An interval as `key`, `key_interval`, `key_method`, with the reason in `undefined` where it has none.

    Without variation to redraw `key_degenerate` is true, and the interval is Clopper-Pearson's or None (method `NO_VARIATION`).
    """
    boundary = found.clopper_pearson
    row: dict[str, Any] = {key: found.estimate, f"{key}_interval": None, f"{key}_method": None}
    if found.estimate is None:
        return row | {"undefined": {key: found.note or "no data"}}
    if boundary is not None:
        return row | _boundary(key, boundary)
    if found.degenerate or (found.low is not None and found.low == found.high):
        return row | {f"{key}_method": NO_VARIATION, f"{key}_degenerate": True}
    row |= {f"{key}_interval": None if found.low is None else [found.low, found.high], f"{key}_method": found.method}
    if found.undefined_share:
        row[f"{key}_undefined_share"] = found.undefined_share
    return row


def share(key: str, hits: Values, strata: Strata, panel: Panel) -> dict[str, Any]:
    """The share of hits with its interval, and `key_count` as [hits, of]."""
    count = {f"{key}_count": [int(sum(hits)), len(hits)]}
    if not len(hits):
        return count | {key: None, f"{key}_interval": None, f"{key}_method": None, "undefined": {key: "no parent is defined"}}
    # EM is SCR with everybody in the denominator: the exact law and the boundary case come with it.
    return count | put(key, stats.bootstrap_scr(np.ones(len(hits), bool), np.asarray(hits, bool), strata, **settings(panel)))


def _boundary(key: str, exact: Interval) -> dict[str, Any]:
    """Clopper-Pearson in place of a bootstrap without width."""
    return {f"{key}_interval": [exact.low, exact.high], f"{key}_method": "clopper-pearson", f"{key}_degenerate": True}


def retention(
    key: str, native: Values, local: Values, strata: Strata, panel: Panel, given: str = "Native", *, boundary: bool = False
) -> dict[str, Any]:
    """SCR with its interval and `key_count` as [retained, conditioning successes].

    With `boundary`, Clopper-Pearson stands for the bootstrap also where its two limits meet, and where most of its draws are undefined
    while all successes or none are retained; `key_bootstrap` then keeps the bootstrap's own limits.
    """
    a, b = np.asarray(native, bool), np.asarray(local, bool)
    retained, successes = int((a & b).sum()), int(a.sum())
    count = {f"{key}_count": [retained, successes]}
    if not successes:
        reason = f"no {given} success among {counted(len(a), 'pair')}" if len(a) else "no pair is defined"
        return count | {key: None, f"{key}_interval": None, f"{key}_method": None, "undefined": {key: reason}}
    found = stats.bootstrap_scr(a, b, strata, **settings(panel))
    row = count | put(key, found)
    if boundary and (retained in (0, successes) or (found.low is not None and found.low == found.high)):
        row |= _boundary(key, stats.clopper_pearson(retained, successes)) | {f"{key}_bootstrap": [found.low, found.high]}
        row |= {f"{key}_undefined_share": found.undefined_share} if found.undefined_share else {}
    return row


def mean(key: str, values: Values, strata: Strata, panel: Panel, **more: Any) -> dict[str, Any]:
    if not len(values):
        return {key: None, f"{key}_interval": None, f"{key}_method": None, "undefined": {key: "no parent is defined"}}
    return put(key, stats.bootstrap_mean(np.asarray(values, float), strata, **settings(panel), **more))


def difference(key: str, a: Values, b: Values, strata: Strata, panel: Panel) -> dict[str, Any]:
    """Mean of a - b over the same parents."""
    if not len(a):
        return {key: None, f"{key}_interval": None, f"{key}_method": None, "undefined": {key: "no parent is defined"}}
    first, second = (np.asarray(v, int) if np.asarray(v).dtype == bool else np.asarray(v, float) for v in (a, b))
    return put(key, stats.bootstrap_paired_difference(first, second, strata, **settings(panel)))


def joint(native: Values, local: Values, given: str = "the conditioning arm") -> dict[str, Any]:
    """`joint` as [both, lost, gained, neither] and what follows from it without resampling (section 3.1, A.1, D.16)."""
    found = stats.joint_counts(np.asarray(native, bool), np.asarray(local, bool))
    row: dict[str, Any] = {
        "joint": [found.both, found.lost, found.gained, found.neither],
        "delta": found.delta,
        "gain_rate": found.gain_rate,
        "loss_mass": found.loss_mass,
        "gain_mass": found.gain_mass,
    }
    undefined: dict[str, str] = {}
    if not found.n:
        undefined = dict.fromkeys(("delta", "gain_rate", "loss_mass", "gain_mass"), "no pair is defined")
    elif found.gain_rate is None:
        undefined = {"gain_rate": f"{given} is right on {found.n} of {counted(found.n, 'pair')}"}
    elif found.delta is None:
        undefined = {"delta": f"no success of {given} among {counted(found.n, 'pair')}"}
    return row | ({"undefined": undefined} if undefined else {})


def mcnemar(a: Values, b: Values) -> dict[str, Any]:
    """Exact McNemar of two paired flags: `p`, and `joint` as [both, lost, gained, neither], where lost is right in `b` and wrong in `a`."""
    first, second = np.asarray(a, bool), np.asarray(b, bool)
    gained, lost = int((first & ~second).sum()), int((~first & second).sum())
    row: dict[str, Any] = {"joint": [int((first & second).sum()), lost, gained, int((~first & ~second).sum())]}
    if not len(first):
        return row | {"p": None, "undefined": {"p": "no pair is defined"}}
    return row | {"p": float(stats.mcnemar_exact(gained, lost))}


def sign_flip(values: Values, panel: Panel) -> dict[str, Any]:
    """Randomisation test that paired differences have mean zero, exact on a lattice."""
    if not len(values):
        return {"p": None, "undefined": {"p": "no parent is defined"}}
    found = stats.sign_flip(np.asarray(values), seed=panel.seed)
    return {"p": found.p, "p_method": found.method}


def absent(reason: str, *keys: str) -> dict[str, Any]:
    """Values that are all undefined for the same reason."""
    return dict.fromkeys(keys) | {"undefined": dict.fromkeys(keys, reason)}


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    """One row of several parts; their `undefined` reasons come together."""
    row: dict[str, Any] = {}
    undefined: dict[str, str] = {}
    for part in parts:
        undefined |= part.get("undefined", {})
        row |= part
    return row | {"undefined": undefined} if undefined else row
