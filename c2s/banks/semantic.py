"""Semantic fact records: three Booleans each, written as sentences, answered as named fields or as a binary string (A.5, B.4).

Sixteen scenarios under each of the eight patterns give 128 records. The sentences are ours; they are shown in keyed order, which
is not the order of the fields, so that neither output can be read off from places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from c2s.banks.datafile import SHIPPED, data_bytes
from c2s.banks.keyed import Keyed

SEED = 20261012
SEMANTIC_FILE = SHIPPED / "semantic-v1.jsonl"

SCENARIOS = {
    "parcel": ("fragile", "insured", "urgent"),
    "room": ("heated", "furnished", "occupied"),
    "meal": ("vegetarian", "spicy", "salted"),
    "train": ("delayed", "direct", "crowded"),
    "book": ("illustrated", "translated", "borrowed"),
    "car": ("electric", "rented", "damaged"),
    "garden": ("fenced", "shaded", "watered"),
    "ticket": ("refundable", "reserved", "discounted"),
    "machine": ("calibrated", "portable", "locked"),
    "letter": ("signed", "sealed", "dated"),
    "lamp": ("dimmable", "wireless", "foldable"),
    "coat": ("waterproof", "lined", "hooded"),
    "bridge": ("lit", "tolled", "closed"),
    "meeting": ("recorded", "public", "postponed"),
    "phone": ("charged", "muted", "protected"),
    "bottle": ("full", "labelled", "recycled"),
}
"""A thing and its three fields: "The parcel is fragile. It is not insured."."""

PATTERNS = tuple(f"{n:03b}" for n in range(8))


def semantic_rows(seed: int = SEED) -> Iterator[dict[str, Any]]:
    """128 records, 16 per pattern; `pattern` is the truth of the fields in their order."""
    for pattern in PATTERNS:
        for thing, fields in SCENARIOS.items():
            name = f"fact-{pattern}-{thing}"
            keyed = Keyed(seed, "semantic", name)
            order = keyed.shuffled(range(3))
            subjects = [f"The {thing}", "It", "It"]
            facts = [f"{subject} is {'' if pattern[i] == '1' else 'not '}{fields[i]}." for subject, i in zip(subjects, order, strict=True)]
            yield {
                "id": name,
                "thing": thing,
                "pattern": pattern,
                "fields": list(fields),
                "facts": " ".join(facts),
                "candidate_order": keyed.shuffled(range(8)),
            }


def named_output(fields: Sequence[str], pattern: str) -> str:
    """`fragile=true; insured=false; urgent=true`."""
    return "; ".join(f"{field}={'true' if bit == '1' else 'false'}" for field, bit in zip(fields, pattern, strict=True))


def semantic_bytes() -> bytes:
    return data_bytes("semantic", "semantic-v1", semantic_rows(), {"seed": SEED})


FILES = {SEMANTIC_FILE: semantic_bytes}
"""Every frozen file of this module and how its bytes are made."""
