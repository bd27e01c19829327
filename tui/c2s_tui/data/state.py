"""What a run is doing right now: its lock, its control file, its counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from c2s.ledger.counters import run_state
from c2s_tui.data.source import Source


@dataclass(frozen=True, slots=True)
class RunState:
    """`name`: running, pausing, paused, interrupted, done or failed. `runner` is the process that holds the run, if one does.

    `why` is what the runner said when it failed or stopped.
    """

    name: str
    runner: str | None = None
    why: str | None = None

    @property
    def live(self) -> bool:
        return self.name in ("running", "pausing", "paused")


def state_of(source: Source, values: Mapping[str, str], requests: Mapping[str, int]) -> RunState:
    """The state as `c2s status` tells it from the values of the run table; a running one may be paused, or told to."""
    running = source.run.running()
    failure = values.get("failure") or None
    name = run_state(running, failure, requests)
    if not running:
        return RunState(name, None, failure or (values.get("stopped") or None if name == "interrupted" else None))
    if values.get("phase") == "paused":
        name = "paused"
    elif source.control() == "pause":
        name = "pausing"
    return RunState(name, source.run.runner())
