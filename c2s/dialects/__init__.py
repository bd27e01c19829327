"""Wire protocols as pure functions: a request to bytes, response bytes to an answer. No network, no model, no clock."""

from __future__ import annotations

from typing import Protocol

from c2s.records import Answer, Ask, Usage


class Malformed(Exception):
    """A response that breaks the protocol. It is an error, never a score."""


class Dialect(Protocol):
    name: str

    def encode(self, ask: Ask, model: str) -> bytes:
        """The exact bytes of one request in the ask's presentation."""
        ...

    def decode(self, ask: Ask, raw: bytes) -> Answer:
        """The answer in a response body. Raises Malformed, and nothing else, whatever the bytes."""
        ...

    def usage(self, raw: bytes) -> Usage:
        """Tokens and price that a response reports, even one that breaks the protocol. Never raises."""
        ...


def dialect(name: str) -> Dialect:
    """The dialect with this name, as stored in a manifest: a kind and, for chat, its contract. Raises UsageError for an unknown one."""
    from c2s.dialects.chat import OWN, Chat
    from c2s.dialects.responses import Responses
    from c2s.dialects.systemone import SystemOne
    from c2s.errors import UsageError

    known: dict[str, Dialect] = {"systemone": SystemOne(), "responses": Responses()}
    if name not in known:
        known |= {wire.name: wire for contract in OWN for wire in (Chat(contract), Chat(contract, thinking=False))}
    if name not in known:
        raise UsageError(f"unknown dialect {name!r}; this c2s knows {', '.join(known)}")
    return known[name]
