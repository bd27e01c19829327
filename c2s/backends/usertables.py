"""Tables that ship with c2s and that a user's own TOML file adds to or changes member by member: providers, prices."""

from __future__ import annotations

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from c2s.errors import UsageError


def layered(
    package: str, shipped: str, *, what: str, named: str | None, variable: str, usual: str, hint: str
) -> tuple[dict[str, Any], Path]:
    """The shipped table with the user's entries on top, and the path of the user's file.

    That is the `named` file, else the one that the environment `variable` names, else the `usual` one.

    A file that was named must exist, the usual one may. Raises UsageError, with `hint` for a value outside a table.
    """
    table: dict[str, Any] = tomllib.loads(resources.files(package).joinpath(shipped).read_text())
    named = named or os.environ.get(variable)
    path = Path(named or usual).expanduser()
    if not named and not path.is_file():
        return table, path
    try:
        own = tomllib.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"cannot read the {what} in {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    for name, members in own.items():
        if not isinstance(members, dict):
            raise UsageError(f"{path}: {name!r} {hint}")
        table[name] = table.get(name, {}) | members
    return table, path
