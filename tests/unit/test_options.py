"""The declared options: ranges, several values, options that exclude each other, and the arguments that follow from them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c2s.cli import COMMANDS, parser
from c2s.cli.arguments import options
from c2s.cli.commands import ARGUMENTS
from c2s.errors import UsageError
from c2s.options import AuditOptions, Endpoint, Options, ResumeOptions, RunOptions, ServiceOptions, as_dict, declared, overlaid, part


def given(*words: str, cls: type[Options] = RunOptions, command: str = "run") -> Any:
    return options(cls, parser().parse_args([command, *words]))


def test_what_is_given_several_times_is_kept():
    assert given("--panel", "main,readout", "--panel", "support", "--panel", "main").panels == ("main", "readout", "support")
    assert given("--domain", "math", "--domain", "lexical").domains == ("math", "lexical")
    assert given("--data", "a,b", "--data", "c").data == ("a,b", "c"), "a file's name may hold a comma"
    assert given("--reuse-from", "a", "--reuse-from", "b").reuse_from == ("a", "b")
    assert given("--contracts", "FINAL3", "--contracts", "FINAL4").contracts == ("FINAL3", "FINAL4")
    assert given().panels == ("main",) and given().limit is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--limit", "3", "--limit", "4"), "--limit is given twice; give one"),
        (("run", "--out", "a", "--model", "m", "--out", "b"), "--out is given twice"),
        (("resume", "d", "--retry-errors", "--retry-errors"), "--retry-errors is given twice"),
        (("report", "d", "--json", "--format", "md"), "--format and --json set the same; give one"),
        (("bank", "build", "--out", "a", "--out", "b"), "--out is given twice"),
        (("run", "--pannel", "main"), "unknown option --pannel (did you mean --panel"),
        (("run", "--base-ulr=x"), "unknown option --base-ulr (did you mean --base-url"),
        (("judge", "audit", "--rubrik", "x"), "unknown option --rubrik (did you mean --rubric"),
        (("stats",), "invalid choice 'stats' (did you mean status?)"),
        (("bank", "chek"), "invalid choice 'chek' (did you mean check?)"),
        (("status", "a", "b"), "unknown argument b"),
    ],
)
def test_wrong_usage_is_one_sentence(words: tuple[str, ...], message: str):
    with pytest.raises(UsageError) as error:
        parser().parse_args(words)
    assert message in str(error.value) and "--help)" in str(error.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--concurrency", "0"), "--concurrency is between 1 and 1000"),
        (("--timeout", "inf"), "--timeout is a positive number"),
        (("--cap", "nan"), "--cap is a positive number"),
        (("--retries", "-1"), "--retries is not below zero"),
        (("--limit", "0"), "--limit is the number of parents per domain"),
        (("--seed", str(2**63)), "--seed is a whole number of at most 64 bits"),
        (("--panel", "main,,support"), "--panel takes names with commas between them"),
        (("--key-env", "A", "--key-file", "b"), "give only one of --key-env, --key-command and --key-file"),
        (("--contracts", "FINAL3", "--rubric", "r.toml"), "give only one of --contracts and --rubric"),
    ],
)
def test_ranges_name_the_flag(words: tuple[str, ...], message: str):
    with pytest.raises(UsageError, match="^" + message.replace("(", r"\(")):
        given(*words)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"concurrency": 0}, "concurrency is between 1 and 1000"),
        ({"concurrency": "8"}, "concurrency is a whole number, not '8'"),
        ({"limit": True}, "limit is a whole number, not True"),
        ({"limit": 2.5}, "limit is a whole number, not 2.5"),
        ({"cap": "much"}, "cap is a number"),
        ({"on_model_change": "marc"}, "on_model_change is one of stop, mark, not 'marc' (did you mean mark?)"),
        ({"key_env": "A", "key_command": "b"}, "give only one of key_env, key_command and key_file"),
        ({"panels": 3}, "panels"),
    ],
)
def test_ranges_name_the_keyword(values: dict[str, Any], message: str):
    with pytest.raises(UsageError) as error:
        RunOptions(**values)
    assert str(error.value).startswith(message)


def test_values_become_what_is_declared():
    made = RunOptions(panels="main,readout", data=Path("a"), out=Path("b"), limit=np.int64(4), timeout=np.float32(2), cap=3)
    assert made.panels == ("main", "readout") and made.data == ("a",) and made.out == "b" and made.timeout == 2.0
    assert type(made.limit) is int and type(made.cap) is float
    assert part(Endpoint, made) == Endpoint(timeout=2.0) and as_dict(Endpoint, made)["timeout"] == 2.0


def test_one_source_of_a_key_replaces_another():
    stored = as_dict(ServiceOptions, ServiceOptions(key_env="A", timeout=3))
    now = as_dict(ServiceOptions, ServiceOptions(key_file="k"))
    assert {k: v for k, v in overlaid(ServiceOptions, stored, now).items() if v is not None} == {"timeout": 3.0, "key_file": "k"}


def test_a_configuration_file_gives_what_the_command_line_does_not(tmp_path: Path):
    file = tmp_path / "run.toml"
    file.write_text('model = "sim:oracle"\npanels = ["main"]\nlimit = 4\nkey_env = "A"\nout = "runs/x"\ncap = 3\n')
    made = given("--config", str(file), "--limit", "2", "--key-file", "k", "--panel", "support")
    assert (made.model, made.panels, made.limit, made.key_env, made.key_file) == ("sim:oracle", ("support",), 2, None, "k")
    assert made.out == os.path.join(tmp_path, "runs/x") and made.cap == 3.0
    with pytest.raises(UsageError, match=r"run\.toml, line 2: panel: unknown key \(did you mean panels"):
        file.write_text('model = "sim:oracle"\npanel = "main"\n')
        given("--config", str(file))


def test_every_command_has_arguments_and_every_option_is_described():
    assert [name for name, _, _ in COMMANDS] == list(ARGUMENTS)
    for cls in (RunOptions, ResumeOptions, AuditOptions):
        for name, option in declared(cls).items():
            assert option.help and option.flag.startswith("--"), name
            assert option.kind == "flag" or option.metavar or option.choices, name
    names = [o.flag for o in declared(RunOptions).values()]
    assert len(names) == len(set(names))


def test_the_parser_is_filled_for_the_command_that_is_called(monkeypatch: pytest.MonkeyPatch):
    filled: list[str] = []

    def note(name: str) -> Any:
        return lambda command: filled.append(name) or command.add_argument("dir")

    monkeypatch.setattr("c2s.cli.commands.ARGUMENTS", {name: note(name) for name in ARGUMENTS})
    assert isinstance(parser().parse_args(["status", "x"]), argparse.Namespace) and filled == ["status"]
