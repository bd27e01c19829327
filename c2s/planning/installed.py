"""What a run directory names and this installation does not have: its panels, their sources, its model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from c2s.backends.registry import MODELS, kind_of
from c2s.errors import UsageError
from c2s.panels.registry import PANELS
from c2s.plugins import Registry
from c2s.sources.registry import SOURCES


def lacking(manifest: Mapping[str, Any]) -> list[str]:
    """A sentence for every panel, source and model of the run that cannot be used here, with the package that brought it.

    Names are looked up, and nothing that the manifest names is imported. Empty where the run can be resumed, reported and verified whole.
    """
    identity, provenance = manifest["identity"], manifest.get("provenance", {})
    brought = provenance.get("plugins") if isinstance(provenance, Mapping) else None
    sources = brought.get("source") if isinstance(brought, Mapping) else None
    names: list[tuple[Registry[Any], str]] = [(PANELS, name) for name in identity["panels"]]
    names += [(SOURCES, name) for name in sources] if isinstance(sources, Mapping) else []
    names.append((MODELS, kind_of(identity["model"])))
    return [sentence for registry, name in names if (sentence := registry.missing(name, provenance)) is not None]


def require(manifest: Mapping[str, Any], path: Path) -> None:
    """Raises UsageError where a run cannot go on here, with everything that it lacks."""
    if sentences := lacking(manifest):
        raise UsageError(f"{path} cannot go on here: {'; '.join(sentences)}")
