"""What a run has used: counts, tokens and money, kept by the writer with every commit and recounted by verify.

Money is counted in whole billionths of a dollar, so that the order of additions changes nothing. An answer whose usage is
not reported keeps its reservation: it is held, never free. A request that was provably not processed cost nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

NANO = 1_000_000_000


@dataclass(slots=True)
class Spend:
    """`sends` are requests that left from here; `reused` answers were copied and were paid for elsewhere."""

    sends: int = 0
    reused: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unreported: int = 0
    settled_nano: int = 0
    held_nano: int = 0

    def add(self, other: Spend, sign: int = 1) -> None:
        self.sends += sign * other.sends
        self.reused += sign * other.reused
        self.input_tokens += sign * other.input_tokens
        self.output_tokens += sign * other.output_tokens
        self.unreported += sign * other.unreported
        self.settled_nano += sign * other.settled_nano
        self.held_nano += sign * other.held_nano

    @property
    def usd(self) -> float:
        """Settled and held together: what caps count."""
        return (self.settled_nano + self.held_nano) / NANO


_NAMES = tuple(f.name for f in fields(Spend))


class Send(Protocol):
    """What an exchange must have to count in the totals."""

    @property
    def state(self) -> str: ...
    @property
    def origin(self) -> str | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def reserved_usd(self) -> float | None: ...
    @property
    def cost_usd(self) -> float | None: ...


class Sent(NamedTuple):
    """The same, read from a ledger."""

    state: str
    origin: str | None
    input_tokens: int | None
    output_tokens: int | None
    reserved_usd: float | None
    cost_usd: float | None


def nano(usd: float | None) -> int:
    return round((usd or 0.0) * NANO)


def weigh(send: Send) -> Spend:
    """What one exchange adds to the totals."""
    if send.origin is not None:
        return Spend(reused=1)
    if send.state == "not_processed":
        return Spend(sends=1)
    settled = send.cost_usd is not None
    return Spend(
        sends=1,
        input_tokens=send.input_tokens or 0,
        output_tokens=send.output_tokens or 0,
        unreported=int(send.input_tokens is None and send.state in ("ok", "malformed")),
        settled_nano=nano(send.cost_usd) if settled else 0,
        held_nano=0 if settled else nano(send.reserved_usd),
    )


def from_run(values: Mapping[str, str]) -> Spend:
    """The totals as stored in the run table; all zero for a run that has sent nothing."""
    return Spend(**json.loads(values["spend"])) if values.get("spend") else Spend()


def read_spend(db: sqlite3.Connection) -> Spend:
    return from_run(dict(db.execute("SELECT key, value FROM run WHERE key = 'spend'")))


def read_models(db: sqlite3.Connection) -> dict[str, int]:
    """Returned model ids with the number of their answers, the first one first."""
    row = db.execute("SELECT value FROM run WHERE key = 'models'").fetchone()
    return json.loads(row[0]) if row else {}


def stored(spend: Spend) -> str:
    return json.dumps({name: getattr(spend, name) for name in _NAMES}, separators=(",", ":"))
