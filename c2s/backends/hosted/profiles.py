"""Providers by name: where they are, where their key comes from, how fast they may be asked. `profiles.toml` lists the members."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from c2s.backends.usertables import layered
from c2s.errors import UsageError, nearest

USER_FILE = "~/.config/c2s/profiles.toml"


@dataclass(frozen=True, slots=True)
class Profile:
    """One provider. `base_url` is None where the user has to name the server."""

    name: str
    base_url: str | None = None
    base_url_env: str | None = None
    key_env: str | None = None
    key_command: str | None = None
    key_file: str | None = None
    workers: int | None = None
    starts_per_second: float | None = None
    tokens_per_second: float | None = None
    cap_usd: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


_TYPES = {
    "base_url": str, "base_url_env": str, "key_env": str, "key_command": str, "key_file": str, "workers": int,
    "starts_per_second": float, "tokens_per_second": float, "cap_usd": float, "headers": dict,
}  # fmt: skip


def load_profiles(file: str | None = None) -> dict[str, Profile]:
    """The shipped profiles with those of the user's file on top. Raises UsageError for an unreadable or unknown member."""
    where = {"what": "profiles", "named": file, "variable": "C2S_PROFILES", "usual": USER_FILE, "hint": "stands outside a [profile]"}
    table, path = layered(__package__, "profiles.toml", **where)
    return {name: _profile(name, members, path) for name, members in table.items()}


def _profile(name: str, members: Mapping[str, Any], path: Path) -> Profile:
    for key, value in members.items():
        if key not in _TYPES:
            raise UsageError(f"{path}: profile {name!r} has an unknown member {key!r}{nearest(key, list(_TYPES))}")
        kind = _TYPES[key]
        if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
            raise UsageError(f"{path}: {key} of profile {name!r} is not a {kind.__name__}")
        if kind in (int, float) and not value > 0:
            raise UsageError(f"{path}: {key} of profile {name!r} must be above zero")
    return Profile(name, **members)


def choose_profile(name: str | None, default: str, *, base_url: str | None, file: str | None) -> Profile:
    """The profile by name, else the default one; with another server named, the default's key alone is kept.

    A server that is not the default's has neither its limits nor its cap.
    """
    profiles = load_profiles(file)
    if name is not None:
        if name not in profiles:
            raise UsageError(f"unknown profile {name!r}{nearest(name, list(profiles))}; known: {', '.join(sorted(profiles))}")
        return profiles[name]
    chosen = profiles[default]
    moved = base_url or (chosen.base_url_env and os.environ.get(chosen.base_url_env))
    if moved and moved.rstrip("/") != chosen.base_url:
        return Profile(
            "server", base_url_env=chosen.base_url_env, key_env=chosen.key_env, key_command=chosen.key_command, key_file=chosen.key_file
        )
    return chosen
