"""A run directory as files: its manifest, its lock, and what they tell without opening the ledger."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from c2s.errors import LedgerError, UsageError

MANIFEST, LEDGER, REPORT, LOCK = "manifest.json", "ledger.sqlite", "report.json", "runner.lock"

MEMBERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "identity": ("required", ("object",)),
    "identity.panels": ("required", ("list of texts",)),
    "identity.asked": ("optional", ("list of texts",)),
    "identity.model": ("required", ("text",)),
    "identity.dialect": ("required", ("text",)),
    "identity.wire_model": ("required", ("text",)),
    "identity.fingerprint": ("required", ("object",)),
    "identity.settings": ("required", ("object",)),
    "identity.items_sha256": ("required", ("text",)),
    "identity.contracts_sha256": ("required", ("text",)),
    "provenance": ("required", ("object",)),
    "provenance.run_id": ("required", ("text",)),
    "provenance.versions": ("optional", ("object",)),
    "provenance.backend_options": ("optional", ("object",)),
    "provenance.price": ("optional", ("object", "null")),
    "provenance.reuse_from": ("optional", ("text", "list of texts", "null")),
    "provenance.plugins": ("optional", ("object",)),
}
"""The members of a manifest that are read, whether one must be there, and what it may be. Manifests of every version have these."""

DEPTH = 64
"""How many levels of objects and lists a manifest may have; a real one has fewer than ten."""


class RunDirectory:
    """Paths of one run. Creating it refuses an existing path, so that nothing is ever mixed into an older run."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.manifest_path = self.path / MANIFEST
        self.ledger_path = self.path / LEDGER
        self.report_path = self.path / REPORT

    @classmethod
    def create(cls, path: Path | str) -> RunDirectory:
        run = cls(path)
        try:
            run.path.parent.mkdir(parents=True, exist_ok=True)
            run.path.mkdir()
        except FileExistsError:
            cls.refuse_existing(path)
            raise UsageError(f"cannot create {run.path}: part of the path is a file; choose another path for the run (out)") from None
        except OSError as error:
            raise UsageError(f"cannot create {run.path}: {error.strerror}") from None
        return run

    @staticmethod
    def refuse_existing(path: Path | str) -> None:
        """Raises UsageError where there is something at the path of a new run."""
        if not os.path.lexists(path):
            return
        if not os.path.isdir(path):
            raise UsageError(f"{path} is a file; choose another path for the run (out)")
        go_on = f", or go on with that run: c2s resume {path}" if os.path.isfile(os.path.join(path, MANIFEST)) else ""
        raise UsageError(f"{path} exists already; choose another path for the run (out){go_on}")

    @classmethod
    def open(cls, path: Path | str) -> RunDirectory:
        """An existing run. Raises LedgerError if the path is not one."""
        run = cls(path)
        try:
            if not run.path.is_dir():
                raise LedgerError(f"{run.path} is not a run directory: no such folder")
            for file in (run.manifest_path, run.ledger_path):
                if not file.is_file():
                    begun = (
                        " (either its planning was interrupted before anything was sent, or the ledger was moved or deleted since: then "
                        "only bringing it back tells what was sent)"
                        if run.manifest_path.is_file()
                        else ""
                    )
                    raise LedgerError(f"{run.path} is not a run directory: it has no {file.name}{begun}")
        except PermissionError:
            raise LedgerError(f"{run.path} cannot be read: permission denied") from None
        return run

    def write_manifest(self, manifest: Mapping[str, Any]) -> str:
        """Write it once, durably; returns its SHA-256."""
        import hashlib

        import orjson

        data = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        write_durably(self.manifest_path, data)
        return hashlib.sha256(data).hexdigest()

    def manifest(self) -> tuple[dict[str, Any], str]:
        """The manifest and its SHA-256. Raises LedgerError if it cannot be read."""
        import hashlib

        manifest, data = self._read_manifest()
        return manifest, hashlib.sha256(data).hexdigest()

    def facts(self) -> dict[str, Any]:
        """The manifest alone, for those who only show it. Raises LedgerError if it cannot be read."""
        return self._read_manifest()[0]

    def _read_manifest(self) -> tuple[dict[str, Any], bytes]:
        try:
            data = self.manifest_path.read_bytes()
            manifest = json.loads(data)
        except OSError as error:
            raise LedgerError(f"cannot read {self.manifest_path}: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise LedgerError(f"{self.manifest_path} is damaged: it is not the JSON of a c2s manifest") from None
        if (damage := _damage(manifest)) is not None:
            raise LedgerError(f"{self.manifest_path} is damaged: {damage}")
        return manifest, data

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for one runner. Raises LedgerError naming the other one if there is one."""
        path = self.path / LOCK
        try:
            file = open(path, "a+")  # noqa: SIM115  only opening it is tried; it is closed below
        except OSError as error:
            raise LedgerError(f"cannot write in {self.path}: {error.strerror}") from None
        with file:
            for attempt in range(5):  # a reader that asks `running()` holds it for an instant
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    if attempt == 4:
                        holder = self.runner() or "another process"
                        raise LedgerError(f"{self.path} is being run by {holder}; wait for it or stop it") from None
                    time.sleep(0.05)
            import socket

            file.seek(0)
            file.truncate()
            file.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
            file.flush()
            yield

    def running(self) -> bool:
        """Whether a live process holds the run on this machine."""
        try:
            with open(self.path / LOCK) as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def runner(self) -> str | None:
        """`pid N on HOST` of the process that holds or last held the run."""
        try:
            holder = json.loads((self.path / LOCK).read_text())
            return f"pid {int(holder['pid'])} on {holder['host']}"
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _damage(manifest: object) -> str | None:
    """What is wrong with the members of a manifest, as the end of a sentence; None where nothing is."""
    if not isinstance(manifest, dict):
        return "it is not the JSON of a c2s manifest"
    level: list[Any] = [manifest]
    for _ in range(DEPTH):
        inside = [value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)]
        level = [part for parts in inside for part in parts]
    if level:
        return f"it has more than {DEPTH} levels"
    for member, (presence, allowed) in MEMBERS.items():
        above, _, name = member.rpartition(".")
        holder = manifest[above] if above else manifest
        if name not in holder:
            if presence == "required":
                return f"{member} is missing"
        elif not any(_is(kind, holder[name]) for kind in allowed):
            return f"{member} is no {' or '.join(kind for kind in allowed if kind != 'null')}"
    return None


def _is(kind: str, value: object) -> bool:
    if kind == "list of texts":
        return isinstance(value, list) and all(isinstance(part, str) for part in value)
    if kind == "null":
        return value is None
    return isinstance(value, dict if kind == "object" else str)


def write_durably(path: Path, data: bytes) -> None:
    """Replace a file whole: readers see the old or the new bytes, also after a crash."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable: a file that is synchronised under a name that is not can still be lost."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
