"""Rows of a ledger as objects: parents, slots and exchanges with their places in it."""

from __future__ import annotations

from dataclasses import dataclass

from c2s.records import Answer, Parent, Slot, Transition

EXCHANGE_COLUMNS = (
    "id", "slot", "attempt", "state", "body_sha256", "content_sha256", "request", "sent_at", "done_at", "http_status",
    "headers", "response", "model", "input_tokens", "output_tokens", "reserved_usd", "cost_usd", "message", "origin",
    "response_id", "system_fingerprint", "endpoint", "shard",
)  # fmt: skip


@dataclass(slots=True)
class ParentRow:
    """A parent of the plan with its place in the ledger."""

    id: int
    panel: str
    parent: Parent
    closed: bool = False
    transition: Transition | None = None
    """By the panel's pair of arms; None while one of the two is open, or where the panel has no pair."""
    frozen: Parent | None = None
    """The parent as it was planned, where `parent` has since been prepared; else None."""

    @property
    def planned(self) -> Parent:
        return self.frozen or self.parent


@dataclass(slots=True)
class SlotRow:
    """A slot with its place in the ledger and its present state."""

    id: int
    slot: Slot
    parent: ParentRow
    state: str = "planned"
    exchange: int | None = None
    attempts: int = 0
    share_of: int | None = None
    """The slot whose response this one receives; it never sends a request of its own."""


@dataclass(slots=True)
class ExchangeRow:
    """One send, as it will be stored; completed in place when it ends. Times are seconds since the epoch."""

    id: int
    slot: int
    attempt: int
    body_sha256: str
    content_sha256: str
    request: bytes
    sent_at: float
    state: str = "sent"
    done_at: float | None = None
    http_status: int | None = None
    headers: str | None = None
    response: bytes | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reserved_usd: float | None = None
    cost_usd: float | None = None
    message: str | None = None
    origin: str | None = None
    response_id: str | None = None
    system_fingerprint: str | None = None
    endpoint: str | None = None
    shard: int | None = None

    def note(self, answer: Answer) -> None:
        """Take over what the response says of itself: its model, its names, its tokens."""
        self.model, self.response_id, self.system_fingerprint = answer.model, answer.response_id, answer.system_fingerprint
        self.input_tokens, self.output_tokens = answer.input_tokens, answer.output_tokens
