"""What is kept of an item beside its text: carries and candidate geometry (paper A.2, Table D7; protocol 1.1, 1.3), as plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from c2s.errors import BankError
from c2s.kernels.carry import CarryTrace, carry_trace
from c2s.kernels.geometry import Geometry, candidate_geometry, encode_candidates


def arithmetic_facts(a: int, b: int, kernel: Callable[[int, int], CarryTrace] = carry_trace) -> dict[str, Any]:
    """Everything kept of a multiplication (paper A.2).

    Carries run from the least significant column. `kernel` may be the slow twin, for checking.
    """
    trace = kernel(a, b)
    if trace.product != a * b:
        raise BankError(f"the carry simulator makes {trace.product} of {a} x {b}, which is {a * b}: report this")
    digits = f"{a}{b}"
    return {
        "a": a,
        "b": b,
        "operand_lengths": [len(str(a)), len(str(b))],
        "elementary": trace.elementary,
        "carries": trace.carries,
        "multiplication_carries": trace.multiplication_carries,
        "addition_carries": trace.addition_carries,
        "chain": trace.chain,
        "rows": trace.rows,
        "summation": trace.summation,
        "zeros": digits.count("0"),
        "repeated_digits": len(digits) - len(set(digits)),
    }


def geometry_facts(candidates: Sequence[str], target: str, kernel: Callable[..., Geometry] = candidate_geometry) -> dict[str, Any]:
    """Geometry of one candidate set (paper A.2, Table D7). Positions count from 1. `kernel` may be the slow twin, for checking."""
    geometry = kernel(encode_candidates([candidates]), np.array([list(candidates).index(target)]))
    return {
        "k": geometry.k[0].tolist(),
        "entropy": geometry.entropy[0].tolist(),
        "first_unique": int(geometry.first_unique[0]),
        "mean_entropy": float(geometry.mean_entropy[0]),
        "branch_entropy": geometry.branch_entropy[0].tolist(),
        "unions": ["".join(sorted(set(column))) for column in zip(*candidates, strict=True)],
        "forced": [int(i) + 1 for i in geometry.forced[0].nonzero()[0]],
        "cartesian": int(geometry.cartesian[0]),
    }
