"""Alphabet size x queried positions x branch placement on twelve-character reversals (appendix D.7, Figure 13, Table D8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c2s.banks.symbolic import BRANCHES, ENCODINGS, LONG_FILE, queried
from c2s.controllers.requests import ALPHABETS
from c2s.controllers.variants import presented
from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.presentation.texts import ours
from c2s.records import Parent
from c2s.sources.frozen_rows import FrozenParents

SYMBOLS = {10: ENCODINGS["letters"], 26: "".join(ALPHABETS["lexical"])}
CELLS = tuple((branch, choices, queries) for branch in BRANCHES for queries in (2, 6) for choices in SYMBOLS)
"""(branch, choices, queries) in the order of Table D8."""


def _build(row: Mapping[str, Any]) -> Parent:
    presentations = {
        branch: {
            "problem": ours("symbolic_reverse").format(source=row["source"]),
            "target": row["target"],
            "candidates": row["candidates"][branch],
            "alphabet": SYMBOLS[26],
        }
        for branch in BRANCHES
    }
    payload = {"source": row["source"], "target": row["target"], "stratum_of_bootstrap": "all", "presentations": presentations}
    return Parent(row["id"], "symbolic", row["length"], payload)


SOURCES = FrozenParents(LONG_FILE, "symbolic", _build, lambda row: 0)

FACTORS = Panel(
    name="factors",
    what="32 sources x 10 or 26 choices x 2 or 6 queries x early or late branches; Native shared by the four local arms",
    arms=(
        *(presented(whole(), branch) for branch in BRANCHES),
        *(
            presented(serial(symbols=SYMBOLS[choices], query=queried(branch, queries)), branch, f"{branch}_{choices}_{queries}")
            for branch, choices, queries in CELLS
        ),
    ),
    source=SOURCES,
    domains=("symbolic",),
    endpoints=(
        Endpoint("c2s.reports.choice.factors:cells", {"cells": CELLS}),
        Endpoint("c2s.reports.choice.factors:effects", {"cells": CELLS}),
    ),
    draws=9_999,
    seed=20261011,
    schedule="round:20261011",
    requires=("symbols",),
)
