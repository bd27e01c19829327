"""The README says nothing that does not work: its commands parse, its Python runs, its files and make targets exist."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from c2s.banks.wordnet import find_wordnet
from c2s.cli import parser
from c2s.errors import C2SError

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMMANDS = sorted({line.split("#")[0].strip() for line in re.findall(r"^    (c2s [^#\n]*)", README, re.MULTILINE)})


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_parses(command: str):
    assert parser().parse_args(shlex.split(command)[1:]).target


def test_the_python_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    library, statistics = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(library, "README.md", "exec"), {})
    *sections, last = capsys.readouterr().out.splitlines()
    assert len(sections) >= 4 and last.startswith("done 312 0.") and last.endswith(" []")
    exec(compile(statistics, "README.md", "exec"), {})
    assert capsys.readouterr().out.split()[0] == "0.5"


def test_the_simulation_prints_what_the_sample_shows(c2s: Callable[..., tuple[int, str, str]], tmp_path: Path):
    try:
        find_wordnet(os.environ.get("C2S_WORDNET") or None)
    except C2SError as error:
        pytest.skip(str(error))
    sample = re.search(r"^    sim:published.*?\n\n(?=\S)", README, re.MULTILINE | re.DOTALL)[0]
    shown = [line.strip() for line in sample.splitlines() if line.strip() not in ("", "...")]
    code, out, err = c2s("run", "--model", "sim:published?model=jev", "--out", tmp_path / "run")
    assert code == 0, err
    printed = iter(line.strip() for line in out.splitlines())
    assert len(shown) == 11 and [line for line in shown if line not in printed] == []  # in the same order


def test_links_and_targets_exist():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert len(links) >= 5 and [link for link in links if not (ROOT / link).exists()] == []
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"^    make ([a-z-]+)", README, re.MULTILINE)) <= targets
    assert len(COMMANDS) >= 10
