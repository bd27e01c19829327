"""`c2s pause`, `c2s go`, `c2s stop`: put a command before the runner of a run directory."""

from __future__ import annotations

import argparse

import c2s
from c2s.cli.output import say
from c2s.errors import UsageError
from c2s.ledger.directory import RunDirectory
from c2s.runner.control import write_command


def control(options: argparse.Namespace) -> int:
    run = RunDirectory.open(options.dir)
    if not run.running():
        state = c2s.open(options.dir).state
        raise UsageError(f"{run.path} is {state}; there is nothing to {'continue' if options.command == 'go' else options.command}")
    try:
        write_command(run.path, options.command)
    except OSError as error:
        raise UsageError(f"cannot write in {run.path}: {error.strerror}") from None
    say(f"c2s: {options.command}: told to {run.runner()}")
    return 0
