"""Exploratory GEE: odds of a right character under conditions, clustered by item (Liang and Zeger 1986; Choice2Seq, section 3.4, A.6).

statsmodels fits. A fit that has not converged, whose estimates are not finite, or whose data are separated is not used for
inference: it has a reason and no numbers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

INSTALL = "statsmodels is not installed; the extra `gee` of c2s brings it"


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsRatio:
    """Odds of success under `condition` over those under the reference, with a robust 95 % Wald interval.

    All numbers are None where the fit is not used; `note` says why. `correlation` is the exchangeable working correlation of an item's
    rows.
    """

    condition: str
    reference: str
    clusters: int
    rows: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    correlation: float | None = None
    note: str | None = None


def gee_odds_ratio(outcomes: Sequence[bool], conditions: Sequence[str], clusters: Sequence[Hashable], *, reference: str) -> OddsRatio:
    """Binomial GEE with a logit link and exchangeable working correlation: one row an observation, two conditions.

    Raises ValueError unless the three sequences are equally long and hold the reference and one other condition.
    """
    if not len(outcomes) == len(conditions) == len(clusters):
        raise ValueError("outcomes, conditions and clusters must have one entry a row")
    others = sorted(set(conditions) - {reference})
    if len(others) != 1 or reference not in conditions:
        raise ValueError(f"expected the reference {reference!r} and one other condition, got {sorted(set(conditions))}")
    y, treated = np.asarray(outcomes, float), np.asarray([c == others[0] for c in conditions], float)
    unused = OddsRatio(condition=others[0], reference=reference, clusters=len(set(clusters)), rows=len(y))
    for name, cell in ((reference, y[treated == 0]), (others[0], y[treated == 1])):
        if cell.min() == cell.max():
            return replace(unused, note=f"separated: {name} is right in {'all' if cell.max() else 'none'} of its {len(cell)} rows")
    try:
        from statsmodels.genmod.cov_struct import Exchangeable
        from statsmodels.genmod.families import Binomial
        from statsmodels.genmod.generalized_estimating_equations import GEE
    except ImportError:
        return replace(unused, note=INSTALL)
    order = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    groups = np.asarray([order[c] for c in clusters])
    design = np.column_stack([np.ones_like(treated), treated])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what it warns about is checked below
        try:
            fit = GEE(y, design, groups=groups, family=Binomial(), cov_struct=Exchangeable()).fit()
            slope, error, p = float(fit.params[1]), float(fit.bse[1]), float(fit.pvalues[1])
            converged, correlation = bool(fit.converged), float(fit.cov_struct.dep_params)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error_:
            return replace(unused, note=f"the fit failed: {error_}")
    if not converged:
        return replace(unused, note="the fit did not converge")
    if not all(map(math.isfinite, (slope, error, p))) or error == 0 or abs(slope) > 30:
        return replace(unused, note="the estimates are not finite")
    low, high = (math.exp(slope + sign * 1.959963984540054 * error) for sign in (-1, 1))
    return replace(unused, estimate=math.exp(slope), low=low, high=high, p=p, correlation=correlation)
