"""The request texts of the two papers, from `contracts.toml`, byte-exact. Their source is named in that file."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from importlib import resources
from typing import Any


@functools.cache
def _raw() -> bytes:
    return resources.files(__package__).joinpath("contracts.toml").read_bytes()


@functools.cache
def contracts() -> dict[str, Any]:
    """The parsed texts; treat as read-only."""
    return tomllib.loads(_raw().decode())


def contracts_sha256() -> str:
    """Identity of the texts, stored in every manifest."""
    return hashlib.sha256(_raw()).hexdigest()


def natural(template: str, key: str) -> str:
    """An instruction of the natural tasks: template "v1".."v3", key "native", "independent", "serial", ..."""
    return contracts()["natural"][template][key]


def cue_contexts() -> dict[str, str]:
    """The four contexts of the cue proposals: three corrections of ordered pairs, and the guess (judge paper, E.1)."""
    found = contracts()["judge"]["cue_proposal"]
    corrections = {f"{a}/{b}": found["correction"].format(initial=a, corrected=b) for a, b in found["pairs"]}
    return corrections | {"guess": found["guess"]}
