"""One page about one judge: does its verdict depend on presentation, how much, and how sure is that.

A page is made of sections like any report: `verdict`, `tests`, `findings`, `smallest_pair`. Its text is a rendering of them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c2s.errors import UsageError
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.panels.registry import panel
from c2s.reports.build import build
from c2s.reports.document import PanelReport
from c2s.reports.judge.findings import answer, findings, tests
from c2s.reports.judge.smallest_pair import smallest_pair
from c2s.reports.section import TEST_OF, Column, Row, Section, holm
from c2s.reports.tables import COLUMNS, literal

PANELS = ("judge-audit", "judge-confirmation")
NEEDED = ("order", "interaction", "cells", "gates")
SOURCE = "ours"


@dataclass(frozen=True, slots=True)
class Page:
    """One grading rule of one judge."""

    model: str
    rule: str
    simulation: bool
    sections: Mapping[str, Section]

    def as_dict(self) -> dict[str, Any]:
        document = {name: section.as_dict(clock=False) for name, section in self.sections.items()}
        return {"model": self.model, "rule": self.rule, "simulation": self.simulation, "sections": document}


def pages(path: Path | str) -> list[Page]:
    """One page for each grading rule of a run of the audit (or of the confirmation). UsageError for another run, or where a section that
    the page rests on could not be made."""
    run = RunDirectory.open(path)
    (report,) = build([path]).runs
    name = next((name for name in PANELS if name in report.panels), None)
    if name is None:
        raise UsageError(f"{path} holds neither of {', '.join(PANELS)}; make one with `c2s judge audit`")
    sections = {section.name: section for section in report.panels[name].sections if section.error is None}
    if not set(NEEDED) <= set(sections):
        errors = [section.error for section in report.panels[name].sections if section.error is not None]
        raise UsageError(f"{path}: there is no page: {' '.join(errors)}")
    rules = list(dict.fromkeys(row["configuration"] for row in sections["order"].rows))
    with sqlite.reading(run.ledger_path) as db:
        contracts = next((row.parent.contracts for row in reader.parents(db, name)), ())
        return [
            _page(report.panels[name], sections, rule, smallest_pair(db, panel(name), contract))
            for rule, contract in zip(rules, contracts, strict=True)
        ]


def _page(report: PanelReport, sections: Mapping[str, Section], rule: str, pair: Row | None) -> Page:
    rows = {name: [row for row in sections[name].rows if row["configuration"] == rule] for name in NEEDED}
    tested = tests(rows)
    holm(tested)
    model, simulation = report.identity["model"], report.identity["simulation"]
    first = {"model": model, "rule": rule, "simulation": simulation} | answer(rows, tested)
    made = (
        Section("verdict", "does the verdict depend on presentation?", SOURCE, VERDICT, [first]),
        Section("tests", "the three tests", SOURCE, (Column("test", "test"), *TEST_OF), tested),
        Section("findings", "what the answer rests on", SOURCE, FINDINGS, findings(rows, tested, report.identity["requests"])),
        Section("smallest_pair", "the smallest pair whose verdicts differ", SOURCE, PAIR, [pair] if pair else []),
    )
    return Page(model, rule, simulation, {section.name: section for section in made})


VERDICT = (Column("model", "model"), Column("rule", "rule"), Column("verdict", "verdict"), Column("answer", "answer"))
FINDINGS = (Column("about", "about"), Column("text", "finding"))
PAIR = tuple(Column(key, key.replace("_", " ")) for key in ("parent", "condition", "insertion_verdict", "sorted_verdict", "repeated"))


def as_text(page: Page) -> str:
    """The page for a terminal: nothing in it can act on one."""
    (verdict,) = page.sections["verdict"].rows
    head = f"{page.model}, {page.rule}" + (" (SIMULATION, not a measurement)" if page.simulation else "")
    lines = [*_wrapped(f"Does the verdict depend on presentation? {head}", "  "), "", *_wrapped(verdict["answer"]), ""]
    for finding in page.sections["findings"].rows:
        lines += textwrap.wrap(literal(finding["text"]), COLUMNS, initial_indent="- ", subsequent_indent="  ")
    for pair in page.sections["smallest_pair"].rows:
        borne = {True: "the repeats say the same", False: "the repeats differ", None: "without repeats"}[pair["repeated"]]
        shows = verdict["verdict"] in ("interaction", "order")
        what = "The smallest pair that shows it" if shows else "The smallest pair whose verdicts differ"
        lines += ["", *_wrapped(f"{what} ({pair['parent']}, {pair['condition']}; {borne}):", "  ")]
        for name in ("insertion", "sorted"):
            lines += ["", f"{name} -> {literal(pair[f'{name}_verdict'])}", literal(pair[name])]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(literal(text), COLUMNS, subsequent_indent=indent)
