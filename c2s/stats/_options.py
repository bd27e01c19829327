"""What every bootstrap takes, checked once."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from c2s.errors import InputError, nearest
from c2s.kernels.joint import FLOAT

Progress = Callable[[int, int], None]
"""Called with (draws done, draws planned), from the calling thread, after each batch."""

METHODS = ("auto", "exact", "multinomial", "items")


@dataclass(frozen=True, slots=True)
class Options:
    draws: int
    seed: int
    method: str
    confidence: float
    threads: int
    progress: Progress | None
    withhold_above: float

    @property
    def levels(self) -> FLOAT:
        """Lower and upper tail, as levels of the inverse CDF."""
        tail = (1 - self.confidence) / 2
        return np.array([tail, 1 - tail])


def check_confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise InputError(f"confidence = {confidence!r}: give a number between 0 and 1, such as 0.95")
    return float(confidence)


def check_int(name: str, value: int, low: int, high: int) -> int:
    try:
        number = operator.index(value)
    except TypeError as error:
        raise InputError(f"{name} = {value!r}: give an integer") from error
    if not low <= number < high:
        raise InputError(f"{name} = {number}: give an integer from {low} to {high - 1}")
    return number


def options(
    *,
    draws: int = 99_999,
    seed: int = 0,
    method: str = "auto",
    confidence: float = 0.95,
    threads: int | None = None,
    progress: Progress | None = None,
    withhold_above: float = 0.5,
    methods: tuple[str, ...] = METHODS,
) -> Options:
    """Checked options. `threads` None: as many as this process may use. `methods`: those that the statistic offers."""
    if method not in methods:
        raise InputError(f"method = {method!r}: give one of {', '.join(methods)}{nearest(str(method), list(methods))}")
    if not 0 <= withhold_above <= 1:
        raise InputError(f"withhold_above = {withhold_above!r}: give a share of the draws, 0 to 1")
    return Options(
        draws=check_int("draws", draws, 1, 2**40),
        seed=check_int("seed", seed, 0, 2**64),
        method=method,
        confidence=check_confidence(confidence),
        threads=usable_cpus() if threads is None else check_int("threads", threads, 1, 1025),
        progress=progress,
        withhold_above=float(withhold_above),
    )


def usable_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
