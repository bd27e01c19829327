"""Models that write text, local or served: the contract that their name chooses, what it does not offer, and matched token counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from c2s.backends.abilities import Tokenizing
from c2s.backends.base import Backend, Call
from c2s.dialects import dialect
from c2s.dialects.chat import OWN
from c2s.errors import UsageError, nearest
from c2s.records import Contract

_CODES = {
    "batch": "a choice code answers one question a request",
    "wide": "there are 26 choice codes",
}
WRITES: Mapping[str, Mapping[str, str]] = {
    "direct": {"probabilities": "text has none"},
    "code-readout": _CODES,
    "code-generated": _CODES | {"probabilities": "text has none"},
}
"""What a contract does not offer that a panel may require."""


def chosen_contract(name: str, options: Mapping[str, Any]) -> tuple[Contract, bool]:
    """The contract that a model's options choose (default: direct), and whether its template may let it think. Raises UsageError."""
    contract = {"code": "code-readout"}.get(options.get("contract", "direct"), options.get("contract", "direct"))
    if contract not in OWN:
        raise UsageError(f"model {name!r}: contract is {', '.join(OWN)}; not {contract!r}{nearest(contract, list(OWN))}")
    if options.get("thinking", "unset") not in ("unset", "off"):
        raise UsageError(f"model {name!r}: thinking is `off`, or not given")
    return contract, "thinking" not in options


class WritingBackend(Backend, Tokenizing, Protocol):
    """A model that writes text and has its tokenizer at hand."""


def matched_tokens(backend: WritingBackend, call: Call) -> dict[str, int]:
    """Member `matched_tokens` of a response's `c2s`: the rendered length of the request that this call's must equal.

    Empty where the call's ask names no such request.
    """
    if call.ask.matches is None:
        return {}
    twin = dialect(backend.dialect).encode(replace(call.ask, request=call.ask.matches, matches=None), backend.model)
    return {"matched_tokens": backend.rendered_tokens(twin)}
