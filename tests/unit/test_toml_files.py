"""TOML files that people write: typed values, or an error that names file, line, key and the near misses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from c2s.errors import UsageError
from c2s.options import NOT_NEGATIVE, PlanOptions
from c2s.toml_files import TomlFile, layered, positions, read_options

TEXT = '''# a study
name = "one"
sizes = [
  1,
  2,
]
note = """
sizes = 3
"""

[task]
prompt.text = "a"
kind = "short"

[[runs]]
model = "a"
[[runs]]
model = "b"
weights = { x = 1.5, "y.z" = 2 }
'''


@dataclass(frozen=True)
class Prompt:
    text: str
    tokens: int = field(default=4, metadata={"rule": NOT_NEGATIVE})


@dataclass(frozen=True)
class Task:
    prompt: Prompt
    kind: Literal["short", "long"] = "long"


@dataclass(frozen=True)
class Entry:
    model: str
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    name: str
    task: Task
    sizes: tuple[int, ...] = ()
    note: str | None = None
    runs: tuple[Entry, ...] = ()
    fast: bool = False


def study(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return TomlFile(path, "study").into(Study)


def test_a_file_becomes_the_declared_type(tmp_path: Path):
    made = study(tmp_path, TEXT)
    assert made.sizes == (1, 2) and made.note == "sizes = 3\n" and made.task == Task(Prompt("a"), "short")
    assert made.runs == (Entry("a"), Entry("b", {"x": 1.5, "y.z": 2}))


def test_every_key_has_its_line():
    lines = dict(positions(TEXT))
    assert lines["name",] == 2 and lines["sizes",] == 3 and lines["note",] == 7, "a line inside a text is no key"
    assert lines["task",] == 11 and lines["task", "prompt", "text"] == 12 and lines["task", "kind"] == 13
    assert lines["runs", 0] == 15 and lines["runs", 1, "model"] == 18 and lines["runs", 1, "weights", "y.z"] == 19


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "short"', 'kind = "shrt"', "line 13: task.kind: is one of short, long, not 'shrt' (did you mean short?)"),
        ('name = "one"', "name = 1", "line 2: name: is a text, not 1"),
        ("  2,", '  "2",', "line 3: sizes[2]: is a whole number, not '2'"),
        ("  2,", "  true,", "line 3: sizes[2]: is a whole number, not True"),
        ("x = 1.5", 'x = "1"', "line 19: runs[2].weights.x: is a number, not '1'"),
        ('model = "b"', 'modell = "b"', "line 18: runs[2].modell: unknown key (did you mean model?); known: model, weights"),
        ('prompt.text = "a"', "prompt.tokens = 3", "line 12: task.prompt.text: is missing"),
        ('prompt.text = "a"', 'prompt.text = "a"\nprompt.tokens = -1', "line 13: task.prompt.tokens: is not below zero"),
        ("# a study", "fast = 1", "line 1: fast: is true or false, not 1"),
        ("[task]", "[task]\nx = 1", "line 12: task.x: unknown key"),
        ("# a study", "task = 3\n[other]", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str):
    with pytest.raises(UsageError) as error:
        study(tmp_path, TEXT.replace(old, new, 1))
    assert str(error.value).startswith(str(tmp_path / "study.toml")) and message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limit = 0", "line 1: limit is the number of parents per domain, at least 1"),
        ("\nlimt = 3", "line 2: limt: unknown key (did you mean limit"),
        ('key_env = "A"\nkey_file = "b"', "give only one of"),
        ("[run]\nlimit = 3", "line 1: run: unknown key"),
        ("[panels]\nmain = 3", "line 1: panels: is a table"),
        ('cap = "3"', "line 1: cap is a number, not '3'"),
        ("limit = 3.0", "line 1: limit is a whole number"),
        ("limit =", "is not TOML"),
    ],
)
def test_a_configuration_is_checked_like_the_options(tmp_path: Path, text: str, message: str):
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_options(path, PlanOptions)
    assert message in str(error.value) and "run.toml" in str(error.value)


def test_paths_are_beside_the_file(tmp_path: Path):
    path = tmp_path / "run.toml"
    path.write_text('data = ["a.jsonl", "/b.jsonl"]\nwordnet = "~/w"\npanels = "main,readout"')
    made = read_options(path, PlanOptions)
    assert made.data == (str(tmp_path / "a.jsonl"), "/b.jsonl") and made.wordnet == str(Path("~/w").expanduser())
    assert made.panels == ("main", "readout")


def test_a_user_table_goes_over_the_shipped_one(tmp_path: Path):
    path = tmp_path / "t.toml"
    path.write_text('[a]\nmodel = "mine"\n[b]\nmodel = "new"\n')
    shipped: dict[str, Any] = {"a": {"model": "shipped", "weights": {"x": 1.0}}, "c": {"model": "c"}}
    assert layered(Entry, shipped, TomlFile(path, "table")) == {
        "a": {"model": "mine", "weights": {"x": 1.0}},
        "b": {"model": "new"},
        "c": {"model": "c"},
    }
    assert layered(Entry, shipped, None) == shipped


def test_a_file_that_is_absent_or_no_text(tmp_path: Path):
    with pytest.raises(UsageError, match=r"cannot read the study in .*No such file"):
        TomlFile(tmp_path / "none.toml", "study")
    (tmp_path / "x.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is not TOML"):
        TomlFile(tmp_path / "x.toml", "study")
