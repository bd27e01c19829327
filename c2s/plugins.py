"""Models, panels and sources by name: those that c2s declares itself, and those that installed packages bring.

A package brings them by entry points (`[project.entry-points."c2s.panels"]` in its pyproject.toml): a name and where its object is. Nothing
of a package is imported before one of its names is used or listed. A package that cannot be used, or a name that two packages bring, is a
sentence that names the package; all other names work as before.

Names that stand in a run directory are only looked up here. Nothing is ever imported because a run directory names a module.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from c2s import __version__
from c2s.errors import C2SError, UsageError, described
from c2s.stdout import TO_STDERR

if TYPE_CHECKING:
    from importlib import metadata

Kind = Literal["model", "panel", "source"]
GROUPS: Mapping[Kind, str] = {"model": "c2s.models", "panel": "c2s.panels", "source": "c2s.sources"}
"""The group of entry points of each kind."""

RESERVED = frozenset({"all"})
"""Names that no package may bring: `--panel all` means the panels of c2s itself."""

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TARGET = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Distribution:
    """An installed package as its metadata names it."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


OURS = Distribution("c2s", __version__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One model: the name as typed (`tiny`, or `tiny:SIZE` where a detail follows), what it is, what it needs, and where it opens.

    `target` is "module:attribute", a function `(name, detail, options, common) -> Backend` or a class with such a function `open`. It is
    imported when the model is opened, after the `packages` it needs have been found. An entry point of the group `c2s.models`
    names an `Entry`; c2s fills in the `distribution`.
    """

    name: str
    what: str
    needs: str
    target: str
    packages: tuple[str, ...] = ()
    extra: str = ""
    """The extra of c2s that brings the packages of a model of ours."""
    install: str = ""
    """A further command that installs what no extra brings."""
    distribution: Distribution = OURS

    @property
    def kind(self) -> str:
        """The name without the placeholder of a detail: what the entry point is called."""
        kind, colon, detail = self.name.partition(":")
        return kind if colon and detail[:1].isupper() else self.name


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of an installed package; nothing of it has been imported."""

    name: str
    target: str
    distribution: Distribution
    packages: frozenset[str]
    """Top-level packages of the distribution."""


class Registry(Mapping[str, T], Generic[T]):
    """Everything of one kind by name: what c2s declares first, in its order, then what packages bring.

    `declared` gives an object or where it is ("module:attribute"), and `type` where the type of all objects is, so that asking for names
    imports nothing. `named` gives the name that an object says it has, if it has one: it
    must be that of its entry point; `owned` notes in an object which package brought it. As a mapping it holds what can be used: a package
    that cannot be used is left out of an iteration, and raises UsageError where it is asked for by name.
    """

    def __init__(
        self,
        kind: Kind,
        declared: Mapping[str, T | str],
        type: str,
        named: Callable[[T], str] | None = None,
        owned: Callable[[T, Distribution], T] = lambda loaded, _: loaded,
    ) -> None:
        self.kind, self.declared, self.type = kind, dict(declared), type
        self._named, self._owned = named, owned
        self.loaded: dict[str, T] = {}
        _REGISTRIES[kind] = self

    def names(self) -> list[str]:
        """All names, without loading anything."""
        return list(dict.fromkeys([*self.declared, *_installed(self.kind)]))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.declared or name in _installed(self.kind))

    def __getitem__(self, name: str) -> T:
        """The object. Raises KeyError for a name that nothing has, UsageError where its package cannot be used."""
        if name not in self.loaded:
            self.loaded[name] = self._load(name)
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Names that can be used."""
        for name in self.names():
            try:
                self[name]
            except UsageError:
                continue
            yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def distribution(self, name: str) -> Distribution:
        """The package that brings a name."""
        return OURS if name in self.declared else self.plugin(name).distribution

    def plugin(self, name: str) -> Plugin:
        """The entry point of a name that c2s does not declare. Raises KeyError, and UsageError where two packages bring it."""
        plugins = _installed(self.kind)[name]
        if len(plugins) > 1:
            raise UsageError(f"{self.kind} {name!r} is brought by two packages, {plugins[0].distribution} and {plugins[1].distribution}")
        return plugins[0]

    def problems(self) -> list[str]:
        """A sentence for every name of a package that cannot be used."""
        found: list[str] = []
        for name, plugins in _installed(self.kind).items():
            if name in self.declared:
                found += [f"{p.distribution} brings a {self.kind} {name!r}, which is a name of c2s itself: it is ignored" for p in plugins]
                continue
            try:
                self[name]
            except UsageError as error:
                found.append(str(error))
        return found

    def missing(self, name: str, provenance: Mapping[str, Any]) -> str | None:
        """A sentence where a name of a run cannot be used here, with the package that brought it; None where it can.

        `provenance` is that of the run's manifest. `name` is a panel, a source, or the part of a model's name before its detail.
        """
        if name in self.declared:
            return None
        try:
            self[name]
        except UsageError as error:
            return str(error)
        except KeyError:
            return f"{self.kind} {name!r} is not installed here{_brought(self.kind, name, provenance)}"
        return None

    def _load(self, name: str) -> T:
        if name in self.declared:
            declared = self.declared[name]
            return _attribute(declared) if isinstance(declared, str) else declared
        plugin = self.plugin(name)
        if not _NAME.fullmatch(name):
            raise UsageError(f"{plugin.distribution} brings a {self.kind} {name!r}: a name is made of letters, digits, dots and dashes")
        if name in RESERVED:
            raise UsageError(f"{plugin.distribution} brings a {self.kind} {name!r}: this name has a meaning of its own in c2s")
        where = f"{self.kind} {name!r} of the package {plugin.distribution} cannot be used: {plugin.target}"
        loaded: T = _imported(plugin.target, f"{where} failed")
        if not isinstance(loaded, _attribute(self.type)):
            raise UsageError(f"{where} is no {self.type.replace(':', '.')}, but {type(loaded).__name__}")
        if self._named is not None and self._named(loaded) != name:
            raise UsageError(f"{where} is named {self._named(loaded)!r}; its entry point must have the same name")
        return self._owned(loaded, plugin.distribution)


_REGISTRIES: dict[Kind, Registry[Any]] = {}


def resolve_endpoint(panel: str, endpoint: str) -> Callable[..., Any]:
    """The function that an endpoint of a panel names as "module:function".

    It may be in `c2s.reports`, or in the top-level packages of the distribution that brought the panel. Raises UsageError with the
    panel, the endpoint and the reason.
    """
    where = f"panel {panel!r}: the endpoint {endpoint!r}"
    module = endpoint.partition(":")[0]
    if not _TARGET.fullmatch(endpoint):
        raise UsageError(f"{where} is not written as module:function")
    if not (module == "c2s.reports" or module.startswith("c2s.reports.")):
        registry = _REGISTRIES.get("panel")
        own: frozenset[str] = frozenset()
        if registry is not None and panel not in registry.declared and panel in registry:
            own = registry.plugin(panel).packages
        if module.partition(".")[0] not in own:
            there = f" and not in {', '.join(sorted(own))}, which brought the panel" if own else ""
            raise UsageError(f"{where} is not in c2s.reports{there}")
    found = _imported(endpoint, f"{where} cannot be used")
    if not callable(found):
        raise UsageError(f"{where} is no function, but {type(found).__name__}")
    return found  # type: ignore[no-any-return]


def resolve_target(entry: Entry) -> Callable[..., Any]:
    """What opens a model. Raises UsageError where its package does not hold it."""
    where = f"model {entry.name!r} of the package {entry.distribution}: {entry.target!r}"
    if entry.distribution != OURS:
        packages = next((p.packages for p in _installed("model").get(entry.kind, ()) if p.distribution == entry.distribution), frozenset())
        if not _TARGET.fullmatch(entry.target) or entry.target.partition(":")[0].partition(".")[0] not in packages:
            raise UsageError(f"{where} is not a module:function of that package")
    found = _imported(entry.target, f"{where} cannot be imported")
    return getattr(found, "open", found)  # type: ignore[no-any-return]


def origins(names: Mapping[Kind, Sequence[str]]) -> dict[str, dict[str, list[str]]]:
    """{kind: {name: [distribution, version]}} of those of these names that packages bring; for a manifest's provenance."""
    found: dict[str, dict[str, list[str]]] = {}
    for kind, used in names.items():
        registry = _REGISTRIES[kind]
        for name in used:
            if name not in registry.declared and name in registry:
                brought = registry.distribution(name)
                found.setdefault(kind, {})[name] = [brought.name, brought.version]
    return found


def missing(kind: Kind, name: str, provenance: Mapping[str, Any]) -> str | None:
    """See `Registry.missing`."""
    return _REGISTRIES[kind].missing(name, provenance)


def _brought(kind: Kind, name: str, provenance: Mapping[str, Any]) -> str:
    brought = provenance.get("plugins") if isinstance(provenance, Mapping) else None
    brought = brought.get(kind) if isinstance(brought, Mapping) else None
    brought = brought.get(name) if isinstance(brought, Mapping) else None
    if isinstance(brought, list) and len(brought) == 2 and all(isinstance(part, str) for part in brought):
        return f": it came with the package {brought[0]} {brought[1]}; install that package again"
    return ": this c2s does not have it, and the run does not say which package brought it"


def _attribute(target: str) -> Any:
    module, _, attribute = target.partition(":")
    loaded = importlib.import_module(module)
    try:
        return getattr(loaded, attribute)
    except AttributeError:
        raise ImportError(f"the module {module} has no {attribute}") from None


def _imported(target: str, where: str) -> Any:
    """What a target names. Whatever a package does when it is imported becomes a UsageError that begins with `where`, and the others go
    on; only Ctrl-C ends the command. What the package prints goes to standard error."""
    try:
        with TO_STDERR:
            return _attribute(target)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, C2SError) and target.startswith("c2s."):
            raise  # one of our own modules, which says itself what it lacks
        raise UsageError(f"{where}: {described(error)}") from error


def _installed(kind: Kind) -> Mapping[str, tuple[Plugin, ...]]:
    try:
        here = os.getcwd()
    except OSError:  # the folder has been removed
        here = ""
    return _entry_points(GROUPS[kind], _without(here, tuple(sys.path)))


@lru_cache
def _without(here: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """The path without the current folder: files that only lie there are not installed. An editable install of it is, by the metadata in
    its environment."""
    return tuple(entry for entry in path if entry and (not here or os.path.realpath(entry) != os.path.realpath(here)))


@lru_cache
def _entry_points(group: str, path: tuple[str, ...]) -> Mapping[str, tuple[Plugin, ...]]:
    """Entry points of a group by name, of the packages in the folders of `path`."""
    from importlib import metadata  # most commands ask for names of c2s alone, and need not wait for it

    found: dict[str, list[Plugin]] = {}
    seen: set[str] = set()
    for installed in metadata.distributions(path=list(path)):
        points = installed.entry_points.select(group=group)
        if not points:
            continue
        name = installed.metadata["Name"] or "unnamed"
        plain = re.sub(r"[-_.]+", "-", name).lower()
        if plain in seen:  # an earlier folder of the path has this package: that is the one which is imported
            continue
        seen.add(plain)
        for point in points:
            plugin = Plugin(point.name, point.value, Distribution(name, installed.version), _packages(installed))
            found.setdefault(point.name, []).append(plugin)
    return {name: tuple(plugins) for name, plugins in sorted(found.items())}


def _packages(distribution: metadata.Distribution) -> frozenset[str]:
    """Top-level packages and modules of a distribution: those that it lists, that its files are in, and that its own entry points name."""
    listed = (distribution.read_text("top_level.txt") or "").split()
    files = [file.parts[0].removesuffix(".py") for file in distribution.files or () if file.suffix == ".py"]
    pointed = [point.value.partition(":")[0].partition(".")[0] for point in distribution.entry_points if point.group in GROUPS.values()]
    return frozenset(name for name in [*listed, *files, *pointed] if name.isidentifier())
