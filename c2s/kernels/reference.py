"""Slow plain-Python twins of the kernels, written to be obviously right. Tests assert that each kernel equals its twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c2s.kernels.carry import CarryCounts, CarryTrace
from c2s.kernels.geometry import CARTESIAN_LIMIT, Geometry


def carry_trace(a: int, b: int) -> CarryTrace:
    """Twin of `c2s.kernels.carry.carry_trace`, on decimal strings."""
    top, bottom = max(a, b), min(a, b)
    top_digits = [int(d) for d in reversed(str(top))]
    bottom_digits = [int(d) for d in reversed(str(bottom))]
    rows, shifted = [], []
    for r, factor in enumerate(bottom_digits):
        carry, carries, digits = 0, [], [0] * r
        for digit in top_digits:
            carry, unit = divmod(digit * factor + carry, 10)
            carries.append(carry)
            digits.append(unit)
        rows.append(carries)
        shifted.append([*digits, carry] if carry else digits)
    summation: list[int] = []
    product = shifted[0]
    if len(rows) > 1:
        product, carry = [], 0
        for column in range(max(map(len, shifted))):
            total = carry + sum(row[column] for row in shifted if column < len(row))
            carry, unit = divmod(total, 10)
            summation.append(carry)
            product.append(unit)
        if carry:
            product.append(carry)
    multiplication = sum(c > 0 for row in rows for c in row)
    addition = sum(c > 0 for c in summation)
    runs = [len(run) for row in [*rows, summation] for run in "".join("x" if c else " " for c in row).split()]
    return CarryTrace(
        top=top,
        bottom=bottom,
        product=int("".join(str(d) for d in reversed(product))),
        rows=rows,
        summation=summation,
        multiplication_carries=multiplication,
        addition_carries=addition,
        carries=multiplication + addition,
        chain=max(runs, default=0),
        elementary=len(top_digits) * len(bottom_digits),
        digits=len(product),
    )


def carry_counts(a: NDArray[np.integer], b: NDArray[np.integer]) -> CarryCounts:
    """Twin of `c2s.kernels.carry.carry_counts`, pair by pair."""
    traces = [carry_trace(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    names = ("multiplication_carries", "addition_carries", "carries", "chain", "elementary", "digits")
    return CarryCounts(**{name: np.array([getattr(t, name) for t in traces], dtype=np.int32) for name in names})


def candidate_geometry(candidates: NDArray[np.integer], gold: NDArray[np.integer]) -> Geometry:
    """Twin of `c2s.kernels.geometry.candidate_geometry`, set by set."""
    rows = [_set_geometry([bytes(c) for c in s.astype(np.uint8)], int(g)) for s, g in zip(candidates, gold, strict=True)]
    _, _, length = np.shape(candidates)
    n = len(rows)
    shapes = {
        "k": ((n, length + 1), np.int32),
        "entropy": ((n, length + 1), np.float64),
        "first_unique": ((n,), np.int32),
        "mean_entropy": ((n,), np.float64),
        "branch_entropy": ((n, length), np.float64),
        "union_size": ((n, length), np.int32),
        "forced": ((n, length), np.bool_),
        "cartesian": ((n,), np.uint64),
    }
    return Geometry(**{name: np.array([row[name] for row in rows], dtype=dtype).reshape(shape) for name, (shape, dtype) in shapes.items()})


def _set_geometry(candidates: list[bytes], gold: int) -> dict[str, Any]:
    answer = candidates[gold]
    length = len(answer)
    agreeing = [[c for c in candidates if c[:k] == answer[:k]] for k in range(length + 1)]
    k = [len(group) for group in agreeing]
    unions = [len({c[j] for c in candidates}) for j in range(length)]
    branches = [Counter(c[j] for c in agreeing[j]).values() for j in range(length)]
    return {
        "k": k,
        "entropy": [log2(count) for count in k],
        "first_unique": k.index(1) if 1 in k else -1,
        "mean_entropy": fsum(log2(count) for count in k[:length]) / length,
        "branch_entropy": [fsum(-b / k[j] * log2(b / k[j]) for b in branches[j]) for j in range(length)],
        "union_size": unions,
        "forced": [size == 1 for size in unions],
        "cartesian": min(prod(unions), CARTESIAN_LIMIT),
    }


def support(candidates: Sequence[str], prefix: str, kind: str, alphabet: str) -> tuple[bool, ...]:
    """Twin of `c2s.kernels.support.support`: the three sets of Algorithm 1, written out."""
    position = len(prefix)
    offered = {
        "full": set(alphabet),
        "union": {a[position] for a in candidates},
        "trie": {a[position] for a in candidates if a[:position] == prefix},
    }[kind]
    return tuple(letter in offered for letter in alphabet)


def support_masks(candidates: Sequence[Sequence[str]], prefixes: Sequence[str], kind: str, alphabet: str) -> NDArray[np.bool_]:
    """Twin of `c2s.kernels.support.support_masks`, one candidate set of strings for each prefix."""
    rows = [support(c, prefix, kind, alphabet) for c, prefix in zip(candidates, prefixes, strict=True)]
    return np.array(rows, dtype=np.bool_).reshape(len(rows), len(alphabet))
