"""Reports of run directories: data, then text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from c2s.errors import UsageError
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.panels.registry import panel
from c2s.reports.retention import family, retention
from c2s.reports.retention_tables import tables
from c2s.reports.tables import as_markdown, as_text


def build(paths: Sequence[Path | str]) -> list[dict[str, Any]]:
    """One report per panel of every run, with Holm over all of them. A run given twice would be tested twice: refused."""
    reports = []
    seen: dict[str, Path | str] = {}
    for path in paths:
        run = RunDirectory.open(path)
        manifest, _ = run.manifest()
        identity, run_id = manifest["identity"], manifest["provenance"]["run_id"]
        if run_id in seen:
            raise UsageError(f"{seen[run_id]} and {path} are the same run; give each run once")
        seen[run_id] = path
        with sqlite.reading(run.ledger_path) as db:
            reports += [retention(db, panel(name), identity) for name in identity["panels"]]
    return family(reports)


def render(reports: Sequence[dict[str, Any]], form: str) -> str:
    """`json` (one document; several reports stand under `runs`), `text` (80 columns) or `md`."""
    if form == "json":
        return as_json(reports).decode()
    if form not in ("text", "md"):
        raise UsageError(f"unknown report format {form!r}; known: text, json, md")
    return "\n".join((as_text if form == "text" else as_markdown)(table) for table in tables(reports))


def as_json(reports: Sequence[dict[str, Any]]) -> bytes:
    document = reports[0] if len(reports) == 1 else {"runs": list(reports)}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
