"""The plan: a pure function from panels and settings to parents and slots, and the manifest that freezes it."""

from __future__ import annotations

import hashlib
import os
import platform
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

import orjson

import c2s
from c2s.backends.abilities import Preflight, simulation_facts
from c2s.backends.base import Backend
from c2s.backends.registry import kind_of
from c2s.banks.datafile import load_data
from c2s.controllers.program import ParentProgram
from c2s.dialects import Dialect, dialect
from c2s.errors import UsageError, nearest
from c2s.ledger.creation import PlannedParent, create_ledger
from c2s.ledger.directory import RunDirectory
from c2s.panels.base import Panel
from c2s.panels.registry import check_endpoints
from c2s.planning.member_order import check_presentations
from c2s.plugins import Kind, origins
from c2s.presentation.encode import body_hash
from c2s.presentation.texts import contracts_sha256
from c2s.records import Ask, Parent, Slot
from c2s.settings import NO_INPUTS, Inputs, Settings
from c2s.sources.registry import Named


@dataclass(frozen=True, slots=True)
class Plan:
    """Panels with their parents in plan order, and one digest over every frozen item."""

    panels: tuple[Panel, ...]
    parents: tuple[tuple[Panel, Parent], ...]
    settings: Settings
    items_sha256: str
    asked: tuple[str, ...] = ()
    """Panels that were named; the others are there because these use them."""

    @property
    def requests(self) -> int:
        return sum(len(panel.slots(parent)) for panel, parent in self.parents)

    def rows(self, encode: Callable[[Ask], bytes]) -> Iterator[PlannedParent]:
        """`encode` gives the bytes of an ask; equal ones share a response in panels that say so."""
        owners: dict[Slot, Slot] = {}
        for panel in self.panels:
            if panel.share:
                owners |= shared_slots(panel, [parent for other, parent in self.parents if other is panel], self.settings, encode)
        for panel, parent in self.parents:
            payload = freeze(parent.payload)
            slots = tuple(panel.slots(parent))
            shared = {slot: owners[slot] for slot in slots if slot in owners}
            yield PlannedParent(panel.name, parent, hashlib.sha256(payload).hexdigest(), payload, slots, shared)


def shared_slots(panel: Panel, parents: Sequence[Parent], settings: Settings, encode: Callable[[Ask], bytes]) -> dict[Slot, Slot]:
    """Slots that receive the response to another slot's request, with that slot: equal bytes among the panel's first-round asks.

    These asks depend on no answer, so who shares is known before the run and is the same for every model.
    """
    first: dict[str, Slot] = {}
    shared: dict[Slot, Slot] = {}
    for parent in parents:
        for slot, ask in ParentProgram(panel.name, panel.arms, parent, settings).start():
            owner = first.setdefault(body_hash(encode(ask)), slot)
            if owner != slot:
                shared[slot] = owner
    return shared


def freeze(payload: Mapping[str, Any]) -> bytes:
    return orjson.dumps(dict(payload), option=orjson.OPT_SORT_KEYS)


def check_domains(domains: Sequence[str], panels: Sequence[Panel]) -> None:
    """Raises UsageError, with the near misses, for a domain that none of these panels has."""
    known = list(dict.fromkeys(name for panel in panels for name in panel.domains))
    for domain in domains:
        if domain not in known:
            raise UsageError(f"unknown domain {domain!r}{nearest(domain, known)}; known here: {', '.join(known)}")


def make_plan(
    panels: Sequence[Panel],
    settings: Settings,
    data: Sequence[str] = (),
    *,
    inputs: Inputs = NO_INPUTS,
    asked: Sequence[str] | None = None,
) -> Plan:
    """Parents of every panel, in order. Raises UsageError or BankError where they cannot be had.

    `data` are data files (`c2s data`), one of a kind. A panel's source finds its own in the `files` of its inputs; the plan's settings
    keep the hash of each, never a path. `inputs` says where WordNet is and how many tokens a request has, for panels that need to know.
    `asked` names the panels that were asked for, where others were added.
    """
    check_endpoints(panels)
    files, hashes = _data_files(panels, data)
    settings, inputs = replace(settings, data=hashes), replace(inputs, files=files)
    check_domains(settings.domains, panels)
    parents = tuple((panel, parent) for panel in panels for parent in panel.source.parents(settings, inputs))
    _refuse_duplicates(parents)
    digest = items_digest((panel.name, parent) for panel, parent in parents)
    return Plan(tuple(panels), parents, settings, digest, tuple(asked or (panel.name for panel in panels)))


def _refuse_duplicates(parents: Sequence[tuple[Panel, Parent]]) -> None:
    """An id names one parent of a panel: two would share their slots and their answers."""
    seen: dict[tuple[str, str], str] = {}
    for panel, parent in parents:
        if (other := seen.get((panel.name, parent.id))) is not None:
            raise UsageError(
                f"panel {panel.name} has two parents named {parent.id!r}, in {other} and {parent.domain}; ids must be unique in a panel"
            )
        seen[panel.name, parent.id] = parent.domain


def _data_files(panels: Sequence[Panel], paths: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Path and SHA-256 of each data file by its kind."""
    files: dict[str, str] = {}
    hashes: dict[str, str] = {}
    for path in paths:
        file = load_data(path)
        if file.kind not in {panel.data for panel in panels}:
            raise UsageError(f"--data {path}: it holds {file.kind} data, which no panel of this run reads")
        if file.kind in files:
            raise UsageError(f"--data {path}: {files[file.kind]} holds {file.kind} data too; give one file of each kind")
        files[file.kind], hashes[file.kind] = path, file.sha256
    return files, hashes


def items_digest(parents: Iterator[tuple[str, Parent]]) -> str:
    """SHA-256 over panel, id, domain, length, pair and frozen item of every parent, in plan order."""
    digest = hashlib.sha256()
    for panel, p in parents:
        digest.update(orjson.dumps([panel, p.id, p.domain, p.length, p.pair]) + b"\n" + freeze(p.payload) + b"\n")
    return digest.hexdigest()


def manifest(plan: Plan, backend: Backend, *, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """`identity` decides every request and enters the report; `provenance` tells where and how the run was made.

    `provenance.plugins` names the packages that brought its panels and its model: {kind: {name: [distribution, version]}}.
    """
    names: dict[Kind, list[str]] = {
        "panel": [panel.name for panel in plan.panels],
        "model": [kind_of(backend.name)],
        "source": [panel.source.name for panel in plan.panels if isinstance(panel.source, Named)],
    }
    return {
        "format": 1,
        "identity": {
            "panels": [panel.name for panel in plan.panels],
            "asked": list(plan.asked),
            "model": backend.name,
            "dialect": backend.dialect,
            "wire_model": backend.model,
            "fingerprint": dict(backend.fingerprint),
            "resend": backend.resend,
            "exact": backend.exact,
            **simulation_facts(backend.name, backend),
            "settings": plan.settings.as_dict(),
            "parents": len(plan.parents),
            "requests": plan.requests,
            "items_sha256": plan.items_sha256,
            "contracts_sha256": contracts_sha256(),
        },
        "provenance": {
            "run_id": hashlib.sha256(os.urandom(16)).hexdigest()[:16],
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "host": socket.gethostname(),
            "platform": platform.platform(),
            "python": sys.version.split()[0],
            "versions": {"c2s": c2s.__version__} | {name: metadata.version(name) for name in ("numpy", "orjson")},
            "plugins": origins(names),
            **provenance,
        },
    }


def preflight(plan: Plan, backend: Backend, wire: Dialect) -> None:
    """Show the plan's first requests to a backend that wants to see them. Raises UsageError where it cannot be asked them."""
    if not isinstance(backend, Preflight):
        return
    known = ((panel, parent) for panel, parent in plan.parents if panel.prepare is None)  # the others lack what earlier panels add
    asks = (ask for panel, parent in known for _, ask in ParentProgram(panel.name, panel.arms, parent, plan.settings).start())
    backend.preflight(list(dict.fromkeys(wire.encode(ask, backend.model) for ask in asks)))


def create_run(path: str, plan: Plan, backend: Backend, *, provenance: Mapping[str, Any]) -> RunDirectory:
    """A new run directory with its frozen manifest and its planned ledger; nothing has been asked yet."""
    wire = dialect(backend.dialect)
    check_presentations(plan.parents, plan.settings, wire, backend.model)
    preflight(plan, backend, wire)
    run = RunDirectory.create(path)
    digest = run.write_manifest(manifest(plan, backend, provenance=provenance))
    arms = {(panel.name, arm.name): arm.factors for panel in plan.panels for arm in panel.arms}
    create_ledger(run, plan.rows(lambda ask: wire.encode(ask, backend.model)), {"manifest_sha256": digest}, arms)
    return run
