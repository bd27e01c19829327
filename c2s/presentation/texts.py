"""The request texts of the two papers, from `contracts.toml`, byte-exact, and ours beside them."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from importlib import resources
from typing import Any


@functools.cache
def _raw(name: str = "contracts.toml") -> bytes:
    return resources.files(__package__).joinpath(name).read_bytes()


@functools.cache
def contracts() -> dict[str, Any]:
    """The parsed texts; treat as read-only."""
    return tomllib.loads(_raw().decode())


@functools.cache
def _ours() -> dict[str, str]:
    return tomllib.loads(_raw("ours.toml").decode())


def contracts_sha256() -> str:
    """Identity of all request texts, the papers' and ours, stored in every manifest."""
    return hashlib.sha256(_raw() + b"\0" + _raw("ours.toml")).hexdigest()


def natural(template: str, key: str) -> str:
    """An instruction of the natural tasks: template "v1".."v3", key "native", "independent", "serial", ..."""
    instruction: str = contracts()["natural"][template][key]
    return instruction


def cue_contexts() -> dict[str, str]:
    """The four contexts of the cue proposals: three corrections of ordered pairs, and the guess (judge paper, E.1)."""
    found = contracts()["judge"]["cue_proposal"]
    corrections = {f"{a}/{b}": found["correction"].format(initial=a, corrected=b) for a, b in found["pairs"]}
    return corrections | {"guess": found["guess"]}


def ours(key: str) -> str:
    """A text that the papers describe and do not print (`ours.toml`)."""
    return _ours()[key]
