"""Filtered rows as CSV or JSON Lines: every value exactly as the ledger holds it, nothing escaped for a screen."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from c2s.ledger.pairs import Pair
from c2s_tui.data.items import ItemRow, Side

FORMATS = ("csv", "jsonl")


def record(row: ItemRow, pair: Pair) -> dict[str, Any]:
    """One flat row; the columns of the two arms carry their names."""
    return {
        "panel": row.panel,
        "item": row.name,
        "domain": row.domain,
        "length": row.length,
        "target": row.target,
        "transition": row.transition,
        **_side(pair.first, row.first),
        **_side(pair.second, row.second),
        "problem": row.problem,
    }


def _side(arm: str, side: Side) -> dict[str, Any]:
    return {
        f"{arm}_status": side.status,
        f"{arm}_output": side.output,
        f"{arm}_correct": side.correct,
        f"{arm}_first_wrong": side.first_wrong,
        f"{arm}_min_confidence": side.min_confidence,
    }


def write_rows(file: TextIO, rows: Iterable[dict[str, Any]], form: str) -> int:
    """Write them as they come; returns how many. A value that is absent is empty in CSV and null in JSON Lines."""
    if form == "jsonl":
        count = 0
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
        return count
    return _csv(file, iter(rows))


def _csv(file: TextIO, rows: Iterator[dict[str, Any]]) -> int:
    first = next(rows, None)
    if first is None:
        return 0
    writer = csv.DictWriter(file, list(first))
    writer.writeheader()
    writer.writerow(first)
    count = 1
    for row in rows:
        writer.writerow(row)
        count += 1
    return count
