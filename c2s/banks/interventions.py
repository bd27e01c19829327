"""What is chosen about a natural item before anything is asked: positions, one-error drafts, wrong targets, derangements.

Every choice is keyed by a fixed seed and the item's id, so it is frozen with the bank and no answer can change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.banks.keyed import Keyed
from c2s.banks.natural import Item

SEED = 20261008
DIGITS, LETTERS = "0123456789", "abcdefghijklmnopqrstuvwxyz"


def alphabet(item: Item) -> str:
    return DIGITS if item.domain == "math" else LETTERS


def prefix_intervention(item: Item) -> dict[str, Any]:
    """`position` from 2 to L, and `error_draft`: the gold prefix with one preceding character flipped (A.4)."""
    keyed = Keyed(SEED, "prefix intervention", item.id)
    position = 2 + keyed.below(item.length - 1)
    at = keyed.below(position - 1)
    other = keyed.pick([c for c in alphabet(item) if c != item.target[at]])
    prefix = item.target[: position - 1]
    return {"position": position, "error_at": at + 1, "error_draft": prefix[:at] + other + prefix[at + 1 :]}


def binding_position(item: Item) -> int:
    """The one position at which option names are rebound (D.11)."""
    return 1 + Keyed(SEED, "binding", item.id).below(item.length)


def wrong_target(item: Item, observed: Mapping[str, Any]) -> dict[str, Any]:
    """A supplied incorrect target: an observed wrong selection where an earlier run has one, else a constructed one (D.12).

    `observed` is {item: {"output", "model", "run"}}. `differences` counts the positions in which it differs from the target.
    """
    found = observed.get(item.id)
    source: dict[str, Any]
    if found is not None:
        target, source = found["output"], {"wrong_kind": "observed", "wrong_from": {"model": found["model"], "run": found["run"]}}
    else:
        target = Keyed(SEED, "wrong target", item.id).pick([c for c in item.candidates if c != item.target])
        source = {"wrong_kind": "constructed", "wrong_from": None}
    return {"wrong_target": target, "differences": sum(a != b for a, b in zip(target, item.target, strict=True))} | source


def derangement(characters: Sequence[str], *key: object) -> str:
    """The characters rearranged so that none stays in its place: one cycle through all of them in keyed order."""
    cycle = Keyed(SEED, "derangement", *key).shuffled(characters)
    after = dict(zip(cycle, cycle[1:] + cycle[:1], strict=True))
    return "".join(after[c] for c in characters)


def readout_record(target: str, characters: str, *key: object) -> dict[str, Any]:
    """One record of the single-position panel: a preselected position, and the permutation that rebinds names (A.5)."""
    position = 1 + Keyed(SEED, "readout", *key).below(len(target))
    return {"target": target, "position": position, "alphabet": characters, "other": derangement(characters, *key)}
