"""Two sides of a comparison: the same items under two runs, or under two pairs of arms of one run."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from c2s import records
from c2s.errors import InputError, LedgerError
from c2s.ledger import sqlite
from c2s.ledger.pairs import Pair, matched
from c2s.ledger.ranges import IdRanges
from c2s_tui.data import apart
from c2s_tui.data.filters import panels_of
from c2s_tui.data.items import ItemRow, item_rows
from c2s_tui.data.joint import CONFIDENCE
from c2s_tui.data.plan import Plan
from c2s_tui.data.source import Source

CELLS = records.TRANSITIONS[:4]
"""The transitions that make the 4 x 4 matrix; the other two drop as pairs."""


DRAWN_ITEMS = 200_000_000
"""Items times draws of one interval: about a second. Only runs of more than 2,000 items get fewer than 99,999 draws."""


@dataclass(frozen=True, slots=True)
class SideSpec:
    """What one side shows: a run, and the two arms of it that make a transition."""

    source: Source
    plan: Plan
    pair: Pair

    def same_run(self, other: SideSpec) -> bool:
        return self.source.path == other.source.path


@dataclass(frozen=True, slots=True)
class Change:
    """Exact McNemar on one arm's correctness: right on one side only. `p` is None without a pair."""

    left_only: int
    right_only: int
    p: float | None


@dataclass(frozen=True, slots=True)
class Tests:
    """What changed among the items of a domain (None: all of them) that both sides define.

    `first` and `second` test the two arms; `difference` is left SCR minus right SCR with its interval, None where a side has no
    success of its first arm; `method` names the interval or says why there is none.
    """

    domain: str | None
    n: int
    changed: int
    first: Change
    second: Change
    scr: tuple[float | None, float | None]
    difference: float | None
    low: float | None
    high: float | None
    method: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left` and `right` are parent ids in either ledger, item by item, changed ones first, in plan order otherwise.

    `codes`: 4 * left cell + right cell for an item with both transitions, -1 for one without. `missing`: parents that one side
    lacks; `differing`: those whose frozen item is another one, left out. `tests`: all items first, then each domain. `whole`: a side
    compares whole trajectories.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    codes: NDArray[np.int8]
    missing: int
    differing: int
    tests: tuple[Tests, ...]
    whole: bool = False

    def matrix(self) -> NDArray[np.int64]:
        """[4, 4]: left transition by right transition, in the order of CELLS."""
        return np.bincount(self.codes[self.codes >= 0], minlength=16).reshape(4, 4)

    @property
    def dropped(self) -> int:
        return int((self.codes < 0).sum())

    def behind(self, cell: tuple[int, int] | None) -> NDArray[np.int64]:
        """Positions of the items behind a cell; all of them for None."""
        return np.arange(len(self.codes)) if cell is None else np.flatnonzero(self.codes == 4 * cell[0] + cell[1])


def compare(left: SideSpec, right: SideSpec, domain: str | None = None) -> Comparison:
    """Join two sides on (panel, parent) and the frozen item. Raises LedgerError where they share nothing."""
    parts: list[NDArray[np.int64]] = []
    strata: dict[tuple[str, int], int] = {}
    panels = [name for name in panels_of(left.pair, left.plan) if name in panels_of(right.pair, right.plan)]
    other = not left.same_run(right)
    with left.source.read() as db:
        if other:
            sqlite.attach(db, right.source.run.ledger_path)
        for low, high in IdRanges(left.plan.last).timed():
            rows = matched(db, left.pair, right.pair, other=other, panels=panels, domain=domain, low=low, high=high)
            if rows:
                numbered = [(*row[:4], strata.setdefault((row.domain, row.length), len(strata)), row.same) for row in rows]
                parts.append(np.array(numbered, dtype=np.int64))
    table = np.concatenate(parts) if parts else np.empty((0, 6), np.int64)
    same = table[:, 5] == 1
    if not same.any():
        raise LedgerError(f"{left.source.path} and {right.source.path} have no item in common; nothing to compare")
    missing = sum(_parents(side.plan, domain, panels) for side in (left, right)) - 2 * len(table)
    return replace(_result(table[same], missing, int((~same).sum()), strata), whole=any(name in left.plan.whole for name in panels))


def _parents(plan: Plan, domain: str | None, panels: Sequence[str]) -> int:
    return sum(n for (panel, d, _), n in plan.parents.items() if panel in panels and domain in (None, d))


def _result(table: NDArray[np.int64], missing: int, differing: int, strata: dict[tuple[str, int], int]) -> Comparison:
    """`table`: left id, right id, left cell, right cell, stratum, 1; one row an item."""
    a, b = table[:, 2], table[:, 3]
    defined = (a >= 0) & (b >= 0)
    codes = np.where(defined, 4 * a + b, -1).astype(np.int8)
    order = np.lexsort((np.arange(len(table)), ~defined, ~(defined & (a != b))))
    domains = sorted({domain for domain, _ in strata}, reverse=True)
    tests = []
    for domain in [None, *domains] if len(domains) > 1 else domains:
        own = [n for (name, _), n in strata.items() if domain in (None, name)]
        rows = defined & np.isin(table[:, 4], own)
        tests.append(_tests(domain, a[rows], b[rows], table[rows, 4]))
    return Comparison(table[order, 0], table[order, 1], codes[order], missing, differing, tuple(tests))


def _tests(domain: str | None, a: np.ndarray, b: np.ndarray, strata: np.ndarray) -> Tests:
    from c2s import stats

    first, second = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    left, right = stats.joint_counts(first[a], second[a]), stats.joint_counts(first[b], second[b])
    difference = low = high = None
    if left.scr is None or right.scr is None:
        method = "a side has no success of its first arm"
    else:
        difference = left.scr - right.scr
        low, high, method = _interval(first[a], second[a], first[b], second[b], strata)
    one, other = (_change(arm[a], arm[b]) for arm in (first, second))
    return Tests(domain, len(a), int((a != b).sum()), one, other, (left.scr, right.scr), difference, low, high, method)


def _interval(*arrays: np.ndarray) -> tuple[float | None, float | None, str]:
    try:
        draws = min(99_999, max(1_999, DRAWN_ITEMS // max(1, len(arrays[0]))))
        found = apart.interval("bootstrap_scr_difference", *arrays, confidence=CONFIDENCE, draws=draws)
    except InputError as error:
        return None, None, str(error)
    if found.low is not None and found.low == found.high:
        return None, None, "no variation to resample (for instance one parent per length)"
    return found.low, found.high, f"{found.draws:,} bootstrap draws, items redrawn within length"


def _change(left: np.ndarray, right: np.ndarray) -> Change:
    from c2s import stats

    b, c = int((left & ~right).sum()), int((~left & right).sum())
    return Change(b, c, float(stats.mcnemar_exact(b, c)) if len(left) else None)


def compared_rows(left: SideSpec, right: SideSpec, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], tuple[ItemRow, ItemRow]]:
    """The rows of these items on both sides, a page at a time."""

    def rows(db: sqlite3.Connection, side: SideSpec, which: int) -> dict[int, ItemRow]:
        return item_rows(db, side.pair, [pair[which] for pair in pairs])

    with left.source.read() as db:
        a = rows(db, left, 0)
        b = rows(db, right, 1) if left.same_run(right) else None
    if b is None:
        with right.source.read() as db:
            b = rows(db, right, 1)
    return {(x, y): (a[x], b[y]) for x, y in pairs if x in a and y in b}
