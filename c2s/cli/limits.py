"""What the runner makes of the options of a run: pace, money, policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from c2s.backends.abilities import Profiled
from c2s.backends.base import Backend
from c2s.cli.output import say
from c2s.errors import C2SError, LedgerError, UsageError
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.ledger.totals import read_spend
from c2s.options import Options, ServiceOptions, as_dict, overlaid
from c2s.runner.pace import Limits
from c2s.runner.policy import Policy
from c2s.spending.budget import Budget, Cap
from c2s.spending.prices import Price, load_price


def given(options: Options) -> dict[str, Any]:
    """How a model is asked, by name; None where nothing was said."""
    return as_dict(ServiceOptions, options)


def merged(stored: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """A resumed run's options: those it was begun with, and those given now in their place."""
    return overlaid(ServiceOptions, stored, now)


def policy(values: Mapping[str, Any]) -> Policy:
    names = ("retries", "retry_malformed", "stop_after_errors", "on_model_change")
    return Policy(**{name: values[name] for name in names if values.get(name) is not None})


def limits(backend: Backend, values: Mapping[str, Any]) -> Limits:
    profile = backend.profile if isinstance(backend, Profiled) else None
    found = {
        "starts_per_second": values.get("rate") or (profile and profile.starts_per_second),
        "tokens_per_second": values.get("token_rate") or (profile and profile.tokens_per_second),
    }
    if values.get("unreachable_after"):
        found |= {"unreachable": values["unreachable_after"], "first_contact": min(15.0, values["unreachable_after"])}
    return Limits(workers=max(1, backend.workers), **found)


def budget(backend: Backend, values: Mapping[str, Any], directory: RunDirectory | None = None) -> Budget:
    """Price and caps. The provider's cap counts the other runs beside `directory`, none of which may be going on."""
    caps = []
    if values.get("cap"):
        caps.append(Cap("on this run", values["cap"], "--cap"))
    profile = backend.profile if isinstance(backend, Profiled) else None
    most = values.get("provider_cap") or (profile and profile.cap_usd)
    if most:
        before = _spent_beside(directory, dict(backend.fingerprint).get("base_url")) if directory else 0.0
        caps.append(Cap("on this provider", most, "--provider-cap", before))
    price = Price(**values["price"]) if values.get("price") else load_price(backend.model, values.get("prices"))
    return Budget(price, caps, model=backend.model, dialect=backend.dialect)


def frozen_price(backend: Backend, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The price as it enters the manifest: later changes of the tables do not change a run that has begun."""
    price = load_price(backend.model, values.get("prices"))
    return price and asdict(price)


def _spent_beside(directory: RunDirectory, base_url: str | None) -> float:
    """What the other runs in the same folder have spent at this server, reservations included."""
    total = 0.0
    for folder in sorted(Path(directory.path).absolute().parent.iterdir()):
        if folder == Path(directory.path).absolute() or not (folder / "manifest.json").is_file():
            continue
        try:
            other = RunDirectory.open(folder)
            manifest, _ = other.manifest()
            if base_url is None or manifest["identity"].get("fingerprint", {}).get("base_url") != base_url:
                continue
            if other.running():
                raise UsageError(
                    f"{folder} is being run on the same provider; two runs at once cannot share its cap: wait for it, or leave --provider-cap away"
                )
            with sqlite.reading(other.ledger_path) as db:
                total += read_spend(db).usd
        except LedgerError as error:
            say(f"c2s: not counted towards the provider's cap: {error}")
    return total


def check_budget(backend: Backend, values: Mapping[str, Any]) -> None:
    """Refuse a cap without a price before anything is made."""
    try:
        budget(backend, values)
    except C2SError:
        backend.close()
        raise
