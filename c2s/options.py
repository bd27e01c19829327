"""The options of a run, declared once.

Every field of a class below carries what it means: its flag, its help, whether it may be given several times, its choices and its range.
From these declarations come the arguments of the command line (`c2s/cli/arguments.py`), the keywords of the Python functions
(`c2s/api`) and the keys of a TOML configuration (`c2s/toml_files.py`). A field is named like the keyword and the key; `--panel` and
`--domain`, which may be given several times, are called `panels` and `domains` there.
"""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeVar, Union

from c2s.errors import UsageError, nearest

Texts = str | Sequence[str]
"""A keyword that takes one name or several."""
PathName = str | os.PathLike[str]
PathNames = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

Exclusive = tuple[tuple[str, ...], ...]
Kind = Literal["text", "integer", "real", "flag"]
Named = Callable[[str], str]
"""What a person calls a field: its keyword, its flag or its key in a file."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A range: `holds` says whether a value is inside, `phrase` completes the sentence `NAME ...` where it is not."""

    holds: Callable[[Any], bool]
    phrase: str


POSITIVE = Rule(lambda value: 0 < value < float("inf"), "is a positive number")
NOT_NEGATIVE = Rule(lambda value: value >= 0, "is not below zero")


@dataclass(frozen=True, slots=True)
class Declared:
    """One option as a person meets it. `kind` and `choices` follow from the field's annotation."""

    name: str
    flag: str
    help: str
    default: Any
    kind: Kind
    metavar: str | None = None
    several: bool = False
    commas: bool = False
    path: bool = False
    choices: tuple[str, ...] = ()
    rule: Rule | None = None
    group: str = ""

    def value(self, given: Any, name: str) -> Any:
        """`given` as this option's type. Raises UsageError that begins with `name` for a wrong type or a value out of range."""
        if given is None:
            return self.default
        if self.several:
            several = [given] if isinstance(given, str | os.PathLike) else given
            if not isinstance(several, Iterable):
                raise UsageError(f"{name} is a text or a list of texts, not {given!r}")
            parts = [self._one(part, name) for part in several]
            if self.commas:
                parts = [part.strip() for text in parts for part in text.split(",")]
            if (
                self.commas and not parts and (self.default or not isinstance(given, tuple))
            ):  # an empty tuple is how an object holds that nothing is given
                raise UsageError(f"{name} is empty: name at least one, or leave {name} away for the default")
            if "" in parts:
                raise UsageError(f"{name} takes names{' with commas between them' if self.commas else ''}, none of them empty")
            return tuple(dict.fromkeys(parts))
        return self._one(given, name)

    def _one(self, given: Any, name: str) -> Any:
        value = _typed(given, self.kind, name)
        if self.choices and value not in self.choices:
            raise UsageError(f"{name} is one of {', '.join(self.choices)}, not {value!r}{nearest(value, list(self.choices))}")
        if self.rule is not None and not self.rule.holds(value):
            raise UsageError(f"{name} {self.rule.phrase}")
        return value


def _typed(given: Any, kind: Kind, name: str) -> Any:
    if kind == "flag":
        if isinstance(given, bool):
            return given
        raise UsageError(f"{name} is true or false, not {given!r}")
    if kind == "text":
        if isinstance(given, str | os.PathLike):
            return os.fspath(given)
        raise UsageError(f"{name} is a text, not {given!r}")
    if not isinstance(given, bool) and hasattr(given, "__index__"):
        return float(given) if kind == "real" else int(given)
    if kind == "real" and not isinstance(given, bool) and hasattr(given, "__float__"):
        return float(given)
    raise UsageError(f"{name} is a {'whole number' if kind == 'integer' else 'number'}, not {given!r}")


def option(
    help: str,
    *,
    default: Any = None,
    flag: str | None = None,
    metavar: str | None = None,
    several: bool = False,
    commas: bool = False,
    path: bool = False,
    rule: Rule | None = None,
) -> Any:
    """A field of an options class. `several`: given again, it appends; `commas`: one value may hold several, with commas between them.
    `path`: it names a file or a folder."""
    default = () if several and default is None else default
    about = {"help": help, "flag": flag, "metavar": metavar, "several": several, "commas": commas, "path": path, "rule": rule}
    return field(default=default, metadata=about, kw_only=True)


@dataclass(frozen=True)
class Options:
    """Base of the declared options. Values are checked and converted when an object is made."""

    group: ClassVar[str] = ""
    exclusive: ClassVar[Exclusive] = ()
    """Sets of fields of which at most one may be given."""

    def __post_init__(self) -> None:
        for name, value in checked(type(self), {f.name: getattr(self, f.name) for f in fields(self)}).items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Endpoint(Options):
    """Where a model is and how it is reached."""

    group = "models over a network"
    exclusive: ClassVar[Exclusive] = (("key_env", "key_command", "key_file"),)
    base_url: str | None = option("the server; wins over the profile and its environment variable", metavar="URL")
    profile: str | None = option(
        "a provider: typesafe, openrouter, vercel, litellm, sglang, llamacpp, startlux, openai, vllm, ollama", metavar="NAME"
    )
    profiles: str | None = option("TOML file with profiles of your own (or C2S_PROFILES)", metavar="FILE", path=True)
    key_env: str | None = option("environment variable that holds the API key", metavar="VAR")
    key_command: str | None = option("a command that prints the API key", metavar="CMD")
    key_file: str | None = option("a file that holds the API key and that only you can read (0600)", metavar="FILE", path=True)
    timeout: float | None = option("for one whole request and response (default: 60)", metavar="SECONDS", rule=POSITIVE)


@dataclass(frozen=True)
class Pace(Options):
    """How fast a model is asked, what that may cost, and what to do when something goes wrong."""

    group = "pace, money, trouble"
    concurrency: int | None = option(
        "requests under way at once (default: the profile's, or 8)",
        metavar="N",
        rule=Rule(lambda value: 1 <= value <= 1000, "is between 1 and 1000"),
    )
    rate: float | None = option("starts per second, at most", metavar="N", rule=POSITIVE)
    token_rate: float | None = option("estimated input tokens per second, at most", metavar="N", rule=POSITIVE)
    prices: str | None = option("TOML file with prices of your own (or C2S_PRICES)", metavar="FILE", path=True)
    cap: float | None = option("hard cap on this run; reaching it stops the run, resumable", metavar="USD", rule=POSITIVE)
    provider_cap: float | None = option("hard cap on this provider over all runs in the same folder", metavar="USD", rule=POSITIVE)
    retries: int | None = option(
        "further sends of a request that was provably not processed (default: 8; 0: none)", metavar="N", rule=NOT_NEGATIVE
    )
    retry_malformed: int | None = option(
        "further sends after a response that breaks the protocol (default: 0)", metavar="N", rule=NOT_NEGATIVE
    )
    stop_after_errors: int | None = option(
        "stop, resumable, after N failed requests in a row (default: 25; 0: never)", metavar="N", rule=NOT_NEGATIVE
    )
    on_model_change: Literal["stop", "mark"] | None = option("when another model id comes back (default: stop)")
    unreachable_after: float | None = option(
        "stop, resumable, when the server is out of reach so long (default: 1800)", metavar="SECONDS", rule=POSITIVE
    )


@dataclass(frozen=True)
class ServiceOptions(Pace, Endpoint):
    """How a model is asked. A run stores these; `resume` takes them again, and what is given then replaces what was stored."""


@dataclass(frozen=True)
class Model(Options):
    model: str | None = option("see `c2s models` (default: sparrow where it is installed)", metavar="NAME")


def _contracts(help: str) -> Any:
    return option(help, metavar="NAME[,NAME]", several=True, commas=True)


@dataclass(frozen=True)
class Grading(Options):
    """The grading rules of judge panels."""

    exclusive: ClassVar[Exclusive] = (("contracts", "rubric"),)
    contracts: tuple[str, ...] = _contracts("judge panels: the grading rules (default: FINAL3,FINAL4; FINAL3 for a text model)")
    rubric: str | None = option("judge panels: your own rubric (TOML or JSON) instead of those", metavar="FILE", path=True)


@dataclass(frozen=True)
class Selection(Options):
    """What is asked of a model: panels, and which of their parents."""

    panels: tuple[str, ...] = option(
        "see `c2s panels`; all: those of c2s itself that the model supports (default: main)",
        default=("main",),
        flag="--panel",
        metavar="NAME[,NAME]",
        several=True,
        commas=True,
    )
    limit: int | None = option(
        "N parents per domain: a seeded prefix, balanced over lengths",
        metavar="N",
        rule=Rule(lambda value: 1 <= value <= 10**9, "is the number of parents per domain, at least 1 and at most a billion"),
    )
    domains: tuple[str, ...] = option(
        "only these domains, such as math or lexical", flag="--domain", metavar="D[,D]", several=True, commas=True
    )
    seed: int | None = option(
        "keys displayed order and sampling (default: the paper's, 20261005)",
        metavar="S",
        rule=Rule(lambda value: -(2**63) <= value < 2**63, "is a whole number of at most 64 bits"),
    )
    data: tuple[str, ...] = option(
        "parents from a data file (see `c2s data`), for panels that read one", metavar="FILE", several=True, path=True
    )
    field_options: Literal["ids", "values"] | None = option("dialogue panels: name options by id (default) or by value")
    observed: tuple[str, ...] = option(
        "copying panel: wrong targets from this earlier run's Native, where it has some", metavar="DIR", several=True, path=True
    )
    wordnet: str | None = option("a WordNet 3.0 database folder (or C2S_WORDNET)", metavar="DIR", path=True)


@dataclass(frozen=True)
class PlanOptions(ServiceOptions, Grading, Selection, Model):
    """`c2s plan`."""


@dataclass(frozen=True)
class NewRun(Options):
    """Where a new run goes, and what it takes from earlier ones."""

    out: str | None = option("run directory; must not exist (default: runs/PANEL-MODEL-TIME)", metavar="DIR", path=True)
    reuse_from: tuple[str, ...] = option(
        "copy answers to the same requests from earlier runs, with provenance; the first run that has an answer gives it",
        metavar="DIR",
        several=True,
        path=True,
    )


@dataclass(frozen=True)
class RunOptions(PlanOptions, NewRun):
    """`c2s run`."""


@dataclass(frozen=True)
class ResumeOptions(ServiceOptions):
    """`c2s resume`."""

    retry_errors: bool = option("ask again what ended in an error", default=False)
    replay_unknown: bool = option("send again what was sent without a response (may be paid twice)", default=False)


@dataclass(frozen=True)
class AuditOptions(ServiceOptions, NewRun, Grading, Model):
    """`c2s judge audit`."""

    contracts: tuple[str, ...] = _contracts("the grading rules: FINAL3, FINAL4 or both (default: FINAL3)")
    items: str | None = option(
        "your items: question, reference, correct, wrong (default: our own synthetic ones)", flag="--data", metavar="FILE.jsonl", path=True
    )
    limit: int | None = option(
        "only the first N items of each workload: your own items are one, the default ones two",
        metavar="N",
        rule=Rule(lambda value: 1 <= value <= 10**9, "is the number of items of each workload, at least 1"),
    )
    yes: bool = option("send the requests to a paid model", default=False)


T = TypeVar("T", bound=Options)


_DECLARED: dict[type[Options], Mapping[str, Declared]] = {}


def declared(cls: type[Options]) -> Mapping[str, Declared]:
    """The options of a class by field name."""
    if cls not in _DECLARED:
        _DECLARED[cls] = _declared(cls)
    return _DECLARED[cls]


def _declared(cls: type[Options]) -> Mapping[str, Declared]:
    hints = typing.get_type_hints(cls)
    bases = [base for base in reversed(cls.__mro__) if issubclass(base, Options)]
    owners = {name: base for base in bases for name in vars(base).get("__annotations__", {})}
    found = {}
    for f in fields(cls):
        kind, choices = _kind(hints[f.name])
        about = dict(f.metadata)
        flag = about.pop("flag") or "--" + f.name.replace("_", "-")
        found[f.name] = Declared(f.name, flag, about.pop("help"), f.default, kind, choices=choices, group=owners[f.name].group, **about)
    return found


def _kind(hint: Any) -> tuple[Kind, tuple[str, ...]]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        (hint,) = [part for part in typing.get_args(hint) if part is not type(None)]
    if typing.get_origin(hint) is Literal:
        return "text", typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        hint = typing.get_args(hint)[0]
    kinds: dict[Any, Kind] = {str: "text", int: "integer", float: "real", bool: "flag"}
    return kinds[hint], ()


def checked(cls: type[Options], values: Mapping[str, Any], name: Named = str) -> dict[str, Any]:
    """`values` by field name, each as its option's type. Raises UsageError, which calls a field what `name` calls it."""
    known = declared(cls)
    for key in values:
        if key not in known:
            raise UsageError(f"unknown option {key!r}{nearest(key, list(known))}")
    result = {key: known[key].value(value, name(key)) for key, value in values.items()}
    for group in _exclusive(cls):
        if sum(bool(result.get(key)) for key in group) > 1:
            *most, last = [name(key) for key in group]
            raise UsageError(f"give only one of {', '.join(most)} and {last}")
    return result


def flag(cls: type[Options]) -> Named:
    """What the command line calls a field."""
    return lambda name: declared(cls)[name].flag


def overlaid(cls: type[Options], base: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with what is given `now` in its place; of options that exclude each other, the one given now stays."""
    given = {name: value for name, value in now.items() if value is not None}
    replaced = {name for group in _exclusive(cls) if any(key in given for key in group) for name in group}
    return {name: value for name, value in base.items() if name not in replaced} | given


def _exclusive(cls: type[Options]) -> set[tuple[str, ...]]:
    return {group for base in cls.__mro__ for group in vars(base).get("exclusive", ())}


def part(cls: type[T], options: Options) -> T:
    """The options of a smaller class, out of a larger one that has all of its fields."""
    return cls(**{f.name: getattr(options, f.name) for f in fields(cls)})


def as_dict(cls: type[Options], options: Options) -> dict[str, Any]:
    """Field -> value for the fields of `cls`, as a manifest stores them."""
    return {f.name: getattr(options, f.name) for f in fields(cls)}
