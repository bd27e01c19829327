"""Two arms of a run side by side: the transition of every parent between them, and a page of such rows.

For the panel's own pair the ledger holds the transition; for any other two arms it follows from their outcomes here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from c2s import records

PENDING = "pending"
TRANSITIONS = (*records.TRANSITIONS, PENDING)
"""Those of the ledger, and that of a parent which is still open."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The two arms that make a transition. `declared`: it is the panel's own pair, so the ledger holds the transition.

    `turned`: for either arm, the panels in which it has one instance a turn, all of which together decide.
    """

    first: str = "native"
    second: str = "serial"
    declared: bool = True
    turned: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def transition_sql(pair: Pair, p: str = "p", a: str = "a", b: str = "b") -> str:
    """The transition of parent `p`: stored for a declared pair, else from the outcomes `a` and `b` of the two arms."""
    if pair.declared:
        return f"coalesce({p}.transition, '{PENDING}')"
    return (
        f"CASE WHEN {a}.status IS NULL OR {b}.status IS NULL THEN '{PENDING}'"
        f" WHEN {a}.correct IS NULL OR {b}.correct IS NULL THEN 'undefined'"
        f" WHEN {a}.correct AND {b}.correct THEN 'both' WHEN {a}.correct THEN 'lost' WHEN {b}.correct THEN 'gained' ELSE 'neither' END"
    )


def outcome_join(alias: str, arm: str, turned: Sequence[str], scope: str, p: str = "p", prefix: str = "") -> str:
    """Joins the outcome of an arm (the name of a bound value) as `alias`. Where the arm has one instance a turn, all of them make one row:
    open until every turn has closed, right if every turn is, `first_wrong` the first turn that is not.

    `scope` restricts `o.parent`, for speed. `prefix` stands before the tables of an attached ledger.
    """
    if not turned:
        return (
            f"LEFT JOIN {prefix}outcomes {alias} ON {alias}.parent = {p}.id AND {alias}.arm = {arm}"
            f" AND {alias}.replicate = 0 AND {alias}.turn = 0"
        )
    panels = ", ".join("'" + name.replace("'", "''") + "'" for name in turned)
    by_turn = f"q.panel IN ({panels})"
    return (
        f"LEFT JOIN (SELECT o.parent AS parent, CASE WHEN {by_turn} AND count(*) < q.length THEN NULL ELSE max(o.status) END AS status,"
        f" CASE WHEN count(o.correct) = count(*) THEN min(o.correct) END AS correct, min(o.min_confidence) AS min_confidence,"
        f" CASE WHEN {by_turn} THEN min(CASE WHEN NOT o.correct THEN o.turn END) ELSE min(o.first_wrong) END AS first_wrong,"
        f" group_concat(o.output) AS output FROM {prefix}outcomes o JOIN {prefix}parents q ON q.id = o.parent"
        f" WHERE o.arm = {arm} AND o.replicate = 0 AND {scope} GROUP BY o.parent) {alias} ON {alias}.parent = {p}.id"
    )


def joins(pair: Pair, scope: str) -> dict[str, str]:
    """Joins that a query over `parents p` may need: `a` and `b`, the outcomes of the arms :first and :second, and `i`, the items."""
    sides = ((":first", pair.turned[0]), (":second", pair.turned[1]))
    outcomes = {alias: outcome_join(alias, arm, turned, scope) for alias, (arm, turned) in zip("ab", sides, strict=True)}
    return outcomes | {"i": "JOIN items i ON i.id = p.item"}


class ArmResult(NamedTuple):
    """What one arm gave; all None while it is open."""

    status: str | None
    output: str | None
    correct: bool | None
    first_wrong: int | None
    min_confidence: float | None


@dataclass(frozen=True, slots=True)
class PairRow:
    """A parent with the results of two arms. `payload` is its frozen item as stored, which may be anything in a damaged file."""

    id: int
    panel: str
    name: str
    domain: str
    length: int
    transition: str
    payload: bytes
    first: ArmResult
    second: ArmResult


_RESULT = "{0}.status, {0}.output, {0}.correct, {0}.first_wrong, {0}.min_confidence"


def pair_rows(db: sqlite3.Connection, pair: Pair, ids: Sequence[int]) -> list[PairRow]:
    """The rows of these parents, in no particular order; a page of a hundred at most."""
    listed = ", ".join(str(int(n)) for n in ids)
    sql = (
        f"SELECT p.id, p.panel, p.parent, p.domain, p.length, {transition_sql(pair)}, i.payload,"
        f" {_RESULT.format('a')}, {_RESULT.format('b')}"
        f" FROM parents p {' '.join(joins(pair, f'o.parent IN ({listed})').values())} WHERE p.id IN ({listed})"
    )
    rows = db.execute(sql, {"first": pair.first, "second": pair.second}).fetchall()
    return [
        PairRow(number, panel, name, domain, length, transition, payload, _result(*results[:5]), _result(*results[5:]))
        for number, panel, name, domain, length, transition, payload, *results in rows
    ]


def _result(status: str | None, output: str | None, correct: int | None, first_wrong: int | None, confidence: float | None) -> ArmResult:
    return ArmResult(status, output, None if correct is None else bool(correct), first_wrong, confidence)


class TurnResult(NamedTuple):
    """One instance of an arm of a dialogue; `detail` is the stored JSON."""

    output: str | None
    correct: bool | None
    detail: str


def turn_results(db: sqlite3.Connection, parent: int, arm: str) -> list[TurnResult]:
    """The outcomes of an arm of one parent, turn by turn."""
    rows = db.execute("SELECT output, correct, detail FROM outcomes WHERE parent = ? AND arm = ? ORDER BY replicate, turn", (parent, arm))
    return [TurnResult(output, None if correct is None else bool(correct), detail) for output, correct, detail in rows]


def parents_named(db: sqlite3.Connection, name: str) -> list[int]:
    """Numbers of the parents with this id, or with this `panel/id`, in the order of the plan."""
    panel, _, item = name.rpartition("/")
    rows = db.execute("SELECT id FROM parents WHERE parent = ? AND (? = '' OR panel = ?) ORDER BY id", (item, panel, panel)).fetchall()
    rows = rows or db.execute("SELECT id FROM parents WHERE parent = ? ORDER BY id", (name,)).fetchall()
    return [number for (number,) in rows]


def cell_sql(pair: Pair, cells: Sequence[str], p: str, a: str, b: str) -> str:
    """The number of the transition among `cells`, -1 for any other."""
    whens = " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(cells))
    return f"CASE {transition_sql(pair, p, a, b)} {whens} ELSE -1 END"


class Matched(NamedTuple):
    """A parent that two sides have: its ids in both ledgers, the numbers of its transitions, and whether the frozen item is the same."""

    left: int
    right: int
    left_cell: int
    right_cell: int
    domain: str
    length: int
    same: bool


def matched(
    db: sqlite3.Connection,
    left: Pair,
    right: Pair,
    *,
    other: bool,
    panels: Sequence[str],
    domain: str | None,
    low: int,
    high: int,
) -> list[Matched]:
    """Parents of these panels with low < number <= high on the left, joined on (panel, parent) with the right side.

    The right side is the ledger that `sqlite.attach` has attached, or with `other` False the same ledger. Cells are numbers of
    `records.TRANSITIONS` up to `neither`; -1 for the rest.
    """
    prefix = "other_" if other else ""
    cells = records.TRANSITIONS[:4]

    def arms(side: str, tables: str, pair: Pair) -> str:
        if pair.declared:
            return ""
        scope = "o.parent > :low AND o.parent <= :high" if side == "l" or not other else "1"
        names = zip("ab", "fs", pair.turned, strict=True)
        return " ".join(outcome_join(f"{side}{x}", f":{side}{arm}", turned, scope, side, tables) for x, arm, turned in names)

    sql = (
        f"SELECT l.id, r.id, {cell_sql(left, cells, 'l', 'la', 'lb')}, {cell_sql(right, cells, 'r', 'ra', 'rb')}, l.domain, l.length,"
        f" li.sha256 = ri.sha256 FROM parents l JOIN {prefix}parents r ON r.panel = l.panel AND r.parent = l.parent"
        f" JOIN items li ON li.id = l.item JOIN {prefix}items ri ON ri.id = r.item {arms('l', '', left)} {arms('r', prefix, right)}"
        f" WHERE l.id > :low AND l.id <= :high AND +l.panel IN ({', '.join(f':p{n}' for n in range(len(panels)))})"
        + (" AND l.domain = :domain" if domain is not None else "")
    )
    values: dict[str, object] = {"domain": domain, "low": low, "high": high}
    values |= {"lf": left.first, "ls": left.second, "rf": right.first, "rs": right.second}
    values |= {f"p{n}": name for n, name in enumerate(panels)}
    rows = db.execute(sql, values).fetchall()
    return [Matched(a, b, cell, other_cell, name, length, bool(same)) for a, b, cell, other_cell, name, length, same in rows]
