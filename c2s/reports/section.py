"""One table of a report: rows of plain values, and how each column is written.

The rows are the data: JSON prints them whole, the text table shows what the columns name. Keys are the same in every section:

    x                     an estimate, a share as 0 to 1, a difference of shares as -1 to 1
    x_interval            [low, high], or null; x_method says how it was made
    x_count               [hits, of] of a share
    x_degenerate          true where nothing varied in the redrawing
    x_undefined_share     share of the draws that had no value
    joint                 [both, lost, gained, neither]
    p, family, p_holm, m  a test, its family, its p after Holm over the family, and the size of the family
    n, n_planned          parents that the row rests on, and parents that were planned
    undefined             {key: reason} of values that are null
    clock                 what differs from run to run (times, run ids); the stored report, which verify derives again, leaves it out

A section that could not be made has an `error`, one sentence, and no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from c2s import stats
from c2s.reports import formats
from c2s.reports.tables import Table, as_html, as_text

Row = dict[str, Any]

NO_VARIATION = "no variation"
"""The `x_method` of a value whose redrawing had no variation, and that has no other interval."""


SAME_VALUES = "all items of a stratum have the same value (no success, no failure, or one item per stratum)"
"""Where a bootstrap interval has no width."""


@dataclass(frozen=True, slots=True)
class Column:
    """`key` names a value of the row; a dotted key looks inside (`joint.0`, `clock.seconds`). `form` is a format of
    `c2s.reports.formats.FORMS`, or one of those after `ci_`: the value with its interval."""

    key: str
    head: str
    form: str = "text"
    names_row: bool = False
    """Whether a note names a row by this value too; a text always is one of its names."""

    @property
    def name(self) -> str:
        """The head as a note uses it, without the interval and the unit."""
        return self.head.removesuffix(" [95 % CI]").removesuffix(" %")

    def as_dict(self) -> dict[str, Any]:
        """For readers without code: name, head, format, whether the interval is shown, unit."""
        plain = self.form.removeprefix("ci_")
        shown = {"name": self.key, "head": self.head, "format": plain, "interval": plain != self.form}
        return shown | {"unit": formats.UNITS.get(plain)}


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
    layout: Callable[[Sequence[Row]], Sequence[Row]] | None = field(default=None, repr=False)
    error: str | None = None
    feeds: frozenset[str] | None = frozenset()
    """Of a section that could not be made: the families that its tests would belong to; None where that is not known."""

    def __repr__(self) -> str:
        return f"<Section {self.name}: {self.error or self.title}, {formats.counted(len(self.rows), 'row')}>"

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The table as text."""
        return as_text(table(self, self.name))

    def _repr_html_(self) -> str:
        return as_html(table(self, self.name))

    def as_dict(self, clock: bool) -> dict[str, Any]:
        """`table` stands only where the table's rows are others than `rows`."""
        document = {
            "title": self.title,
            "source": self.source,
            "columns": [column.as_dict() for column in self.columns],
            "rows": [_without_clock(row, clock) for row in self.rows],
            "notes": self.notes,
        }
        if self.layout is not None:
            document["table"] = [_without_clock(row, clock) for row in self.laid_out()]
        return document | ({"error": self.error} if self.error else {})

    def laid_out(self) -> Sequence[Row]:
        """The rows of the table."""
        return self.rows if self.layout is None else self.layout(self.rows)

    def tests(self) -> list[Row]:
        """The rows that are tests."""
        return [row for row in self.rows if "family" in row]


def failed(name: str, sentence: str, feeds: frozenset[str] | None = None) -> Section:
    """A section that could not be made, with the reason, and the families that its tests would belong to (None: not known)."""
    return Section(name, "not made", "error", (), [], error=sentence, feeds=feeds)


def holm(tests: Sequence[Row], missing: Sequence[Section] = ()) -> None:
    """Add `p_holm` and `m` to rows that are tests, inside every family; a test that could not run keeps its slot with p = 1.

    A family that a `missing` section, which could not be made, may have had tests of is not corrected: its size is not known, and a
    smaller one would make the other adjusted p-values too small.
    """
    families: dict[str, dict[int, float | None]] = {}
    for place, row in enumerate(tests):
        families.setdefault(row["family"], {})[place] = row["p"]
    for family, p_values in families.items():
        lost = [section.name for section in missing if section.feeds is None or family in section.feeds]
        if lost:
            reason = f"the size of family {family!r} is not known, because {' and '.join(map(repr, lost))} could not be made"
            for place in p_values:
                tests[place] |= {"p_holm": None, "m": None}
                tests[place]["undefined"] = tests[place].get("undefined", {}) | {"p_holm": reason, "m": reason}
            continue
        for place, adjusted in stats.holm(p_values).items():
            tests[place] |= {"p_holm": float(adjusted), "m": len(p_values)}


def _without_clock(row: Row, clock: bool) -> Row:
    return row if clock else {key: value for key, value in row.items() if key != "clock"}


def value_at(row: Mapping[str, Any], key: str) -> Any:
    """The value of a key, or of a dotted key inside mappings and lists; None where there is none."""
    if key in row:
        return row[key]
    found: Any = row
    for part in key.split("."):
        if isinstance(found, Mapping):
            found = found.get(part)
        elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        else:
            return None
    return found


def show(row: Mapping[str, Any], column: Column) -> str:
    """One cell: the value, with its interval where the column asks for it, and † where nothing varied."""
    value = value_at(row, column.key)
    if column.key == "p_holm" and row.get("p") is None:
        value = None  # a test that could not run only counts in m
    form = column.form.removeprefix("ci_")
    if value is None or form == column.form:
        return formats.written(value, form)
    mark = " †" if row.get(f"{column.key}_degenerate") else ""
    return f"{formats.written(value, form)} {formats.interval(row.get(f'{column.key}_interval'), form)}{mark}"


def table(section: Section, heading: str) -> Table:
    """The section as a table, with notes below: reasons of undefined cells and the meaning of marks."""
    return together([(None, section)], heading)


def together(parts: Sequence[tuple[str | None, Section]], heading: str | None = None) -> Table:
    """The same section of several runs as one table with a leading column for the run's letter; one run alone has none.

    Without a heading the title stands alone.
    """
    several = len(parts) > 1
    columns = list({column.key: column for _, section in parts for column in section.columns}.values())
    rows = [
        ({"run": run} if several else {}) | row
        for run, section in parts
        if section.error is None
        for row in section.laid_out()
    ]  # fmt: skip
    if several:
        columns.insert(0, Column("run", "run"))
    left = next((i for i, c in enumerate(columns) if c.form != "text"), len(columns))
    first = next((section for _, section in parts if section.error is None), parts[0][1])
    title = first.title if heading is None else f"{heading}: {first.title} ({first.source})"
    cells = [[show(row, column) for column in columns] for row in rows]
    return Table(title, [c.head for c in columns], cells, _notes(parts, rows, columns), left)


def _notes(parts: Sequence[tuple[str | None, Section]], rows: Sequence[Row], columns: Sequence[Column]) -> list[str]:
    notes = _shared_notes(parts)
    intervals = {c.key for c in columns if c.form.startswith("ci_")}
    methods = {row.get(f"{key}_method") for row in rows for key in intervals if row.get(f"{key}_degenerate")}
    stand = {"clopper-pearson": "Clopper-Pearson interval instead", NO_VARIATION: "no interval is shown"}
    meaning = ", or ".join(what for method, what in stand.items() if method in methods)
    if meaning:
        notes.append(f"† {SAME_VALUES}: the bootstrap interval has no width; {meaning}.")
    notes += _reasons(rows, columns)
    families = {row["family"]: row.get("m") for _, section in parts for row in section.tests()}
    notes += [f"Holm over the m = {formats.counted(m, 'test')} of family {name!r}." for name, m in families.items() if m is not None]
    notes += [section.error if run is None else f"{run}: {section.error}" for run, section in parts if section.error is not None]
    return notes


def _shared_notes(parts: Sequence[tuple[str | None, Section]]) -> list[str]:
    """Notes of all runs once; a note that not every run has stands with the letters of its runs."""
    runs: dict[str, list[str]] = {}
    for run, section in parts:
        for note in section.notes:
            runs.setdefault(note, []).append(run or "")
    made = sum(section.error is None for _, section in parts)
    return [note if len(letters) == made else f"{', '.join(letters)}: {note}" for note, letters in runs.items()]


def _reasons(rows: Sequence[Row], columns: Sequence[Column]) -> list[str]:
    shown = {c.key: c.name for c in columns}
    if "p_holm" in shown:
        shown.setdefault("p", "p")
        shown.pop("m", None)  # is undefined for the same reason as p (Holm)
    reasons: dict[str, list[str]] = {}
    for row in rows:
        for key, why in row.get("undefined", {}).items():
            if key in shown:
                counts = " (the test counts in m with p = 1)" if key == "p" and row.get("m") is not None else ""
                reasons.setdefault(f"{shown[key]} is undefined{counts}: {why}", []).append(_label(row, columns))
    more = {reason: f" and {len(labels) - 3} more" if len(labels) > 3 else "" for reason, labels in reasons.items()}
    return [f"{'; '.join(labels[:3])}{more[reason]}: {reason}." for reason, labels in reasons.items()]


def _label(row: Row, columns: Sequence[Column]) -> str:
    """What tells a row from the others of its table: its texts, and numbers that name it with their heads."""
    named = [c for c in columns if (c.form == "text" or c.names_row) and row.get(c.key) is not None]
    return " ".join(str(row[c.key]) if c.form == "text" else f"{c.name} {row[c.key]}" for c in named)
