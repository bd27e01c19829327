"""Data files: parents built from publishers' files on the user's machine, in one frozen JSON Lines file (`c2s data`).

A header line names the kind (which panels can read it), the bank's id and the hash of the rows; then one row per parent.
The repository ships only sets of our own in this format.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from c2s.errors import BankError, UsageError

SHIPPED = Path(__file__).with_name("data")
"""The folder of the data files that ship with c2s."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file that has been read and whose rows have the hash in its header."""

    kind: str
    id: str
    sha256: str
    """Of the whole file; it enters the run's identity."""
    header: Mapping[str, Any]
    rows: tuple[dict[str, Any], ...]


def data_bytes(kind: str, id: str, rows: Iterable[Mapping[str, Any]], facts: Mapping[str, Any]) -> bytes:
    """The bytes of a data file: sorted keys, one line per row, `facts` (settings, accounting) in the header."""
    body = b"".join(orjson.dumps(dict(row), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE) for row in rows)
    header = {"kind": kind, "id": id, "rows": body.count(b"\n"), "rows_sha256": sha256(body).hexdigest(), **facts}
    return orjson.dumps(header, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE) + body


def load_data(path: str | os.PathLike[str], kind: str | None = None) -> DataFile:
    """Read and check a data file. UsageError if it cannot be read or is of another kind, BankError if it is damaged."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the data file {path}: {error.strerror}; build one with `c2s data`") from None
    first, _, body = data.partition(b"\n")
    try:
        header = orjson.loads(first)
        found, id, expected = str(header["kind"]), str(header["id"]), header["rows_sha256"]
    except (orjson.JSONDecodeError, TypeError, KeyError):
        raise BankError(f"{path} is not a c2s data file: its first line is no header; build one with `c2s data`") from None
    if sha256(body).hexdigest() != expected:
        raise BankError(f"{path} is damaged: its rows do not have the hash in its header; build it again with `c2s data`")
    if kind is not None and found != kind:
        raise UsageError(f"{path} holds {found} data, not {kind} data")
    try:
        rows = tuple(orjson.loads(line) for line in body.splitlines())
        ids = [row["id"] for row in rows]
    except (orjson.JSONDecodeError, TypeError, KeyError):
        raise BankError(f"{path} is damaged: a line is no row with an id; build it again with `c2s data`") from None
    if len(set(ids)) != len(ids):
        twice = next(i for i in ids if ids.count(i) > 1)
        raise BankError(f"{path} holds the id {twice!r} twice: give every row its own id")
    return DataFile(found, id, sha256(data).hexdigest(), header, rows)
