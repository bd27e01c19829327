"""COPY and REVERSE of the same sources in digits and in letters (3.2, A.5, B.4, Figure 5a)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c2s.banks.symbolic import ENCODINGS, ISOMORPHIC_FILE, OPERATIONS, apply, encoded
from c2s.controllers.variants import presented
from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.presentation.texts import ours
from c2s.records import Parent
from c2s.sources.frozen_rows import FrozenParents


def variant(operation: str, encoding: str) -> str:
    """The name of a base's form under one operation and one encoding."""
    return f"{operation}_{encoding}"


PRESENTATIONS = tuple(variant(operation, encoding) for encoding in ENCODINGS for operation in OPERATIONS)


def _build(row: Mapping[str, Any]) -> Parent:
    """Four presentations of a base, six where it has the second mapping; stored orders match across encodings."""
    presentations = {}
    for encoding in ENCODINGS:
        if encoding != "second" or row["second"]:
            for operation in OPERATIONS:
                source = encoded(row["source"], encoding)
                presentations[variant(operation, encoding)] = {
                    "problem": ours(f"symbolic_{operation}").format(source=source),
                    "target": apply(operation, source),
                    "candidates": [encoded(c, encoding) for c in row["candidates"][operation]],
                    "alphabet": ENCODINGS[encoding],
                }
    payload = {
        "source": row["source"],
        "target": row["source"],
        "second": row["second"],
        "stratum_of_bootstrap": f"{row['length']}-{'repeated' if row['repeated'] else 'unique'}-{row['profile']}",
        "presentations": presentations,
    }
    return Parent(row["id"], "symbolic", row["length"], payload)


BASES = FrozenParents(ISOMORPHIC_FILE, "symbolic", _build, lambda row: (row["length"], row["repeated"], row["profile"]))

ISOMORPHIC = Panel(
    name="isomorphic",
    what="120 bases x COPY/REVERSE x digits/letters, Native and Serial; twelve bases under a second mapping",
    arms=tuple(
        presented(arm, variant(operation, encoding), operation=operation, encoding=encoding)
        for encoding in ENCODINGS
        for operation in OPERATIONS
        for arm in (whole(), serial())
    ),
    source=BASES,
    domains=("symbolic",),
    endpoints=(
        Endpoint("c2s.reports.retained:by_presentation", {"presentations": PRESENTATIONS, "source": "B.4"}),
        Endpoint("c2s.reports.choice.isomorphic:letters_minus_digits", {"operations": OPERATIONS}),
    ),
    requires=("symbols",),
)
