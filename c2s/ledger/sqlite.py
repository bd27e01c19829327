"""Opening the ledger: one writer, any number of readers, and a clear word about a file that is not a ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from c2s.errors import LedgerError
from c2s.ledger.migrations import FIRST, migrate, show
from c2s.ledger.schema import APPLICATION_ID, TABLES, VERSION


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as LedgerErrors that say which file and what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        safe = f"what was committed is safe; repair that, then: c2s resume {path.parent}"
        if name == "SQLITE_FULL":
            raise LedgerError(
                f"{path}: the disk is full; what was committed is safe; free some space, then: c2s resume {path.parent}"
            ) from error
        if name.startswith(("SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            raise LedgerError(f"{path} cannot be used: {error}; {safe}") from error
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise LedgerError(f"{path} is locked by another program that writes to it; {safe}") from error
        raise LedgerError(f"{path} is damaged or no ledger: {error}; nothing was changed") from error


def create(path: Path) -> sqlite3.Connection:
    """A new, empty ledger, unsynchronised and without a journal: it is put in its place only when the plan is complete."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={VERSION};" + TABLES
    )
    return connection


def open_writer(path: Path, *, durable: bool, manifest_sha256: str) -> sqlite3.Connection:
    """The one writing connection, on a ledger of the present schema. `durable`: every commit reaches the disk.

    Raises LedgerError, before anything is changed, unless the ledger was planned with the manifest that has this hash.
    """
    with translated(path), ExitStack() as closing:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        closing.callback(connection.close)
        version = check(connection, path)
        row = connection.execute("SELECT value FROM run WHERE key = 'manifest_sha256'").fetchone()
        if row is None or row[0] != manifest_sha256:
            raise LedgerError(
                f"{path} does not belong to the manifest beside it: one of the two was replaced or edited; nothing was changed"
            )
        connection.execute("PRAGMA journal_mode=WAL")  # before migrating: readers go on with what was committed, also after a crash
        migrate(connection, version)
        connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        connection.execute("PRAGMA wal_autocheckpoint=2000")
        closing.pop_all()
        return connection


def close_writer(connection: sqlite3.Connection, path: Path) -> None:
    """Fold the write-ahead log into the file, so that it can be read from a read-only folder, and close."""
    with translated(path):
        with suppress(sqlite3.OperationalError):  # a reader is looking: the log stays beside the file, which is as good
            connection.execute("PRAGMA journal_mode=DELETE")
        connection.close()


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection, on which a ledger of an earlier schema looks like one of the present.

    From a folder where SQLite cannot work, and where a crash left a journal that only a writer may roll back, the files are read from
    a private copy. A ledger that another program holds locked is not copied: it could be half written.
    """
    with translated(path), ExitStack() as stack:
        connection = _read_only(path)
        try:
            version = check(connection, path)
        except sqlite3.OperationalError as error:
            connection.close()
            if (error.sqlite_errorname or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise
            connection = sqlite3.connect(_copied(path, stack), isolation_level=None, timeout=10)  # may roll its own journal back
            version = check(connection, path)
        try:
            show(connection, version)
            yield connection
            if version < VERSION:
                _unchanged(connection, path, version)
        finally:
            connection.close()


def _copied(path: Path, stack: ExitStack) -> Path:
    """A private copy of a ledger with its write-ahead log and its rollback journal, until `stack` closes."""
    import shutil
    import tempfile

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="c2s-")))
    for suffix in ("", "-wal", "-journal"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            shutil.copyfile(source, folder / source.name)
    return folder / path.name


def _unchanged(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Views of an older schema give wrong rows once a writer has migrated the tables below them."""
    if check(connection, path) != version:
        raise LedgerError(f"{path} was brought to the present schema while it was read; read it again")


def attach(connection: sqlite3.Connection, path: Path) -> None:
    """Read a second ledger on a reader's connection: its tables are views named other_parents, other_outcomes, and so on."""
    with translated(path):
        connection.execute("ATTACH ? AS other", (path.absolute().as_uri() + "?mode=ro",))
        show(connection, check(connection, path, "other"), "other")


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, isolation_level=None, timeout=10)


def check(connection: sqlite3.Connection, path: Path, ledger: str = "main") -> int:
    """The schema version. Raises LedgerError for a foreign file, a number that no schema has, or a ledger from the future."""
    (application,) = connection.execute(f"PRAGMA {ledger}.application_id").fetchone()
    (version,) = connection.execute(f"PRAGMA {ledger}.user_version").fetchone()
    connection.execute(f"SELECT 1 FROM {ledger}.sqlite_master LIMIT 1").fetchone()
    if application != APPLICATION_ID:
        raise LedgerError(f"{path} is not a c2s ledger; nothing was changed")
    if version > VERSION:
        raise LedgerError(f"{path} was written by a newer c2s (schema {version}, this one knows {VERSION}); upgrade c2s")
    if version < FIRST:
        raise LedgerError(f"{path} is damaged: it names schema {version}, and no c2s ever wrote one below {FIRST}; nothing was changed")
    return int(version)
