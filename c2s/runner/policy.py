"""What the runner decides by itself, in one place; every member is an option of `c2s run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Policy:
    """`retries`: further sends of a request that was provably not processed (0: each is attempted once).

    `retry_malformed`: further sends after a response that breaks the protocol. `stop_after_errors`: so many requests in a row
    that end in error or unknown stop the run, resumable (0: never). `on_model_change`: what another returned model id does.
    """

    retries: int = 8
    retry_malformed: int = 0
    stop_after_errors: int = 25
    on_model_change: Literal["stop", "mark"] = "stop"


DEFAULT_POLICY = Policy()
