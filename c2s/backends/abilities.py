"""What some models can do beside answering. Callers ask with `isinstance`; a backend that has the methods has the ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

SIMULATIONS = "sim:"
"""The names of our own simulations begin with this."""

if TYPE_CHECKING:
    from c2s.backends.hosted.profiles import Profile


@runtime_checkable
class Tokenizing(Protocol):
    """A model whose tokenizer is at hand, for panels that require it."""

    @property
    def tokenizer(self) -> str:
        """Identity of tokenizer and chat template, for the plan to freeze."""
        ...

    def rendered_tokens(self, body: bytes) -> int:
        """Tokens of the prompt that this request body renders to, chat template included."""
        ...


@runtime_checkable
class Preflight(Protocol):
    """A model that looks at the first requests of a plan before the run directory exists."""

    def preflight(self, bodies: Sequence[bytes]) -> None:
        """Raises UsageError where the model cannot be asked one of these request bodies."""
        ...


@runtime_checkable
class Describing(Protocol):
    """A model that can say what is loaded and how, for `c2s doctor`."""

    def describe(self) -> str:
        """One line."""
        ...


@runtime_checkable
class Simulating(Protocol):
    """A model that may be a simulation: one whose answers are made from the right ones, so that its results are no measurement."""

    simulation: bool


def simulation_facts(name: str, backend: object) -> dict[str, bool]:
    """What a manifest's identity says beside the name: {"simulation": True} where the name does not say it already."""
    declared = isinstance(backend, Simulating) and backend.simulation
    return {"simulation": True} if declared and not name.startswith(SIMULATIONS) else {}


def is_simulation(identity: Mapping[str, Any]) -> bool:
    """Whether the model of a manifest's identity is a simulation: its name or its own declaration says so."""
    return identity.get("simulation") is True or str(identity["model"]).startswith(SIMULATIONS)


@runtime_checkable
class Profiled(Protocol):
    """A model behind a server whose provider has a profile: its rates and its cap."""

    profile: Profile
