"""Tables that ship with c2s and that a user's own TOML file adds to or changes member by member: providers, prices."""

from __future__ import annotations

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from c2s.toml_files import TomlFile, layered


def user_tables(
    cls: type[Any], package: str, shipped: str, *, what: str, named: str | None, variable: str, usual: str
) -> tuple[dict[str, dict[str, Any]], TomlFile | None]:
    """Members of dataclass `cls` by name, the shipped table with the user's on top; and the user's file, where there is one.

    The file is the `named` one, that of the environment `variable`, or the `usual` one. A file that was named must exist, the usual one
    may. Raises UsageError that names file, line and key.
    """
    table: dict[str, Any] = tomllib.loads(resources.files(package).joinpath(shipped).read_text())
    named = named or os.environ.get(variable)
    path = Path(named or usual).expanduser()
    file = TomlFile(path, what) if named or path.is_file() else None
    return layered(cls, table, file), file
