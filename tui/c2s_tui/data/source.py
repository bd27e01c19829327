"""One run directory as the TUI reads it: a connection per look, so that nothing is held and a deleted run is noticed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from c2s.errors import C2SError, LedgerError
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.runner.control import COMMANDS, CONTROL, write_command

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why something cannot be shown: one sentence."""

    message: str


class Source:
    """A run directory that may be growing, damaged, foreign, or gone by the next look."""

    def __init__(self, path: Path | str) -> None:
        self.run = RunDirectory(path)
        self.path = self.run.path

    @property
    def identity(self) -> dict[str, Any]:
        """What the manifest says the run is. Raises LedgerError."""
        identity: dict[str, Any] = self.run.manifest()[0]["identity"]
        return identity

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read-only connection for one look. Every statement is a transaction of its own unless the caller begins one."""
        RunDirectory.open(self.path)
        with sqlite.reading(self.run.ledger_path) as db:
            yield db

    def stamp(self) -> tuple[int, ...]:
        """Changes whenever something was written: sizes and times of the ledger, its log, the report and the control file."""
        found = []
        for name in ("ledger.sqlite", "ledger.sqlite-wal", "report.json", CONTROL):
            try:
                stat = os.stat(self.path / name)
                found += [stat.st_mtime_ns, stat.st_size]
            except OSError:
                found += [0, 0]
        return tuple(found)

    def written(self) -> float | None:
        """When the ledger last changed, seconds since the epoch."""
        times = []
        for name in ("ledger.sqlite", "ledger.sqlite-wal"):
            with suppress(OSError):
                times.append(os.stat(self.path / name).st_mtime)
        return max(times, default=None)

    def control(self) -> str | None:
        """The command in the control file, None without one or where it cannot be read."""
        try:
            command = json.loads((self.path / CONTROL).read_text())["command"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return command if command in COMMANDS else None

    def command(self, command: str) -> None:
        """Put a command before the runner: pause, go or stop. The only thing that is ever written. Raises LedgerError."""
        try:
            write_command(self.path, command)
        except OSError as error:
            raise LedgerError(f"cannot write in {self.path}: {error.strerror}") from None


def guarded(function: Callable[..., T], *args: Any, **named: Any) -> T | Trouble:
    """The result, or why there is none: whatever a file on disk can do to a reader ends as one sentence on the screen."""
    try:
        return function(*args, **named)
    except C2SError as error:
        return Trouble(str(error))
    except OSError as error:
        return Trouble(f"cannot read {error.filename or 'a file'}: {error.strerror or error}")
    except Exception as error:  # a file that only looks like a ledger can hold anything
        return Trouble(f"not readable as a run of c2s ({type(error).__name__}: {error})")
