"""Reports of run directories: data, then text, Markdown or JSON.

One JSON document whatever was run. A run that was asked for one panel gives that panel's report; panels that it needed stand under
`used`. A run of several panels gives {"model", "requests", "panels": {name: report}}. Several runs give {"runs": [...], "across":
{panel: {table: ...}}}. Every panel's report has "panel", "model", "simulation", "settings", "items_sha256", "requests", "sections"
and, where it has a pair of arms, "domains" as the main panel's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from c2s import stats
from c2s.errors import UsageError
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.panels.base import Endpoint
from c2s.panels.registry import PANELS
from c2s.plugins import resolve_endpoint
from c2s.reports.compliance import compliance
from c2s.reports.data import REQUEST_STATES, PanelData, RunData
from c2s.reports.retention import family, retention
from c2s.reports.retention_tables import tables
from c2s.reports.section import Section, table
from c2s.reports.tables import Table, as_markdown, as_text


@dataclass(slots=True)
class PanelReport:
    """`head` is everything but the sections."""

    head: dict[str, Any]
    sections: list[Section]

    def as_dict(self, clock: bool) -> dict[str, Any]:
        return self.head | {"sections": {section.name: section.as_dict(clock) for section in self.sections}}


@dataclass(slots=True)
class RunReport:
    asked: Sequence[str]
    panels: dict[str, PanelReport]

    def as_dict(self, clock: bool) -> dict[str, Any]:
        documents = {name: report.as_dict(clock) for name, report in self.panels.items()}
        if len(self.asked) == 1:
            (name,) = self.asked
            used = {other: document for other, document in documents.items() if other != name}
            return documents[name] | ({"used": used} if used else {})
        first = next(iter(documents.values()))
        common = {key: first[key] for key in ("model", "simulation", "settings", "items_sha256")}
        return common | {"requests": self.requests, "panels": documents}

    @property
    def requests(self) -> dict[str, int]:
        return {state: sum(report.head["requests"][state] for report in self.panels.values()) for state in REQUEST_STATES}


@dataclass(slots=True)
class Report:
    """Runs shown together: Holm corrects over all of them."""

    runs: list[RunReport]
    across: dict[str, list[Section]] = field(default_factory=dict)

    def as_dict(self, clock: bool = False) -> dict[str, Any]:
        """`clock`: also what differs from run to run."""
        if len(self.runs) == 1:
            return self.runs[0].as_dict(clock)
        across = {panel: {s.name: s.as_dict(clock) for s in sections} for panel, sections in self.across.items()}
        return {"runs": [run.as_dict(clock) for run in self.runs]} | ({"across": across} if across else {})

    def requests(self, state: str) -> int:
        return sum(run.requests[state] for run in self.runs)


def build(paths: Sequence[Path | str], *, exploratory: bool = False) -> Report:
    """The report of one or more run directories. A run given twice would be tested twice: refused.

    `exploratory` adds what a stored report never has (`Panel.exploratory`).
    """
    with ExitStack() as stack:
        runs: list[RunData] = []
        seen: dict[str, Path | str] = {}
        for path in paths:
            directory = RunDirectory.open(path)
            manifest, _ = directory.manifest()
            run_id = manifest["provenance"]["run_id"]
            if run_id in seen:
                raise UsageError(f"{seen[run_id]} and {path} are the same run; give each run once")
            seen[run_id] = path
            runs.append(RunData(stack.enter_context(sqlite.reading(directory.ledger_path)), manifest["identity"]))
        report = Report(
            [RunReport(run.asked, {name: _panel(run.panel(name), exploratory) for name in run.identity["panels"]}) for run in runs]
        )
        if len(runs) > 1:
            for name, panel in PANELS.items():
                found = [data for run in runs if (data := run.panel(name)) is not None]
                if len(found) > 1 and panel.across:
                    report.across[name] = [_call(endpoint, found) for endpoint in panel.across]
    _correct(report)
    return report


def _panel(data: PanelData, exploratory: bool) -> PanelReport:
    panel, identity = data.panel, data.run.identity
    head = {
        "panel": panel.name,
        "model": identity["model"],
        "simulation": identity["model"].startswith("sim:"),
        "settings": identity["settings"],
        "items_sha256": identity["items_sha256"],
        "requests": data.requests,
    }
    if panel.pair is not None and panel.retained:
        head["domains"] = retention(data)
    sections = [_call(endpoint, data) for endpoint in panel.endpoints + (panel.exploratory if exploratory else ())]
    if panel.arms and panel.compliance:
        sections.append(compliance(data))
    return PanelReport(head, sections)


def _call(endpoint: Endpoint, data: PanelData | list[PanelData]) -> Section:
    panel = data[0].panel if isinstance(data, list) else data.panel
    return resolve_endpoint(panel.name, endpoint.function)(data, **endpoint.options)


def _correct(report: Report) -> None:
    """Holm inside every family of every panel, over all runs shown; a test that could not run keeps its slot with p = 1."""
    for name in PANELS:
        reports = [run.panels[name] for run in report.runs if name in run.panels]
        family([r.head for r in reports if "domains" in r.head])
        sections = [section for r in reports for section in r.sections] + report.across.get(name, [])
        families: dict[str, list[dict[str, Any]]] = {}
        for section in sections:
            for row in section.tests():
                families.setdefault(row["family"], []).append(row)
        for tests in families.values():
            adjusted = stats.holm({str(i): 1.0 if row["p"] is None else row["p"] for i, row in enumerate(tests)})
            for i, row in enumerate(tests):
                row["p_holm"], row["m"] = float(adjusted[str(i)]), len(tests)


def render(report: Report, form: str) -> str:
    """`json` (one document), `text` (80 columns where the contents allow) or `md`."""
    if form == "json":
        return as_json(report, clock=True).decode()
    if form not in ("text", "md"):
        raise UsageError(f"unknown report format {form!r}; known: text, json, md")
    return "\n".join((as_text if form == "text" else as_markdown)(t) for t in _tables(report))


def _tables(report: Report) -> Iterator[Table]:
    several = len(report.runs) > 1
    for name in PANELS:
        reports = [run.panels[name] for run in report.runs if name in run.panels]
        if name == "main" and reports:
            yield from tables([r.head for r in reports])
        for r in reports:
            heading = f"{name}, {r.head['model']}" if several else name
            if r.head["simulation"]:
                heading += ", SIMULATION"
            yield from (table(section, heading) for section in r.sections if section.shown)
        yield from (table(section, f"{name}, all runs") for section in report.across.get(name, []))


def as_json(report: Report, *, clock: bool = False) -> bytes:
    """One JSON document; without the clock, equal outcomes give equal bytes."""
    return orjson.dumps(report.as_dict(clock), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
