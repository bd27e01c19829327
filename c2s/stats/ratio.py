"""Bootstrap intervals of a stratified ratio whose denominator is redrawn with its numerator: SCR and its kin."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from numpy.typing import ArrayLike

from c2s.errors import InputError
from c2s.kernels import exact, joint
from c2s.stats._options import Options, options
from c2s.stats.proportion import clopper_pearson
from c2s.stats.results import Interval

_METHODS = ("auto", "exact")


def bootstrap_scr(
    native: ArrayLike,
    serial: ArrayLike,
    strata: ArrayLike | Sequence[Hashable] | None = None,
    *,
    method: str = "auto",
    confidence: float = 0.95,
) -> Interval:
    """SCR, the share of Native-correct items that Serial keeps, with its bootstrap interval (paper 3.1, 3.4, A.6).

    `native`, `serial`: zeros and ones of shape [n]. `strata`: n labels; items are redrawn within a stratum and the Native
    denominator is redrawn with them. `method="exact"` is the bootstrap with infinitely many draws: no seed, no Monte
    Carlo error; InputError if the case is too large. With 0 or all successes the interval is degenerate and carries the Clopper-Pearson interval.
    """
    chosen = options(method=method, confidence=confidence, methods=_METHODS)
    a, b = joint.flags("native", native), joint.flags("serial", serial)
    n = joint.same_length(native=a, serial=b)
    both = a & b
    return _count_ratio(both, a, joint.strata_of(strata, n), chosen, "no Native success")


def _count_ratio(both, base, strata: joint.Strata, chosen: Options, empty: str) -> Interval:
    cells = joint.joint_cells(both, base, strata)
    part, whole = int(cells.count @ cells.x), int(cells.count @ cells.d)
    if whole == 0:
        return Interval(
            estimate=None, low=None, high=None, confidence=chosen.confidence, method="exact", undefined=1.0, note=empty
        )
    law = exact.exact_ratio(cells, chosen.levels)
    if isinstance(law, float):
        raise InputError(
            f"method={chosen.method!r}: the law needs {law:.3g} grid points, more than {exact.GRID_LIMIT}: "
            "draw instead, with method='multinomial'"
        )
    boundary = clopper_pearson(part, whole, chosen.confidence) if part in (0, whole) else None
    withheld = law.undefined > chosen.withhold_above
    notes = []
    if boundary is not None:
        notes.append(f"{part}/{whole}: every draw gives the estimate, see clopper_pearson")
    if law.undefined > 0:
        notes.append(f"{law.undefined:.3g} of the draws have no denominator" + (", interval withheld" if withheld else ""))
    return Interval(
        estimate=part / whole,
        low=None if withheld else float(law.quantiles[0]),
        high=None if withheld else float(law.quantiles[1]),
        confidence=chosen.confidence,
        method="exact",
        undefined=law.undefined,
        degenerate=boundary is not None,
        note="; ".join(notes),
        standard_error=law.sd,
        clopper_pearson=boundary,
    )
