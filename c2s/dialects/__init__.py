"""Wire protocols as pure functions: a request to bytes, response bytes to an answer. No network, no model, no clock."""

from __future__ import annotations

from typing import Protocol

from c2s.records import Answer, Ask


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


def dialect(name: str) -> Dialect:
    """The dialect with this name, as stored in a manifest."""
    from c2s.dialects.systemone import SystemOne

    known = {d.name: d for d in (SystemOne(),)}
    return known[name]
