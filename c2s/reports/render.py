"""A report as text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Iterator

from c2s.errors import UsageError
from c2s.reports.document import Report, as_json
from c2s.reports.head import letter
from c2s.reports.section import Section, together
from c2s.reports.tables import Table, as_markdown, as_text


def render(report: Report, form: str) -> str:
    """`json` (one document), `text` (80 columns where the contents allow) or `md`."""
    if form == "json":
        return as_json(report, clock=True).decode()
    if form not in ("text", "md"):
        raise UsageError(f"unknown report format {form!r}; known: text, json, md")
    return "\n".join((as_text if form == "text" else as_markdown)(t) for t in tables(report))


def tables(report: Report) -> Iterator[Table]:
    """The head, then every section that is shown; the same section of several runs is one table with a column for the run."""
    several = len(report.runs) > 1
    yield together([(None, report.head)])
    for name in report.names():
        parts: dict[str, list[tuple[str | None, Section]]] = {}
        for place, run in enumerate(report.runs):
            for section in run.panels[name].sections if name in run.panels else ():
                if section.shown:
                    parts.setdefault(section.name, []).append((letter(place), section))
        for found in parts.values():
            alone = several and len(found) == 1
            yield together(found, f"{name}, run {found[0][0]}" if alone else name)
        yield from (together([(None, section)], f"{name}, all runs") for section in report.across.get(name, []))
