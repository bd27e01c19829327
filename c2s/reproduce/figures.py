"""What a recomputed figure of the paper is: as printed, as recomputed, and whether the two agree."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Verdict = Literal["agrees", "differs", "not printed", "not recomputable"]


@dataclass(frozen=True, slots=True)
class Figure:
    """`printed` and `recomputed` as text with the printed number of decimals; `note` says how, or why not."""

    where: str
    what: str
    printed: str
    recomputed: str
    verdict: Verdict
    note: str = ""


@cache
def tables() -> dict[str, Any]:
    """The printed counts and figures, by table (`published.toml`)."""
    return tomllib.loads(resources.files(__package__).joinpath("published.toml").read_text())


def percent(share: float | None) -> float:
    """A share in percent. Raises ValueError for an undefined one: the printed tables have none."""
    if share is None:
        raise ValueError("an undefined share has no percentage")
    return 100 * share


def compare(where: str, what: str, printed: float, value: float | None, decimals: int = 1, note: str = "") -> Figure:
    """A printed number beside the recomputed `value`: they agree if both round to the same `decimals` decimals."""
    as_printed, recomputed = f"{printed:.{decimals}f}", "-" if value is None else f"{value + 0.0:.{decimals}f}"
    # A value that lies exactly between two roundings may be printed as either.
    tie = value is not None and abs(abs(value - printed) - 0.5 * 10**-decimals) < 1e-9
    same = as_printed == recomputed or (value == 0 and printed == 0) or tie
    return Figure(where, what, as_printed, recomputed, "agrees" if same else "differs", note)
