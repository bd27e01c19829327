"""stdout is data, stderr is talk."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from c2s.errors import UsageError
from c2s.reports.tables import literal


def json_out(value: Any) -> None:
    """One JSON document on stdout."""
    import orjson

    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())


def say(message: str) -> None:
    """One line of talk on stderr; whatever is in it is shown literally. Where nobody reads stderr any more, the line alone is lost."""
    with suppress(OSError):
        print(literal(message), file=sys.stderr, flush=True)


def new_file(name: str) -> Path:
    """A path that may be written; an existing file is never overwritten."""
    path = Path(name)
    if path.exists():
        raise UsageError(f"{path} exists already; give another file name")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: no folder {path.parent}")
    return path


def write_file(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
