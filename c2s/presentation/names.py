"""Option names that hide, show or misstate which character an option stands for (A.5, D.11, E.6)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

NAMINGS = ("opaque", "remapped", "aligned", "conflicting")


def opaque_name(character: str) -> str:
    """`o_` and twelve hexadecimal digits: the same for a character everywhere, and it does not show which one."""
    return "o_" + hashlib.sha256(b"c2s-option-name\0" + character.encode()).hexdigest()[:12]


def readable_name(character: str) -> str:
    """A name that shows its character. It is longer than the bare character, which some servers hide."""
    return f"character_{character}"


def named(characters: list[str], naming: str, other: Mapping[str, str]) -> dict[str, str]:
    """Option name -> character, in the order of `characters`.

    `other` is a permutation without fixed points: remapped options carry the opaque name, and conflicting ones the readable
    name, of another character. What an option stands for is always its description.
    """
    name = opaque_name if naming in ("opaque", "remapped") else readable_name
    moved = naming in ("remapped", "conflicting")
    return {name(other[c] if moved else c): c for c in characters}
