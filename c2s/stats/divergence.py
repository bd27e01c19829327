"""Distances between distributions over the same options (A.6)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import joint
from c2s.kernels.joint import FLOAT, NUMBERS


def total_variation(p: ArrayLike, q: ArrayLike, *, normalize: bool = True) -> float | NDArray[np.float64]:
    """Half the summed absolute difference, 0 to 1. `p`, `q`: masses [k], or [n, k] for n values.

    With `normalize` each distribution is divided by its own mass first; without, raw masses are compared as they are.
    InputError for negative or nonfinite masses, or for no mass to normalise.
    """
    a, b, single = _pair(p, q, normalize)
    return _result(0.5 * np.abs(a - b).sum(axis=-1), single)


def js_divergence(p: ArrayLike, q: ArrayLike, *, normalize: bool = True, base: float = 2.0) -> float | NDArray[np.float64]:
    """Jensen-Shannon divergence (not its square root) in bits by default: 0 for equal, 1 for disjoint distributions.

    Arguments as for `total_variation`; `base` math.e gives nats.
    """
    if not base > 1:
        raise InputError(f"base = {base!r}: give a number above 1")
    a, b, single = _pair(p, q, normalize)
    middle = 0.5 * (a + b)
    sums = 0.5 * (_relative(a, middle) + _relative(b, middle))
    return _result(np.maximum(sums, 0.0) / math.log(base), single)


def _relative(a: NUMBERS, b: NUMBERS) -> NUMBERS:
    ratio = np.divide(a, b, out=np.ones_like(a), where=a > 0)
    divergence: FLOAT = (a * np.log(ratio)).sum(axis=-1)
    return divergence


def _pair(p: ArrayLike, q: ArrayLike, normalize: bool) -> tuple[NUMBERS, NUMBERS, bool]:
    single = np.ndim(p) == 1
    a, b = (_masses(name, v, single, normalize) for name, v in (("p", p), ("q", q)))
    if a.shape != b.shape:
        raise InputError(f"p has shape {np.shape(p)} and q has {np.shape(q)}: give masses over the same options")
    return a, b, single


def _masses(name: str, values: ArrayLike, single: bool, normalize: bool) -> NDArray[np.float64]:
    array = np.atleast_2d(joint.numbers(name, values, 1 if single else 2).astype(np.float64))
    if array.size and array.min() < 0:
        raise InputError(f"{name}: a mass of {array.min()} is below 0")
    if not normalize:
        return array
    mass = array.sum(axis=1, keepdims=True)
    if (mass == 0).any():
        raise InputError(f"{name}: row {int(np.argmin(mass))} holds no mass to normalise; leave it out or pass normalize=False")
    shares: FLOAT = array / mass
    return shares


def _result(values: NUMBERS, single: bool) -> float | NDArray[np.float64]:
    return float(values[0]) if single else values
