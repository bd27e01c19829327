"""A report as text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from c2s.errors import UsageError
from c2s.reports.document import Report, as_json
from c2s.reports.head import letter
from c2s.reports.section import Section, together
from c2s.reports.tables import Table, as_markdown, as_text, escape
from c2s.reports.tables import as_html as html_table


def render(report: Report, form: str) -> str:
    """`json` (one document), `text` (80 columns where the contents allow) or `md`."""
    if form == "json":
        return as_json(report, clock=True).decode()
    if form not in ("text", "md"):
        raise UsageError(f"unknown report format {form!r}; known: text, json, md")
    if form == "text":
        return "\n".join(as_text(table) for _, table in tables(report))
    parts: list[str] = []
    for panel, found in groupby(tables(report), key=lambda part: part[0]):
        parts += [f"## {escape(panel)}\n"] if panel is not None else []
        parts += [as_markdown(table, 1 if panel is None else 3) for _, table in found]
    return "\n".join(parts)


def as_html(report: Report) -> str:
    """For a notebook: everything is escaped."""
    return "\n".join(html_table(table) for _, table in tables(report))


def tables(report: Report) -> Iterator[tuple[str | None, Table]]:
    """The head, then every section that is shown, with its panel; the same section of several runs is one table with a run column."""
    several = len(report.runs) > 1
    yield None, together([(None, report.head)])
    for name in report.names():
        parts: dict[str, list[tuple[str | None, Section]]] = {}
        for place, run in enumerate(report.runs):
            for section in run.panels[name].sections if name in run.panels else ():
                if section.shown:
                    parts.setdefault(section.name, []).append((letter(place), section))
        for found in parts.values():
            alone = several and len(found) == 1
            yield name, together(found, f"{name}, run {found[0][0]}" if alone else name)
        yield from ((name, together([(None, section)], f"{name}, all runs")) for section in report.across.get(name, []))
