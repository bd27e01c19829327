"""Answers of an earlier run, copied with their provenance: a stated act, never a cache."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from c2s.backends.base import Backend
from c2s.errors import UsageError
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.ledger.exchanges import exchange
from c2s.records import Slot


@dataclass(frozen=True, slots=True)
class Reused:
    """A recorded response and where it was first given (`run id/exchange number`)."""

    response: bytes
    origin: str
    http_status: int | None
    headers: str | None
    sent_at: float
    done_at: float | None


class Reuse:
    """Looks answers up in another run: same slot, same request bytes, answered, by a model with the same fingerprint."""

    def __init__(self, path: str, backend: Backend) -> None:
        run = RunDirectory.open(path)
        manifest, _ = run.manifest()
        identity = manifest["identity"]
        theirs: dict[str, Any] = {key: identity.get(key) for key in ("dialect", "wire_model", "fingerprint")}
        ours = {"dialect": backend.dialect, "wire_model": backend.model, "fingerprint": dict(backend.fingerprint)}
        if theirs != ours:
            differing = ", ".join(key for key in ours if ours[key] != theirs[key])
            raise UsageError(
                f"--reuse-from {path}: that run asked another model ({identity['model']}; differs in {differing}); nothing can be reused"
            )
        self.path = path
        self.copied = 0
        self._run_id = manifest["provenance"]["run_id"]
        self._stack = ExitStack()
        self._db = self._stack.enter_context(sqlite.reading(run.ledger_path))

    def __enter__(self) -> Reuse:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def answer(self, slot: Slot, body_sha256: str) -> Reused | None:
        """The recorded response to this slot, where its request had these bytes."""
        number = reader.answer_to(self._db, slot)
        if number is None:
            return None
        recorded = exchange(self._db, number)
        if recorded.body_sha256 != body_sha256 or recorded.response is None:
            return None
        self.copied += 1
        origin = recorded.origin or f"{self._run_id}/{recorded.id}"
        return Reused(recorded.response, origin, recorded.http_status, recorded.headers, recorded.sent_at, recorded.done_at)


class EarlierRuns:
    """Several runs, looked through in their order; open while its block runs."""

    def __init__(self, paths: Sequence[str], backend: Backend) -> None:
        with ExitStack() as opened:  # closes those that were opened where a later one is refused
            self.runs = [opened.enter_context(Reuse(path, backend)) for path in paths]
            self._stack = opened.pop_all()

    def __enter__(self) -> EarlierRuns:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def answer(self, slot: Slot, body_sha256: str) -> Reused | None:
        """The response of the first run that has one to this request."""
        return next((reused for run in self.runs if (reused := run.answer(slot, body_sha256)) is not None), None)
