"""Reading a user's files: bytes, and JSON Lines with the line of a fault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from c2s.errors import UsageError


def read_bytes(path: str | os.PathLike[str], what: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the {what} file {path}: {error.strerror}") from None


def json_lines(path: str | os.PathLike[str], what: str) -> Iterator[tuple[int, Any]]:
    """(line number, value) of every line that is not blank. UsageError for a line that is not JSON."""
    for line, text in enumerate(read_bytes(path, what).split(b"\n"), start=1):
        if text.strip():
            try:
                yield line, orjson.loads(text)
            except orjson.JSONDecodeError as error:
                raise UsageError(f"line {line} of {path} is not JSON: {error}") from None
