"""Providers by name: their address, where their key comes from, how fast they may be asked. `profiles.toml` lists the members."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from c2s.backends.usertables import user_tables
from c2s.errors import UsageError, nearest
from c2s.options import POSITIVE
from c2s.toml_files import NOT_IN_FILES, ranged

USER_FILE = "~/.config/c2s/profiles.toml"


@dataclass(frozen=True, slots=True)
class Profile:
    """One provider. `base_url` is None where the user has to name the server."""

    name: str = field(metadata=NOT_IN_FILES)
    base_url: str | None = None
    base_url_env: str | None = None
    key_env: str | None = None
    key_command: str | None = None
    key_file: str | None = None
    workers: int | None = field(default=None, metadata=ranged(POSITIVE))
    starts_per_second: float | None = field(default=None, metadata=ranged(POSITIVE))
    tokens_per_second: float | None = field(default=None, metadata=ranged(POSITIVE))
    cap_usd: float | None = field(default=None, metadata=ranged(POSITIVE))
    headers: Mapping[str, str] = field(default_factory=dict)


def load_profiles(file: str | None = None) -> dict[str, Profile]:
    """The shipped profiles with those of the user's file on top. Raises UsageError for an unreadable file or an unknown member."""
    tables, _ = user_tables(Profile, __package__, "profiles.toml", what="profiles", named=file, variable="C2S_PROFILES", usual=USER_FILE)
    return {name: Profile(name, **members) for name, members in tables.items()}


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
