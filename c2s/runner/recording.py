"""Reading a response into the exchange that records it."""

from __future__ import annotations

from c2s.dialects import Dialect, Malformed
from c2s.ledger.rows import ExchangeRow
from c2s.records import Answer, Ask
from c2s.spending.budget import Budget


def read_response(wire: Dialect, budget: Budget, ask: Ask, exchange: ExchangeRow, raw: bytes) -> Answer | None:
    """The answer in a response; None where it is malformed: the exchange then has the reason. Usage and cost are noted in either case."""
    answer = None
    try:
        answer = wire.decode(ask, raw)
        exchange.note(answer)
        usage = answer.usage
    except Malformed as error:
        exchange.message = str(error)
        usage = wire.usage(raw)
        exchange.input_tokens, exchange.output_tokens = usage.input_tokens, usage.output_tokens
    exchange.cost_usd = budget.cost(usage)
    return answer
