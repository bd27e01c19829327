"""The same facts as named Boolean fields and as a binary string (A.5, B.4, Tables 2, B2 and D15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from c2s.banks.semantic import PATTERNS, SEMANTIC_FILE, named_output
from c2s.controllers.semantic import serial_decisions
from c2s.controllers.variants import presented
from c2s.controllers.whole_and_local import whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.presentation.texts import ours
from c2s.records import Parent
from c2s.sources.frozen_rows import FrozenParents

PRESENTATIONS = ("named", "binary")


def _build(row: Mapping[str, Any]) -> Parent:
    fields, pattern = row["fields"], row["pattern"]
    outputs: dict[str, Callable[[str], str]] = {"named": lambda p: named_output(fields, p), "binary": lambda p: p}
    shared: dict[str, dict[str, Any]] = {
        "named": {
            "unit": "field",
            "joiner": "; ",
            "pieces": [{"true": f"{field}=true", "false": f"{field}=false"} for field in fields],
            "answers": ["true" if bit == "1" else "false" for bit in pattern],
        },
        "binary": {"unit": "character", "joiner": "", "pieces": [{"1": "1", "0": "0"}] * 3, "answers": list(pattern)},
    }
    presentations = {
        name: shared[name]
        | {
            "problem": ours(f"semantic_{name}").format(facts=row["facts"], fields=", ".join(fields)),
            "target": outputs[name](pattern),
            "candidates": [outputs[name](PATTERNS[i]) for i in row["candidate_order"]],
        }
        for name in PRESENTATIONS
    }
    return Parent(row["id"], "semantic", 3, {"target": pattern, "stratum_of_bootstrap": pattern, "presentations": presentations})


RECORDS = FrozenParents(SEMANTIC_FILE, "semantic", _build, lambda row: row["pattern"])

SEMANTIC = Panel(
    name="semantic",
    what="128 fact records as named fields and as binary strings, Native and Serial",
    arms=tuple(presented(arm, name) for name in PRESENTATIONS for arm in (whole(), serial_decisions())),
    source=RECORDS,
    domains=("semantic",),
    pair=("native_named", "serial_named"),
    endpoints=(
        Endpoint("c2s.reports.retained:by_presentation", {"presentations": PRESENTATIONS, "source": "Table B2"}),
        *retention(only=("accuracy", "mcnemar"), in_json=("accuracy",)),
    ),
    requires=("symbols",),
)
