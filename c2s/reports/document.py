"""A report as data: what stands in its JSON document.

One JSON document whatever was run, with "format": 2 and "head". A run that was asked for one panel gives that panel's report; panels that
it needed stand under `used`. A run of several panels gives {"model", "requests", "panels": {name: report}}. Several runs give
{"runs": [...], "across": {panel: {section: ...}}}. Every panel's report has "panel", "model", "simulation", "settings", "items_sha256",
"requests" and "sections". docs/protocol.md describes what is in a section.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from c2s.errors import UsageError, nearest
from c2s.panels.registry import PANELS
from c2s.reports import formats
from c2s.reports.data import REQUEST_STATES
from c2s.reports.section import Section

FORMAT = 2
"""Of the JSON document. Reports of the first format have no member `format`; `c2s.reports.earlier` compares with them."""

JSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS


@dataclass(slots=True)
class PanelReport:
    """`identity` is everything but the sections."""

    identity: dict[str, Any]
    sections: list[Section]

    def as_dict(self, clock: bool) -> dict[str, Any]:
        return self.identity | {"sections": {section.name: section.as_dict(clock) for section in self.sections}}


@dataclass(slots=True)
class RunReport:
    """The panels of one run; `asked` are those that were named for it."""

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
        """Requests by state, over all panels."""
        return {state: sum(report.identity["requests"][state] for report in self.panels.values()) for state in REQUEST_STATES}


@dataclass(slots=True)
class Report:
    """Runs shown together: Holm corrects over all of them."""

    head: Section
    runs: list[RunReport]
    across: dict[str, list[Section]] = field(default_factory=dict)

    def __repr__(self) -> str:
        runs = formats.counted(len(self.runs), "run")
        errors = len(self.errors)
        failed = f", {formats.counted(errors, 'section')} not made" if errors else ""
        return f"<Report of {runs}: {', '.join(self.names())}{failed}>"

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """What `c2s report` prints."""
        from c2s.reports.render import render

        return render(self, "text")

    def _repr_html_(self) -> str:
        from c2s.reports.render import as_html

        return as_html(self)

    def as_dict(self, clock: bool = False) -> dict[str, Any]:
        """`clock`: also what differs from run to run."""
        first = {"format": FORMAT, "head": self.head.as_dict(clock)}
        if len(self.runs) == 1:
            return first | self.runs[0].as_dict(clock)
        across = {panel: {s.name: s.as_dict(clock) for s in sections} for panel, sections in self.across.items()}
        return first | {"runs": [run.as_dict(clock) for run in self.runs]} | ({"across": across} if across else {})

    def requests(self, state: str) -> int:
        """Requests in a state, over all runs."""
        return sum(run.requests[state] for run in self.runs)

    @property
    def errors(self) -> list[str]:
        """A sentence for every section that could not be made."""
        sections = (section for name in self.names() for section in self.sections(name))
        return [section.error for section in sections if section.error is not None]

    def names(self) -> list[str]:
        """The panels of all runs in the order of the registry; those that this c2s does not know come last."""
        names = dict.fromkeys(name for run in self.runs for name in run.panels)
        order = PANELS.names()
        return sorted(names, key=lambda name: order.index(name) if name in order else len(order))

    def sections(self, panel: str) -> list[Section]:
        """Every section of a panel, of all runs and across them. Raises UsageError where no run has the panel."""
        if panel not in (names := self.names()):
            raise UsageError(f"the report has no panel {panel!r}{nearest(panel, names)}; it has {', '.join(names)}")
        own = [section for run in self.runs if panel in run.panels for section in run.panels[panel].sections]
        return own + self.across.get(panel, [])


def as_json(report: Report, *, clock: bool = False) -> bytes:
    """One JSON document; without the clock, equal outcomes give equal bytes."""
    return orjson.dumps(report.as_dict(clock), option=JSON_OPTIONS)
