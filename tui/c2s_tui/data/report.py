"""The report of a run, as `c2s report` makes it of the outcomes of this moment."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from c2s.errors import LedgerError
from c2s_tui.data.source import Source


@dataclass(frozen=True, slots=True)
class LengthPoint:
    """SCR of one domain at one target length; None where it is undefined."""

    panel: str
    domain: str
    length: str
    scr: float | None
    low: float | None
    high: float | None
    retained: int
    correct: int


@dataclass(frozen=True, slots=True)
class ReportView:
    """`text` is what `c2s report` prints, `points` the chart's."""

    text: str
    points: tuple[LengthPoint, ...]


def report(source: Source, cancelled: Callable[[], bool] = lambda: False) -> ReportView:
    """Made in a process of its own: a large run needs memory and time that the screen must not lose. Raises LedgerError."""
    with source.read():
        pass  # a run that cannot be read is named by a better message than a process can bring
    command = [sys.executable, "-m", "c2s_tui.data.report_process", str(source.path)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while True:
            try:
                out, said = process.communicate(timeout=0.1)
                break
            except subprocess.TimeoutExpired:
                if cancelled():
                    process.kill()
    if process.returncode:
        last = said.decode(errors="replace").strip().splitlines()
        raise LedgerError(last[-1] if last else f"the report of {source.path} did not come to an end")
    found = json.loads(out)
    return ReportView(found["text"], tuple(_points(found["document"])))


def _points(document: Mapping[str, Any]) -> Iterator[LengthPoint]:
    """From every panel that has its pair by length."""
    panels = document.get("panels") or {document.get("panel"): document, **document.get("used", {})}
    for name, panel in panels.items():
        for row in panel["sections"].get("by_length", {}).get("rows", ()):
            low, high = row["scr_interval"] or (None, None)
            retained, correct = row["scr_count"]
            yield LengthPoint(name, row["domain"], str(row["length"]), row["scr"], low, high, retained, correct)
