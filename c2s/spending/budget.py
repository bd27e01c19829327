"""Money: what is set aside before a request leaves, and the caps that stop a run before it passes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from c2s.errors import UsageError
from c2s.ledger.totals import NANO, Spend, nano
from c2s.records import Request, Usage
from c2s.spending.prices import Price, tokens_out


@dataclass(frozen=True, slots=True)
class Cap:
    """A hard cap in USD; `before` is what other runs have used of it already."""

    what: str
    usd: float
    option: str
    before: float = 0.0


class Budget:
    """Reserves and settles at one model's price. Without a price nothing is reserved, and no cap can be kept."""

    def __init__(self, price: Price | None, caps: Sequence[Cap] = (), *, model: str = "", dialect: str = "systemone") -> None:
        if caps and price is None:
            raise UsageError(
                f"no price is known for {model!r}, so a cap cannot be kept; give one with --prices FILE, or leave {caps[0].option} away"
            )
        self.price, self.caps, self._dialect = price, tuple(caps), dialect

    def reservation(self, request: Request, body: bytes) -> float | None:
        """USD to set aside for a request before it is sent; None without a price."""
        if self.price is None:
            return None
        return self.price.reserve(len(body), tokens_out(request, self._dialect, self.price))

    def cost(self, usage: Usage) -> float | None:
        return self.price.cost(usage) if self.price else usage.cost_usd

    def exceeded(self, spend: Spend, next_usd: float | None) -> Cap | None:
        """The cap that one more reservation would pass: settled, held and new money together."""
        committed = spend.settled_nano + spend.held_nano + nano(next_usd)
        return next((cap for cap in self.caps if nano(cap.before) + committed > cap.usd * NANO), None)
