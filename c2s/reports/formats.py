"""How a value is written: the only place where reports, pages, the command line and the terminal UI turn numbers into text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

UNDEFINED = "-"


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal, without the sign."""
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def points(value: float | None) -> str:
    """A difference of shares in percentage points, with its sign; 0.0 where it would round to it."""
    if value is None:
        return UNDEFINED
    return f"{100 * value + 0.0:+.1f}" if abs(value) >= 5e-4 else "0.0"


def probability(p: float | None) -> str:
    """A p-value: four decimals, or two digits and an exponent below 0.0001."""
    if p is None:
        return UNDEFINED
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def counted(n: int, noun: str) -> str:
    """`1 pair`, `2 pairs`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def interval(limits: Sequence[float] | None, form: str) -> str:
    """`[low, high]` in a number format; `[-]` where there is none."""
    return "[-]" if limits is None else f"[{', '.join(written(limit, form) for limit in limits)}]"


FORMS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "cell": str,
    "int": str,
    "rate": percent,
    "points": points,
    "number": lambda value: f"{value:.3f}",
    "p": probability,
    "of": lambda value: f"{value[0]}/{value[1]}",
    "usd": lambda value: f"{value:.4f}",
    "seconds": lambda value: f"{value:.2f}",
    "time": lambda value: time.strftime("%m-%d %H:%M:%S", time.gmtime(value)),
    "slashes": lambda value: "/".join(map(str, value)),
    "list": lambda value: ", ".join(map(str, value)),
}
"""Number formats by name. `cell` is text that is aligned like a number, `of` a pair [k, n], `slashes` a list of
counts, `time` an instant in UTC."""

UNITS = {"rate": "%", "points": "percentage points", "usd": "USD", "seconds": "s", "time": "s since the epoch"}
"""Units of the formats that have one."""


def written(value: Any, form: str) -> str:
    """A value in a format of `FORMS`; None is shown as undefined."""
    return UNDEFINED if value is None else FORMS[form](value)
