"""What every model offers the runner: one attempt per call, and its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from c2s.records import Ask, Parent, Request, Slot

Verdict = Literal["ok", "not_processed", "error", "lost"]
Cause = Literal["connect", "busy", "quota", "refused"]


DECIDES: Mapping[str, str] = {
    "text": "this model only chooses among options",
    "continuation": "this model only chooses among options",
    "tokenizer": "this model has no tokenizer that could be asked",
}
"""What a model that decides lacks for the panels of models that write text."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way: its slot and parent, what is asked (simulated models read the truth) and its exact bytes."""

    slot: Slot
    parent: Parent
    ask: Ask
    body: bytes

    @property
    def request(self) -> Request:
        """What is asked, without what the ask says beside it."""
        return self.ask.request


@dataclass(frozen=True, slots=True)
class Exchange:
    """The result of one attempt.

    `ok`: a whole response body arrived. `not_processed`: by the protocol the request was not processed, and it may be sent again
    after `wait` seconds. `error`: a final refusal. `lost`: the request was sent and no whole response arrived.
    `cause` is the kind of a failure: no connection, a busy server, an exhausted quota, a refused key. `began` and
    `ended` are the attempt's own times (seconds since the epoch), without any waiting in c2s. Failures with the same `fault` are
    reported once, whatever their messages say of a single request; without it, those with the same message.
    """

    verdict: Verdict
    raw: bytes | None = None
    message: str | None = None
    http_status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float | None = None
    cause: Cause | None = None
    began: float | None = None
    ended: float | None = None
    fault: str | None = None


class Backend(Protocol):
    """A model. `call` blocks and yields one exchange per call, in order, as they finish; it never raises for a model's fault.

    `resend`: "safe" if asking again costs nothing and changes nothing, else "paid". `exact`: an answer depends on
    nothing but its request (of local weights in float32: the choice; its probabilities agree to 1e-4). `max_batch` calls are handed over
    at once; `workers` threads do so, 0 means inline.
    `fingerprint` is everything beside the bytes that decides an answer; answers are reused only where it is equal.
    What only some models can do beside this is declared in `c2s.backends.abilities`.
    `lacks` says what the model does not offer that a panel may require, with the reason (see `c2s.panels.base.Panel.requires`).
    """

    name: str
    dialect: str
    model: str
    resend: Literal["safe", "paid"]
    exact: bool
    max_batch: int
    workers: int
    lacks: Mapping[str, str]

    @property
    def fingerprint(self) -> Mapping[str, Any]: ...

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]: ...

    def close(self) -> None: ...
