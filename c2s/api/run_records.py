"""The records of a run as columns, and what each column means.

Rows of different tables belong together by panel, parent, arm, replicate and turn, and those of steps and exchanges by step as well.
"""

from __future__ import annotations

from typing import Any

from c2s.api.columns import About, Columns
from c2s.ledger import bulk, sqlite
from c2s.ledger.directory import RunDirectory

_PARENT = (About("panel", "text", "name of the panel"), About("parent", "text", "id of the item, unique in its panel"))
_GROUP = (
    About("domain", "text", "domain of the item, such as math or lexical"),
    About("length", "integer", "positions of the answer", "positions"),
    About("pair", "text", "id that the two items of a pair share", nullable=True),
)
_INSTANCE = (
    About("arm", "text", "name of the arm: how the answer is asked for"),
    About("replicate", "integer", "number of the identical repeat, from 0"),
    About("turn", "integer", "turn of the dialogue, from 1; 0 where the arm has no turns"),
)

ITEMS = (
    *_PARENT,
    *_GROUP,
    About(
        "transition",
        "text",
        "both, lost, gained, neither or undefined, between the panel's pair of arms; absent while one is open",
        nullable=True,
    ),
    About("closed", "boolean", "whether every arm has ended"),
    About("payload", "text", "the frozen item, as JSON"),
    About("addition", "text", "what other panels' outcomes added to it, as JSON", nullable=True),
)
OUTCOMES = (
    *_PARENT,
    *_GROUP,
    *_INSTANCE,
    About("status", "text", "ok or undefined"),
    About("output", "text", "the answer; _ stands for a value that was not offered", nullable=True),
    About("correct", "boolean", "whether the answer is right; absent where the outcome is undefined or has no score", nullable=True),
    About("fidelity", "boolean", "whether the answer is what the arm was to copy; absent where it copies nothing", nullable=True),
    About("kind", "text", "form of the answer, such as strict_correct or format_valid_wrong", nullable=True),
    About("first_wrong", "integer", "first position that is wrong, from 1", "position", nullable=True),
    About("min_confidence", "real", "least of the largest reported probabilities over the steps", "probability", nullable=True),
    About("reason", "text", "why the outcome is undefined", nullable=True),
    About("detail", "text", "what else the arm recorded, as JSON"),
)
STEPS = (
    *_PARENT,
    *_INSTANCE,
    About("step", "integer", "number of the request within its arm, from 1"),
    About("state", "text", "planned, reserved, sent, ok, error, unknown, blocked or not_needed"),
    About("exchange", "integer", "number of the exchange that decided it", nullable=True),
    About("shared", "boolean", "whether it receives the response to an equal request"),
    About("sends", "integer", "how often it was sent", "requests"),
    About("probability", "real", "reported probability of the choice that was taken", "probability", nullable=True),
    About("top_probability", "real", "largest reported probability", "probability", nullable=True),
)
EXCHANGES = (
    About("exchange", "integer", "number of the send, in the order of sending"),
    *_PARENT,
    *_INSTANCE,
    About("step", "integer", "number of the request within its arm, from 1"),
    About("attempt", "integer", "number of the send of this request, from 1"),
    About("state", "text", "sent, ok, malformed, not_processed, error or unknown"),
    About("sent_at", "real", "when it was sent", "seconds since 1970-01-01 UTC"),
    About("done_at", "real", "when its response had arrived", "seconds since 1970-01-01 UTC", nullable=True),
    About("http_status", "integer", "HTTP status", nullable=True),
    About("model", "text", "the model that the response names", nullable=True),
    About("input_tokens", "integer", "tokens of the request, as reported", "tokens", nullable=True),
    About("output_tokens", "integer", "tokens of the response, as reported", "tokens", nullable=True),
    About("reserved_usd", "real", "money set aside before it was sent", "USD", nullable=True),
    About("cost_usd", "real", "money settled by the reported usage", "USD", nullable=True),
    About("message", "text", "what went wrong", nullable=True),
    About("origin", "text", "where a copied answer was first given: run id and exchange", nullable=True),
    About("response_id", "text", "the response's own id", nullable=True),
    About("system_fingerprint", "text", "the system fingerprint that the response names", nullable=True),
    About("endpoint", "text", "the server that answered, where there are several", nullable=True),
    About("body_sha256", "text", "SHA-256 of the request's bytes"),
)
BODIES = (
    About("request", "bytes", "the request's bytes"),
    About("response", "bytes", "the response's bytes", nullable=True),
)


def items(run: RunDirectory) -> Columns:
    """One row for every parent, in the order of the plan."""
    with sqlite.reading(run.ledger_path) as db:
        return Columns(ITEMS, bulk.items(db))


def outcomes(run: RunDirectory) -> Columns:
    """One row for every outcome, by parent, arm, replicate and turn."""
    with sqlite.reading(run.ledger_path) as db:
        return Columns(OUTCOMES, bulk.outcomes(db))


def steps(run: RunDirectory) -> Columns:
    """One row for every planned request, in the order of the plan; probabilities stand where the arm has ended and they were reported."""
    with sqlite.reading(run.ledger_path) as db:
        values, traces = bulk.steps(db), {tuple(key): detail for *key, detail in bulk.traces(db)}
    keys = zip(*(values[name] for name in ("panel", "parent", "arm", "replicate", "turn")), strict=True)
    details = [traces.get(key, {}) for key in keys]
    values["probability"] = [_at(d.get("p"), step) for d, step in zip(details, values["step"], strict=True)]
    values["top_probability"] = [_at(d.get("top"), step) for d, step in zip(details, values["step"], strict=True)]
    return Columns(STEPS, values)


def exchanges(run: RunDirectory, *, bodies: bool = False) -> Columns:
    """One row for every send, in the order of sending."""
    with sqlite.reading(run.ledger_path) as db:
        return Columns(EXCHANGES + (BODIES if bodies else ()), bulk.exchanges(db, bodies=bodies))


def _at(values: Any, step: int) -> float | None:
    """The value of a step, counted from 1; None where the arm recorded none for it."""
    return values[step - 1] if isinstance(values, list) and step <= len(values) else None
