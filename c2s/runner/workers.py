"""Where a batch is carried out: in this thread, or in worker threads that only call the backend and post the results."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from c2s.backends.base import Backend, Call, Exchange

Result = tuple[Any, Exchange]


class Workers(Protocol):
    idle: int

    def submit(self, batch: Sequence[tuple[Any, Call]]) -> None: ...

    def results(self, timeout: float) -> list[Result]: ...

    def close(self) -> None: ...


class Inline:
    """For models that answer in microseconds or hold the interpreter anyway: one call per request for results."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._stream: Any = iter(())
        self._keys: deque[Any] = deque()
        self.idle = 1

    def submit(self, batch: Sequence[tuple[Any, Call]]) -> None:
        self.idle = 0
        self._keys = deque(key for key, _ in batch)
        self._stream = _guarded(self._backend, [call for _, call in batch])

    def results(self, timeout: float) -> list[Result]:
        """The next result; the runner looks at its clock and its stop flag between two of them."""
        exchange = next(self._stream, None) if self._keys else None
        if exchange is None:
            self.idle = 1
            return []
        key = self._keys.popleft()
        if not self._keys:
            self.idle = 1
        return [(key, exchange)]

    def close(self) -> None:
        pass


class Threads:
    """`backend.workers` daemon threads, one batch each at a time. A batch's last result says that its worker is free."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._work: queue.SimpleQueue[Sequence[tuple[Any, Call]] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Any, Exchange, bool]] = queue.SimpleQueue()
        self.idle = backend.workers
        for number in range(backend.workers):
            threading.Thread(target=self._serve, name=f"c2s-worker-{number}", daemon=True).start()

    def submit(self, batch: Sequence[tuple[Any, Call]]) -> None:
        self.idle -= 1
        self._work.put(batch)

    def results(self, timeout: float) -> list[Result]:
        """Everything that has arrived, waiting up to `timeout` seconds for the first."""
        results: list[Result] = []
        try:
            item = self._done.get(timeout=timeout)
            while True:
                key, exchange, last = item
                self.idle += last
                results.append((key, exchange))
                item = self._done.get_nowait()
        except queue.Empty:
            return results

    def close(self) -> None:
        """Let every thread end, those that are busy after what they are doing."""
        for _ in range(self._backend.workers):
            self._work.put(None)

    def _serve(self) -> None:
        while (batch := self._work.get()) is not None:
            exchanges = _guarded(self._backend, [call for _, call in batch])
            for number, ((key, _), exchange) in enumerate(
                zip(batch, exchanges, strict=False), start=1
            ):  # what a backend adds is not asked for
                self._done.put((key, exchange, number == len(batch)))


def _guarded(backend: Backend, calls: Sequence[Call]) -> Iterator[Exchange]:
    """The backend's exchanges; an exception of the backend itself becomes an error for every call that it left open."""
    count = 0
    try:
        for exchange in backend.call(calls):
            if not isinstance(exchange, Exchange):
                raise TypeError(f"the backend gave a {type(exchange).__name__}, not an Exchange")
            count += 1
            yield exchange
        failure = "the backend ended without an answer"
    except (Exception, SystemExit) as error:  # a fault of the adapter must not take the ledger or a worker down with it
        failure = f"{type(error).__name__}: {error}"
    for _ in calls[count:]:
        yield Exchange("error", message=failure)


def workers(backend: Backend) -> Workers:
    return Threads(backend) if backend.workers else Inline(backend)
