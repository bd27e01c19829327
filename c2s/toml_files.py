"""TOML files that people write: typed values, or an error that names file, line, key and the near misses.

A file is read into a declared type: an options class (`c2s/options.py`), or a dataclass whose fields are text, numbers, true or false, a
`Literal`, a tuple, a mapping from names, or another dataclass of this kind. A field without a default is required.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union

from c2s.errors import UsageError, nearest
from c2s.options import Options, Rule, checked, declared

NOT_IN_FILES: Mapping[str, Any] = {"not_in_files": True}
"""Metadata of a dataclass field that no file gives."""


def ranged(rule: Rule) -> Mapping[str, Any]:
    """Metadata of a dataclass field whose values have a range."""
    return {"rule": rule}


Where = tuple[str | int, ...]
T = TypeVar("T")
OptionsT = TypeVar("OptionsT", bound=Options)


class TomlFile:
    """One file, parsed. `what` says in messages what it is for, such as "configuration"."""

    def __init__(self, path: str | os.PathLike[str], what: str) -> None:
        self.path = Path(path).expanduser()
        try:
            self.text = self.path.read_bytes().decode()
            self.values: dict[str, Any] = tomllib.loads(self.text)
        except OSError as error:
            raise UsageError(f"cannot read the {what} in {self.path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{self.path} is not TOML: {error}") from None

    def options(self, cls: type[Options]) -> dict[str, Any]:
        """The given options of `cls`, checked. Paths are taken relative to the file's folder."""
        known = declared(cls)
        for key, value in self.values.items():
            if key not in known:
                raise self.error((key,), f"unknown key{nearest(key, list(known))}; known: {', '.join(known)}")
            if isinstance(value, dict):
                raise self.error((key,), "is a table; options stand at the top of the file")
        given = checked(cls, self.values, lambda name: self.named((name,)))
        return {name: self._beside(value) if known[name].path else value for name, value in given.items()}

    def _beside(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._beside(part) for part in value)
        return os.path.join(self.path.parent, os.path.expanduser(value))

    def into(self, cls: type[T]) -> T:
        """The whole file as one object of a dataclass."""
        return typing.cast(T, _Reader(self).value(cls, self.values, ()))

    def members(self, cls: type[Any], name: str) -> dict[str, Any]:
        """The members that the table `name` gives of a dataclass, checked; what it leaves out may stand elsewhere."""
        table = self.values[name]
        if not isinstance(table, dict):
            raise self.error((name,), 'is not a table; a name with dots is quoted: ["a.b"]')
        return _Reader(self).members(cls, table, (name,))

    def error(self, where: Where, message: str) -> UsageError:
        return UsageError(f"{self.named(where)}: {message}")

    def named(self, where: Where) -> str:
        """`FILE, line N: KEY`; the line of the nearest table where the key itself has none."""
        lines = dict(positions(self.text))
        line = next((lines[where[:n]] for n in range(len(where), 0, -1) if where[:n] in lines), None)
        key = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
        return f"{self.path}{f', line {line}' if line else ''}: {key}"


def positions(text: str) -> Iterator[tuple[Where, int]]:
    """(key, line) for every key and table of a TOML text, first mention first. Tables of an array are counted from 0."""
    table: Where = ()
    counts: dict[Where, int] = {}
    seen: set[Where] = set()
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        end = at + 1
        while (statement := _parsed("".join(lines[at:end]))) is None and end < len(lines):
            end += 1  # a value over several lines
        if statement:
            header = lines[at].lstrip().startswith("[")
            if header:
                table = _array(next(_paths(statement, ())), lines[at], counts)
            for where in [table[:n] for n in range(1, len(table) + 1)] if header else [table + path for path in _paths(statement, ())]:
                if where not in seen:
                    seen.add(where)
                    yield where, at + 1
        at = end


def _array(name: Where, header: str, counts: dict[Where, int]) -> Where:
    """The path of a table, with the number of every array that it stands in."""
    path: Where = ()
    for part in (part for part in name if isinstance(part, str)):
        path += (part,)
        if header.lstrip().startswith("[[") and path == tuple(p for p in name if isinstance(p, str)):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path += (counts[path],)
    return path


def _parsed(statement: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return None


def _paths(value: Any, where: Where) -> Iterator[Where]:
    """The paths of a statement's own key, the deepest first, and of what an inline table holds."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _paths(member, (*where, key))
        if where:
            yield where
    elif isinstance(value, list) and value and all(isinstance(member, dict) for member in value):
        for number, member in enumerate(value):
            yield from _paths(member, (*where, number))
        yield where
    else:
        yield where


@dataclasses.dataclass(frozen=True, slots=True)
class _Reader:
    """Values of a declared type out of parsed TOML."""

    file: TomlFile

    def value(self, hint: Any, value: Any, where: Where) -> Any:
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Union, types.UnionType):
            (hint,) = [part for part in parts if part is not type(None)]
            return self.value(hint, value, where)
        if origin is Literal:
            if value not in parts:
                near = nearest(value, list(parts)) if isinstance(value, str) else ""
                raise self.file.error(where, f"is one of {', '.join(parts)}, not {value!r}{near}")
            return value
        if origin is tuple:
            if not isinstance(value, list):
                raise self.file.error(where, f"is a list, not {value!r}")
            return tuple(self.value(parts[0], member, (*where, n)) for n, member in enumerate(value))
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {key: self.value(parts[1], member, (*where, key)) for key, member in self.table(value, where).items()}
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            members = self.members(hint, self.table(value, where), where)
            for f in dataclasses.fields(hint):
                required = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
                if required and f.name not in members and not f.metadata.get("not_in_files"):
                    raise self.file.error((*where, f.name), "is missing")
            return hint(**members)
        return self.plain(hint, value, where)

    def members(self, cls: Any, table: Mapping[str, Any], where: Where) -> dict[str, Any]:
        hints = typing.get_type_hints(cls)
        known = [f.name for f in dataclasses.fields(cls) if f.init and not f.metadata.get("not_in_files")]
        for key in table:
            if key not in known:
                quoted = '; a name with dots is quoted, as in ["a.b"]' if isinstance(table[key], dict) else ""
                raise self.file.error((*where, key), f"unknown key{nearest(key, known)}; known: {', '.join(known)}{quoted}")
        values = {key: self.value(hints[key], value, (*where, key)) for key, value in table.items()}
        for f in dataclasses.fields(cls):
            rule = f.metadata.get("rule")
            if rule is not None and values.get(f.name) is not None and not rule.holds(values[f.name]):
                raise self.file.error((*where, f.name), rule.phrase)
        return values

    def table(self, value: Any, where: Where) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.file.error(where, f"is a table, not {value!r}")
        return value

    def plain(self, hint: Any, value: Any, where: Where) -> Any:
        names = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
        sorts: tuple[type, ...] = (int, float) if hint is float else (hint,)
        if hint is not Any and (not isinstance(value, sorts) or (isinstance(value, bool) and hint is not bool)):
            raise self.file.error(where, f"is {names[hint]}, not {value!r}")
        return value


def layered(cls: type[Any], shipped: Mapping[str, Mapping[str, Any]], file: TomlFile | None) -> dict[str, dict[str, Any]]:
    """The shipped tables with those of a user's file on top, member by member."""
    tables = {name: dict(members) for name, members in shipped.items()}
    if file is not None:
        for name in file.values:
            tables[name] = tables.get(name, {}) | file.members(cls, name)
    return tables


def read_options(path: str | os.PathLike[str], cls: type[OptionsT]) -> OptionsT:
    """A configuration file as an options object. Raises UsageError that names file, line, key and the near misses."""
    return cls(**TomlFile(path, "configuration").options(cls))
