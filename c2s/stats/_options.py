"""What every bootstrap takes, checked once."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from c2s.errors import InputError, nearest
from c2s.kernels.joint import FLOAT

Progress = Callable[[int, int], None]
"""Called with (draws done, draws planned), from the calling thread, after each batch."""

METHODS = ("auto", "exact", "multinomial", "items")


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a bootstrap, checked."""

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


class Settings(TypedDict, total=False):
    """The keyword settings of every bootstrap."""

    draws: int
    """Draws of the drawing methods, exactly so many; 99,999 by default."""
    seed: int
    """0 to 2**64 - 1."""
    method: str
    """auto, exact, multinomial or items; not every statistic offers all."""
    confidence: float
    """Nominal, 0.95 by default."""
    threads: int | None
    """None: as many as this process may use. No result depends on it."""
    progress: Progress | None
    withhold_above: float
    """No interval where more than this share of the draws is undefined; 0.5 by default."""


def options(settings: Settings, methods: tuple[str, ...] = METHODS) -> Options:
    """Checked settings; `methods` are those that the statistic offers."""
    known = list(Settings.__annotations__)
    for name in settings:
        if name not in known:
            raise TypeError(f"unknown setting {name!r}{nearest(name, known)}; the settings are {', '.join(known)}")
    method, share, threads = settings.get("method", "auto"), settings.get("withhold_above", 0.5), settings.get("threads")
    if method not in methods:
        raise InputError(f"method = {method!r}: give one of {', '.join(methods)}{nearest(str(method), list(methods))}")
    if not 0 <= share <= 1:
        raise InputError(f"withhold_above = {share!r}: give a share of the draws, 0 to 1")
    return Options(
        draws=check_int("draws", settings.get("draws", 99_999), 1, 2**40),
        seed=check_int("seed", settings.get("seed", 0), 0, 2**64),
        method=method,
        confidence=check_confidence(settings.get("confidence", 0.95)),
        threads=usable_cpus() if threads is None else check_int("threads", threads, 1, 1025),
        progress=settings.get("progress"),
        withhold_above=float(share),
    )


def usable_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
