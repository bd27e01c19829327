"""From run directories to a report: every endpoint of every panel is called, then Holm corrects inside every family."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from c2s.errors import LedgerError, UsageError, described
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.panels.base import Endpoint
from c2s.plugins import missing, resolve_endpoint
from c2s.reports.compliance import compliance
from c2s.reports.data import PanelData, RunData
from c2s.reports.document import JSON_OPTIONS, PanelReport, Report, RunReport, as_json
from c2s.reports.head import head
from c2s.reports.render import render
from c2s.reports.section import Column, Row, Section, failed, holm, together
from c2s.stdout import TO_STDERR

__all__ = ["Report", "as_json", "build", "render", "section_of"]


def build(paths: Sequence[Path | str], *, exploratory: bool = False) -> Report:
    """The report of one or more run directories. A run given twice would be tested twice: refused.

    `exploratory` adds what a stored report never has (`Panel.exploratory`). A section that cannot be made says why and leaves the others.
    """
    with ExitStack() as stack:
        runs: list[RunData] = []
        seen: dict[str, Path | str] = {}
        for path in paths:
            directory = RunDirectory.open(path)
            manifest, digest = directory.manifest()
            run_id = manifest["provenance"]["run_id"]
            if run_id in seen:
                raise UsageError(f"{seen[run_id]} and {path} are the same run; give each run once")
            seen[run_id] = path
            db = stack.enter_context(sqlite.reading(directory.ledger_path))
            runs.append(RunData(db, manifest["identity"], manifest["provenance"], str(path), digest))
        made = [RunReport(run.asked, {name: _panel(run, name, exploratory) for name in run.identity["panels"]}) for run in runs]
        report = Report(head(runs), made)
        for name in report.names() if len(runs) > 1 else ():
            shared = [data for run in runs if (data := run.panel(name)) is not None]
            if len(shared) > 1 and shared[0].panel.across:
                report.across[name] = _apart([section_of(endpoint, shared, name) for endpoint in shared[0].panel.across])
    _correct(report)
    _replace_unwritable(report)
    return report


def _panel(run: RunData, name: str, exploratory: bool) -> PanelReport:
    identity = {
        "panel": name,
        "model": run.model,
        "simulation": run.simulation,
        "settings": run.identity["settings"],
        "items_sha256": run.identity["items_sha256"],
        "requests": run.requests_of(name),
    }
    data = run.panel(name)
    if data is None:
        return PanelReport(identity, [failed("panel", f"Panel {name!r} cannot be reported: {missing('panel', name, run.provenance)}.")])
    panel = data.panel
    sections = [section_of(endpoint, data, name) for endpoint in panel.endpoints + (panel.exploratory if exploratory else ())]
    if panel.arms and panel.compliance:
        sections.append(_made("compliance", name, lambda: compliance(data), frozenset()))
    return PanelReport(identity, _apart(sections))


def _apart(sections: Sequence[Section]) -> list[Section]:
    """Sections with names of their own: the document holds them by name, and one that failed may have taken another's."""
    apart: dict[str, Section] = {}
    for section in sections:
        name, number = section.name, 2
        while name in apart:
            name, number = f"{section.name} {number}", number + 1
        apart[name] = section if name == section.name else replace(section, name=name)
    return list(apart.values())


def section_of(endpoint: Endpoint, data: PanelData | list[PanelData], panel: str) -> Section:
    """The section that an endpoint makes; where it fails in any way, a section that says so."""
    name, feeds = endpoint.function.partition(":")[2], None
    if "family" in endpoint.options:
        name += f":{endpoint.options['family']}"
        feeds = frozenset([str(endpoint.options["family"])])
    return _made(name, panel, lambda: _called(endpoint, data, panel), feeds)


def _called(endpoint: Endpoint, data: PanelData | list[PanelData], panel: str) -> Section:
    function = resolve_endpoint(panel, endpoint.function)
    if endpoint.function.startswith("c2s.reports."):
        return function(data, **endpoint.options)  # type: ignore[no-any-return]
    with TO_STDERR:  # a package may print; standard output is the report
        section = function(data, **endpoint.options)
    if isinstance(section, Section) and section.layout is not None:
        section = replace(section, layout=partial(_laid_out, section.layout))
    return section  # type: ignore[no-any-return]


def _laid_out(layout: Callable[[Sequence[Row]], Sequence[Row]], rows: Sequence[Row]) -> Sequence[Row]:
    with TO_STDERR:
        return layout(rows)


def _made(name: str, panel: str, make: Callable[[], Section], feeds: frozenset[str] | None) -> Section:
    """`feeds`: the families that its tests belong to, None where only the section itself knows."""
    try:
        section = make()
        _check(section)
        return section
    except (LedgerError, sqlite3.DatabaseError):
        raise  # the ledger itself is damaged: no section can be made of it
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a fault in one section, also sys.exit, must not take the others with it
        reason = str(error) if isinstance(error, UsageError) else described(error)
        return failed(name, f"Section {name!r} of panel {panel!r} could not be made: {reason}.", feeds)


def _check(section: Section) -> None:
    """What the document and Holm need: texts where texts belong, plain values, and p-values that are probabilities."""
    if not isinstance(section, Section):
        raise TypeError(f"the endpoint gave no Section, but {type(section).__name__}")
    texts = {"name": section.name, "title": section.title, "source": section.source}
    for what, value in [*texts.items(), *(("a note", note) for note in _list("notes", section.notes, list))]:
        _is(what, value, str)
    for column in _list("columns", section.columns, (list, tuple)):
        _is("a column", column, Column)
    for row in _list("rows", section.rows, list):
        _is("a row", row, dict)
        _is("`undefined` of a row", row.get("undefined", {}), dict)
    for row in section.tests():
        _is("a family", row["family"], str)
        if row["p"] is None:
            continue
        _is("p", row["p"], (int, float))
        if not 0 <= row["p"] <= 1:
            raise ValueError(f"p = {row['p']} of family {row['family']!r} is no probability")
    orjson.dumps([section.rows, section.notes], option=JSON_OPTIONS)


def _is(what: str, value: object, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise TypeError(f"{what} must be {' or '.join(k.__name__ for k in kinds)}, not {type(value).__name__}")


def _list(what: str, values: Any, kind: type | tuple[type, ...]) -> Any:
    _is(what, values, kind)
    return values


def _correct(report: Report) -> None:
    """Holm inside every family of every panel, over all runs shown."""
    for name in report.names():
        sections = report.sections(name)
        holm([row for section in sections for row in section.tests()], [section for section in sections if section.error is not None])


def _replace_unwritable(report: Report) -> None:
    """A section whose rows its columns cannot show, or whose layout fails, becomes one that says so."""
    for name in report.names():
        for sections in [*(run.panels[name].sections for run in report.runs if name in run.panels), report.across.get(name, [])]:
            for place, section in enumerate(sections):
                sections[place] = _made(section.name, name, partial(_written, section), section.feeds)


def _written(section: Section) -> Section:
    section.as_dict(clock=True)
    together([(None, section)])
    return section
