"""The order in which requests leave, as one pure key per slot; smaller keys leave first.

    parent       parent by parent in plan order (the default: any prefix of a run is a balanced sample)
    round        by position: every parent's step 1, then every step 2, ...
    round:SEED   the same, with parents and conditions interleaved inside a round as below (Choice2Seq, D.6, D.7)
    hash:SEED    by SHA-256 of the compact JSON of [SEED, "interleave", request id] (judge study, appendix A.4)

Panels of one run follow one another in plan order. What is primary and what a duplicate is decided by the plan: replicate 0
is the primary, whatever leaves first.
"""

from __future__ import annotations

import hashlib
import json

from c2s.errors import UsageError
from c2s.records import Slot

Key = tuple[object, ...]


def request_id(slot: Slot) -> str:
    """`panel/parent/arm/step`, with `/repeatN` for instance N of the arm after the first. Orders depend on this text: it never changes."""
    return f"{slot.panel}/{slot.parent}/{slot.arm}/{slot.step}" + (f"/repeat{slot.instance}" if slot.instance else "")


def interleaving(seed: int, identity: str) -> str:
    """SHA-256, hexadecimal, of the compact UTF-8 JSON of [seed, "interleave", identity]."""
    text = json.dumps([seed, "interleave", identity], separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def slot_key(schedule: str, panel: int, ordinal: int, slot: Slot) -> Key:
    """The place of a slot. `panel` is the panel's place in the run and `ordinal` the parent's in the plan."""
    kind, _, seed = schedule.partition(":")
    if kind == "parent":
        return (panel, ordinal)
    if kind == "round":
        return (panel, slot.step, interleaving(int(seed), request_id(slot)) if seed else ordinal)
    if kind == "hash":
        return (panel, interleaving(int(seed), request_id(slot)))
    raise UsageError(f"unknown schedule {schedule!r}; known: parent, round, round:SEED, hash:SEED")
