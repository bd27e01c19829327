"""What a caller sees of a run while it goes on, and how it stops one: progress reports, stop tokens, Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Protocol, runtime_checkable

from c2s.errors import UsageError
from c2s.runner.execute import Runner
from c2s.runner.progress import Tally

REPORT_SECONDS = 0.1
"""How often a caller's progress function is called at most."""
NAMED = 5
"""How many different failures are reported by message; the others are events of the run."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. The last report of a sitting is `final`.

    `states` counts requests by state (planned, reserved, sent, ok, error, unknown, blocked, not_needed); `transitions` counts items by
    (panel, domain, transition). `answered` is the number of responses of this sitting, `seconds` its time, `usd` the money settled and
    held by the run so far. `phase` says why nothing is sent just now, or is empty. `message` is something that happens once, such as a
    panel that the model cannot do; such a report repeats the other values. `path` is the run directory, once there is one.
    """

    states: Mapping[str, int] = field(default_factory=dict)
    transitions: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    panels: tuple[str, ...] = ()
    answered: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    phase: str = ""
    message: str = ""
    path: Path | None = None
    final: bool = False

    @property
    def requests(self) -> int:
        """All requests of the plan."""
        return sum(self.states.values())

    @property
    def open(self) -> int:
        """Requests that are not settled yet."""
        return sum(self.states.get(state, 0) for state in ("planned", "reserved", "sent"))


@runtime_checkable
class StopToken(Protocol):
    """Anything with `is_set`, such as `threading.Event`. Once it is set, nothing new is sent and what is under way is waited for if
    it is paid for (else it is given up, and asked again by `resume`). A number above 1 gives up what is under way, too."""

    def is_set(self) -> int: ...


def check_callers(progress: object, stop: object) -> None:
    """Raises UsageError where `progress` cannot be called or `stop` has no `is_set`, before anything is made or sent."""
    if progress is not None and not callable(progress):
        raise UsageError(f"progress is a function that takes one c2s.Progress, not {progress!r}")
    if stop is not None and (isinstance(stop, type) or not isinstance(stop, StopToken) or not callable(stop.is_set)):
        raise UsageError(f"stop is an object with a method is_set, such as threading.Event(), not {stop!r}")


class Watch:
    """Stands between a runner and its caller: calls the progress function, asks the stop token.

    What the caller's functions raise stops the run in order and is raised when everything that arrived is kept (`raise_failure`).
    """

    def __init__(self, progress: Callable[[Progress], object] | None = None, stop: StopToken | None = None) -> None:
        self.runner: Runner | None = None
        self.failure: Exception | None = None
        self.latest = Progress()
        self._progress, self._stop = progress, stop
        self._called = 0.0
        self._named = 0

    def begin(self, path: Path, panels: tuple[str, ...]) -> None:
        self.latest = replace(self.latest, path=path, panels=panels)

    def note(self, message: str) -> None:
        """Report something that happens once."""
        self._report(replace(self.latest, message=message))

    def __call__(self, tally: Tally, final: bool = False) -> None:
        self._look()
        while self._named < min(NAMED, len(tally.failures)):
            self.note(f"failed: {list(tally.failures.values())[self._named] or 'no reason is known'}")
            self._named += 1
        now = time.monotonic()
        if self._progress is None or (not final and tally.phase == self.latest.phase and now - self._called < REPORT_SECONDS):
            return
        self._called = now
        self.latest = replace(
            self.latest,
            states=dict(tally.states),
            transitions=dict(tally.transitions),
            answered=tally.asked,
            seconds=now - tally.started,
            usd=tally.usd,
            phase=tally.phase,
            final=final,
        )
        self._report(self.latest)

    def raise_failure(self) -> None:
        """Raise what a function of the caller raised, if one did."""
        if self.failure is not None:
            raise self.failure

    def _look(self) -> None:
        if self.runner is None or self._stop is None or self.failure is not None:
            return
        try:
            wanted = int(self._stop.is_set())
        except Exception as error:
            self._failed(error)
            return
        while self.runner.stopping < min(wanted, 2):
            self.runner.stop()

    def _report(self, progress: Progress) -> None:
        if self._progress is None or self.failure is not None:
            return
        try:
            self._progress(progress)
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self.failure = self.failure or error
        if self.runner is not None and not self.runner.stopping:
            self.runner.stop()


class Signals:
    """A stop token that signals set, while its block runs: the first one stops in order, a second one gives up what is under way.

    Handlers belong to the main thread; in another thread nothing is changed. A hangup that is ignored (nohup) stays ignored. Before
    anybody asks the token, a signal interrupts at once.
    """

    def __init__(self, *numbers: signal.Signals) -> None:
        self.count = 0
        self._asked = False
        self._numbers = numbers if threading.current_thread() is threading.main_thread() else ()
        self._previous: dict[signal.Signals, Callable[[int, FrameType | None], object] | int] = {}

    def is_set(self) -> int:
        self._asked = True
        return self.count

    def __enter__(self) -> Signals:
        for number in self._numbers:
            handler = signal.getsignal(number)
            if handler is not None and not (number == signal.SIGHUP and handler == signal.SIG_IGN):
                self._previous[number] = handler
                signal.signal(number, self._receive)
        return self

    def __exit__(self, *failure: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if not self._asked:
            raise KeyboardInterrupt


class AnyOf:
    """A stop token that is set when one of several is."""

    def __init__(self, *tokens: StopToken) -> None:
        self._tokens = tokens

    def is_set(self) -> int:
        return max((int(token.is_set()) for token in self._tokens), default=0)
