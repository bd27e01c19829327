"""What a request costs: a price table by model, the tokens that a body is taken to have, and the money that is set aside.

Two heuristics: a request is *expected* to have one token per four bytes, and one per two bytes is
*reserved*. English and JSON have three to five bytes a token, digits two to three, so the reservation is not met in
practice; where a response reports more, the report counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from c2s.backends.usertables import user_tables
from c2s.options import Rule
from c2s.records import Request, Usage
from c2s.toml_files import ranged

USER_FILE = "~/.config/c2s/prices.toml"
EXPECTED_BYTES_PER_TOKEN = 4
RESERVED_BYTES_PER_TOKEN = 2
AMOUNT = ranged(Rule(lambda value: 0 <= value < 1e6, "is not an amount: at least 0 and below a million"))


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float = field(metadata=AMOUNT)
    output: float = field(metadata=AMOUNT)
    cached: float | None = field(default=None, metadata=AMOUNT)
    cache_write: float | None = field(default=None, metadata=AMOUNT)
    output_reserve: int = field(default=16, metadata=AMOUNT)
    output_expected: int | None = field(default=None, metadata=AMOUNT)

    def cost(self, usage: Usage) -> float | None:
        """USD for what was reported; the service's own figure where it names one. None where no input tokens are reported."""
        if usage.cost_usd is not None:
            return usage.cost_usd
        if usage.input_tokens is None or (usage.output_tokens is None and self.output > 0):
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        written = min(usage.cache_write_tokens or 0, usage.input_tokens - cached)
        rates = (
            (usage.input_tokens - cached - written, self.input),
            (cached, self.input if self.cached is None else self.cached),
            (written, self.input if self.cache_write is None else self.cache_write),
            (usage.output_tokens or 0, self.output),
        )
        return sum(tokens * rate for tokens, rate in rates) / 1e6

    def expected(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.input + tokens_out * self.output) / 1e6

    def reserve(self, body_bytes: int, tokens_out: int) -> float:
        """USD set aside before a request leaves, at the highest rate that its input may have."""
        dearest = max(self.input, self.cache_write or 0.0)
        return (-(-body_bytes // RESERVED_BYTES_PER_TOKEN) * dearest + tokens_out * self.output) / 1e6


def tokens_expected(body_bytes: int) -> int:
    return -(-body_bytes // EXPECTED_BYTES_PER_TOKEN)


def tokens_out(request: Request, dialect: str, price: Price | None) -> int:
    """The answer's length in tokens, at most: the budget where there is one, else the price table's reserve."""
    if dialect.startswith("chat"):
        from c2s.dialects.chat import tokens_out

        return tokens_out(dialect, request)
    return request.max_tokens or (price.output_reserve if price else 16)


def tokens_out_expected(request: Request, dialect: str, price: Price | None) -> int:
    """The answer's length in tokens, as a plan takes it."""
    most = tokens_out(request, dialect, price)
    return most if price is None or price.output_expected is None else min(most, price.output_expected)


def load_price(model: str, file: str | None = None) -> Price | None:
    """The price of a model, None where no table knows it. Raises UsageError for an unreadable table."""
    tables, own = user_tables(Price, __package__, "prices.toml", what="prices", named=file, variable="C2S_PRICES", usual=USER_FILE)
    name = model if model in tables else model.rpartition("/")[2]
    if name not in tables:
        return None
    missing = [member for member in ("input", "output") if member not in tables[name]]
    if missing and own is not None:
        raise own.error((name,), f"the price of {name!r} needs input and output")
    return Price(**tables[name])
