"""Arguments of the command line: parsers that are filled when their command is called, and arguments from declared options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from c2s.errors import UsageError, nearest

if TYPE_CHECKING:
    from c2s.options import Options

    OptionsT = TypeVar("OptionsT", bound=Options)

Fill = Callable[["CommandParser"], None]


def _once(parser: argparse.ArgumentParser, namespace: argparse.Namespace, dest: str, flag: str | None) -> None:
    """Refuse an option that is given a second time: of two values one would be dropped."""
    if flag is None:
        return
    given: dict[str, str] = namespace.__dict__.setdefault("_given", {})
    if dest in given:
        again = "is given twice" if given[dest] == flag else f"and {given[dest]} set the same"
        parser.error(f"{flag} {again}; give one")
    given[dest] = flag


class _Store(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: str | None = None) -> None:
        _once(parser, namespace, self.dest, flag)
        setattr(namespace, self.dest, values)


class _StoreConst(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, const: Any = True, default: Any = False, **rest: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, const=const, default=default, **rest)

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: str | None = None) -> None:
        _once(parser, namespace, self.dest, flag)
        setattr(namespace, self.dest, self.const)


class CommandParser(argparse.ArgumentParser):
    """A parser whose arguments are added when it is used. What it refuses is a UsageError with the near misses of a misspelt option."""

    def __init__(self, *args: Any, fill: Fill | None = None, **named: Any) -> None:
        super().__init__(*args, **named)
        for name, action in ((None, _Store), ("store", _Store), ("store_const", _StoreConst), ("store_true", _StoreConst)):
            self.register("action", name, action)
        self._fill = fill

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._fill is not None:
            fill, self._fill = self._fill, None
            fill(self)
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            word = rest[0].partition("=")[0]
            kind = "option" if word.startswith("-") else "argument"
            self.error(f"unknown {kind} {word}{nearest(word, list(self._option_string_actions))}")
        return parsed, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(action, f"invalid choice {value!r}{nearest(str(value), known)}; known: {', '.join(known)}")

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.removeprefix('argument ')} (see: {self.prog} --help)")


def subcommands(parser: argparse.ArgumentParser, dest: str, metavar: str) -> Callable[..., CommandParser]:
    """`add(name, target, help, fill)` for the commands under `parser`; `target` is "module:function" in `c2s.cli`."""
    commands = parser.add_subparsers(dest=dest, required=True, metavar=metavar, parser_class=CommandParser, prog=parser.prog)

    def add(name: str, target: str, help: str, fill: Fill | None = None, **named: Any) -> CommandParser:
        def filled(command: CommandParser) -> None:
            command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
            if fill is not None:
                fill(command)

        command = commands.add_parser(name, help=help, description=help, fill=filled, **named)
        command.set_defaults(target=target)
        return command

    return add


def whole(text: str) -> int:
    """A whole number as it is typed."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def real(text: str) -> float:
    """A number as it is typed."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON document on stdout")


def add_options(command: argparse.ArgumentParser, cls: type[Options], *, config: bool = False) -> None:
    """Arguments for every option of `cls`. Only those that are given enter the namespace. With `config`, a file may give them too."""
    from c2s.options import declared

    groups: dict[str, Any] = {"": command}
    for name, option in declared(cls).items():
        if option.group not in groups:
            groups[option.group] = command.add_argument_group(option.group)
        add = groups[option.group].add_argument
        about: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": option.help}
        if option.kind == "flag":
            add(option.flag, action="store_true", **about)
            continue
        about |= {"type": {"text": str, "integer": whole, "real": real}[option.kind], "metavar": option.metavar}
        add(option.flag, action="append" if option.several else "store", choices=option.choices or None, **about)
    if config:
        renamed = [o for o in declared(cls).values() if o.flag != "--" + o.name.replace("_", "-")]
        others = "".join(f", {o.name} for {o.flag}" for o in renamed)
        command.add_argument(
            "--config",
            metavar="FILE.toml",
            help="a file with these options as keys, spelt with underscores: base_url for --base-url"
            f"{others}; several values stand in a list; what is given on the command line replaces the file's values",
        )


def options(cls: type[OptionsT], namespace: argparse.Namespace, *, file: type[Options] | None = None) -> OptionsT:
    """The declared options that were given, over those of a configuration file. Raises UsageError that names the flag or the key.

    `file` are the options that the file may give, where these are more than those of the command: all are checked, the others not used.
    """
    from c2s.options import checked, declared, flag, overlaid

    given = {name: getattr(namespace, name) for name in declared(cls) if hasattr(namespace, name)}
    values = checked(cls, given, flag(cls))
    if getattr(namespace, "config", None):
        from c2s.toml_files import TomlFile

        stored = TomlFile(namespace.config, "configuration").options(file or cls)
        values = overlaid(cls, {name: value for name, value in stored.items() if name in declared(cls)}, values)
    return cls(**values)
