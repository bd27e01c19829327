"""One table of a panel's report: rows of plain values, and how each column is shown.

The rows are the data: JSON prints them whole, the text table shows what the columns name. A value `x` may have `x_interval`
([low, high]) and `x_method` beside it, and `x_degenerate` where nothing varied. A value that is not defined is None, with its reason in the row's `undefined`. A
row with `p` and `family` is a test: Holm over the family adds `p_holm` and `m`. `clock` holds what differs from run to run (times); the
stored report, which verify derives again, leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from c2s.reports.tables import Table

Row = dict[str, Any]

NO_VARIATION = "no variation"
"""The `x_method` of a value whose redrawing had no variation, and that has no other interval."""


@dataclass(frozen=True, slots=True)
class Column:
    """`form`: text, int, rate (percent), points (percentage points, signed), number, p, usd, of ([k, n] as k/n), slashes (a list), seconds
    (of a `clock`), cell (text that is aligned like a number), and ci_rate, ci_points, ci_number with the interval."""

    key: str
    head: str
    form: str = "text"


TEST = (Column("p", "p", "p"), Column("p_holm", "p (Holm)", "p"))
"""The columns of a row that is a test; Holm adds the second one."""

TEST_OF = (*TEST, Column("m", "m", "int"))
"""The same with the size of its family."""


@dataclass(slots=True)
class Section:
    """`source` names the paper's table or figure that it corresponds to, or says that there is none. One that is not `shown` is in the
    JSON alone; `layout` makes the table's rows out of the section's, once every test has its Holm p."""

    name: str
    title: str
    source: str
    columns: Sequence[Column]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    shown: bool = True
    layout: Callable[[Sequence[Row]], Sequence[Row]] = field(default=list, repr=False)

    def as_dict(self, clock: bool) -> dict[str, Any]:
        rows = self.rows if clock else [{key: value for key, value in row.items() if key != "clock"} for row in self.rows]
        return {"title": self.title, "source": self.source, "rows": rows, "notes": self.notes}

    def tests(self) -> list[Row]:
        return [row for row in self.rows if "family" in row]


def table(section: Section, heading: str) -> Table:
    """The section as a table: reasons of undefined cells and the meaning of marks as notes below."""
    laid = section.layout(section.rows)
    rows = [[show(row, column) for column in section.columns] for row in laid]
    left = next((i for i, c in enumerate(section.columns) if c.form != "text"), len(section.columns))
    return Table(f"{heading}: {section.title} ({section.source})", [c.head for c in section.columns], rows, _notes(section, laid), left)


def _notes(section: Section, laid: Sequence[Row]) -> list[str]:
    notes = list(section.notes)
    shown = {c.key for c in section.columns}
    intervals = {c.key for c in section.columns if c.form.startswith("ci_")}
    methods = {row.get(f"{key}_method") for row in laid for key in intervals if row.get(f"{key}_degenerate")}
    stand = {"clopper-pearson": "Clopper-Pearson interval", NO_VARIATION: "no interval"}
    said = " or ".join(what for method, what in stand.items() if method in methods)
    if said:
        notes.append(f"† no variation to resample (for instance one parent per stratum): {said}.")
    reasons: dict[str, list[str]] = {}
    for row in laid:
        for key, why in row.get("undefined", {}).items():
            if key in shown:
                label = " ".join(str(row[c.key]) for c in section.columns if c.form == "text" and row.get(c.key) is not None)
                reasons.setdefault(f"{key} is undefined: {why}", []).append(label)
    for reason, labels in reasons.items():
        more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
        notes.append(f"{'; '.join(labels[:3])}{more}: {reason}.")
    families = {row["family"]: row.get("m") for row in section.tests()}
    notes += [f"Holm over the m = {m} tests of family {name!r}." for name, m in families.items()]
    return notes


def show(row: Mapping[str, Any], column: Column) -> str:
    value = row.get(column.key)
    if value is None:
        return "-"
    form = column.form
    if form.startswith("ci_"):
        form = form[3:]
        limits = row.get(f"{column.key}_interval")
        mark = " †" if row.get(f"{column.key}_degenerate") else ""
        inside = "-" if limits is None else f"{_plain(limits[0], form)}, {_plain(limits[1], form)}"
        return f"{_plain(value, form)} [{inside}]{mark}"
    return _plain(value, form)


def _plain(value: Any, form: str) -> str:
    if form == "rate":
        return f"{100 * value:.1f}"
    if form == "points":
        return f"{100 * value + 0.0:+.1f}" if abs(value) >= 5e-4 else "0.0"
    if form == "number":
        return f"{value:.3f}"
    if form == "p":
        return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"
    if form == "of":
        return f"{value[0]}/{value[1]}"
    if form == "usd":
        return f"{value:.4f}"
    if form == "seconds":
        return f"{value['seconds']:.2f}"
    if form == "slashes":
        return "/".join(map(str, value))
    return str(value)
