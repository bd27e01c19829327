"""Letters against digits on the same sources (B.4, Figure 5a): operations averaged within base."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, strata_of
from c2s.reports.section import TEST_OF, Column, Section


def letters_minus_digits(data: PanelData, *, operations: Sequence[str]) -> Section:
    """Serial and Native EM of an encoding minus those of the digits; a base counts once, whatever its operations."""
    rows = []
    for arm in ("native", "serial"):
        for encoding in ("letters", "second"):
            arms = [[data.arm(interface=arm, operation=op, encoding=e) for op in operations] for e in (encoding, "digits")]
            found = [(row, d) for row in data.rows if (d := _difference(row, arms)) is not None]
            values, strata = np.array([d for _, d in found]), strata_of([row for row, _ in found])
            rows.append(
                {"arm": arm, "contrast": f"{encoding} - digits", "family": "letters - digits", "n": len(found)}
                | estimates.merged(estimates.mean("difference", values, strata, data.panel), estimates.sign_flip(values, data.panel))
            )
    columns = (
        Column("arm", "arm"),
        Column("contrast", "contrast"),
        Column("n", "bases", "int"),
        Column("difference", "points [95 % CI]", "ci_points"),
        *TEST_OF,
    )
    notes = ["COPY and REVERSE averaged within base; second: the mapping to etaoinshrd on twelve bases."]
    return Section("letters_minus_digits", "letters against digits", "Figure 5 a", columns, rows, notes)


def _difference(row: Row, arms: Sequence[Sequence[str]]) -> float | None:
    """Right answers of the first arms minus those of the second ones, a share of the operations."""
    own, digits = (row.all_values(names) for names in arms)
    return None if own is None or digits is None else (sum(own) - sum(digits)) / len(own)
