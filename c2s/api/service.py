"""What the runner makes of the options that say how a model is asked: pace, money, policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from c2s.backends.abilities import Profiled
from c2s.backends.base import Backend
from c2s.backends.hosted.profiles import Profile
from c2s.errors import LedgerError, UsageError
from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.ledger.totals import read_spend
from c2s.options import ServiceOptions, as_dict, declared, overlaid
from c2s.runner.pace import Limits
from c2s.runner.policy import Policy
from c2s.spending.budget import Budget, Cap
from c2s.spending.prices import Price, load_price


def resumed(stored: Mapping[str, Any], now: ServiceOptions) -> ServiceOptions:
    """The options that a run was begun with, and those given now in their place."""
    known = declared(ServiceOptions)
    base = {name: value for name, value in stored.items() if name in known}
    return ServiceOptions(**overlaid(ServiceOptions, base, as_dict(ServiceOptions, now)))


def policy(options: ServiceOptions) -> Policy:
    """What to do when a request fails."""
    given: dict[str, Any] = {
        "retries": options.retries,
        "retry_malformed": options.retry_malformed,
        "stop_after_errors": options.stop_after_errors,
        "on_model_change": options.on_model_change,
    }
    return Policy(**{name: value for name, value in given.items() if value is not None})


def limits(backend: Backend, options: ServiceOptions) -> Limits:
    """How fast requests may leave: as given, else as the profile says."""
    profile = _profile(backend)
    found: dict[str, Any] = {
        "starts_per_second": options.rate or (profile and profile.starts_per_second),
        "tokens_per_second": options.token_rate or (profile and profile.tokens_per_second),
    }
    if options.unreachable_after:
        found |= {"unreachable": options.unreachable_after, "first_contact": min(15.0, options.unreachable_after)}
    return Limits(workers=max(1, backend.workers), **found)


def price_of(backend: Backend, options: ServiceOptions) -> Price | None:
    """The price of the model, None where no table knows it."""
    return load_price(backend.model, options.prices)


def frozen(price: Price | None) -> dict[str, Any] | None:
    """The price as a manifest stores it: later changes of the tables do not change a run that has begun."""
    return None if price is None else asdict(price)


def budget(backend: Backend, options: ServiceOptions, price: Price | None, spent_before: float = 0.0) -> Budget:
    """Price and caps. Raises UsageError for a cap without a price. `spent_before`: USD that other runs have spent at this provider."""
    caps = []
    if options.cap:
        caps.append(Cap("on this run", options.cap, "--cap"))
    most = _provider_cap(backend, options)
    if most:
        caps.append(Cap("on this provider", most, "--provider-cap", spent_before))
    return Budget(price, caps, model=backend.model, dialect=backend.dialect)


def spent_beside(directory: RunDirectory, backend: Backend, options: ServiceOptions, note: Callable[[str], None]) -> float:
    """USD that the other runs in the same folder have spent at this provider, reservations included; 0 where no cap counts them.

    Raises UsageError where one of them is being run: two runs at once cannot share a cap.
    """
    base_url = dict(backend.fingerprint).get("base_url")
    if not _provider_cap(backend, options) or base_url is None:
        return 0.0
    total = 0.0
    for folder in sorted(Path(directory.path).absolute().parent.iterdir()):
        if folder == Path(directory.path).absolute() or not (folder / "manifest.json").is_file():
            continue
        try:
            other = RunDirectory.open(folder)
            manifest, _ = other.manifest()
            if manifest["identity"].get("fingerprint", {}).get("base_url") != base_url:
                continue
            if other.running():
                raise UsageError(
                    f"{folder} is being run on the same provider; two runs at once cannot share its cap: wait for it, "
                    "or leave --provider-cap away"
                )
            with sqlite.reading(other.ledger_path) as db:
                total += read_spend(db).usd
        except LedgerError as error:
            note(f"not counted towards the provider's cap: {error}")
    return total


def _provider_cap(backend: Backend, options: ServiceOptions) -> float | None:
    profile = _profile(backend)
    return options.provider_cap or (profile.cap_usd if profile else None)


def _profile(backend: Backend) -> Profile | None:
    """The provider of a model over a network."""
    return backend.profile if isinstance(backend, Profiled) else None
