"""The command line answers at once: what `--help`, `status` and `models` load, and how long they take."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from c2s.cli import COMMANDS as COMMANDS_OF_C2S
from c2s.cli import main

HEAVY = {"scipy", "nltk", "torch", "transformers", "textual", "rich", "wordfreq", "httpx", "numpy", "sparrow_decider", "asyncio"}
LIMIT_S = 0.3
LISTING = (
    "import sys; from c2s.cli import main; code = main(sys.argv[1:]);"
    "print('LOADED', *{m.partition('.')[0] for m in sys.modules}); sys.exit(code)"
)


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("startup") / "run"
    assert main(["run", "--model", "sim:oracle", "--domain", "math", "--limit", "6", "--out", str(path), "--json"]) == 0
    return path


COMMANDS = {
    "help": ["--help"],
    "version": ["--version"],
    "models": ["models"],
    "status": ["status", "RUN"],
    "status --json": ["status", "RUN", "--json"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_it_loads_nothing_heavy(command: list[str], run_directory: Path):
    arguments = [str(run_directory) if a == "RUN" else a for a in command]
    done = subprocess.run([sys.executable, "-c", LISTING, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split()[1:])
    assert "c2s" in loaded and loaded & HEAVY == set()


@pytest.mark.parametrize("command", [COMMANDS["help"], COMMANDS["status"]], ids=["help", "status"])
def test_it_starts_within_the_limit(command: list[str], run_directory: Path):
    arguments = [str(run_directory) if a == "RUN" else a for a in command]
    best = min(cpu_seconds([sys.executable, "-m", "c2s", *arguments]) for _ in range(5))
    assert best < LIMIT_S


def test_help_costs_at_most_twice_a_bare_parser(tmp_path: Path):
    bare = tmp_path / "bare.py"
    bare.write_text(
        "import argparse\n"
        "parser = argparse.ArgumentParser(description='x', epilog='y')\n"
        "commands = parser.add_subparsers(dest='command', required=True)\n"
        f"for name in {[name for name, _, _ in COMMANDS_OF_C2S]!r}:\n"
        "    commands.add_parser(name, help='help of ' + name)\n"
        "parser.parse_args()\n"
    )
    ours, theirs = ([], [])
    for _ in range(20):  # in turn, so that a busy machine slows both
        ours.append(cpu_seconds([sys.executable, "-m", "c2s", "--help"]))
        theirs.append(cpu_seconds([sys.executable, str(bare), "--help"]))
    assert min(ours) <= 2 * min(theirs)


def cpu_seconds(command: list[str]) -> float:
    """User and system time of a process: what a start costs, however busy the machine is."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, code, usage = os.wait4(process.pid, 0)
    process.returncode = code
    assert code == 0
    return usage.ru_utime + usage.ru_stime
