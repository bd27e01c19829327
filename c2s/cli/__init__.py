"""The command line: the only place that prints errors and sets exit codes.

Every command has a name, a sentence and the function that it calls; its arguments (`c2s/cli/commands.py`) and its module are loaded when it
is called.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from c2s import __version__
from c2s.cli.arguments import CommandParser, Fill, subcommands
from c2s.errors import C2SError

EPILOG = "Exit codes: 0 done; 1 finished with error or unknown records, or verification failed; 2 wrong usage; 130 interrupted, resumable."

COMMANDS = (
    ("run", "run:run", "run a model over a panel and report"),
    ("resume", "run:resume", "go on with an interrupted run"),
    ("plan", "plan_command:plan", "what a run would send: requests, tokens and money, without sending anything"),
    ("doctor", "doctor:doctor", "check the installation, WordNet, the extras and, with --model, a server"),
    ("pause", "control:control", "let nothing more leave a run that is going on"),
    ("go", "control:control", "go on with a paused run"),
    ("stop", "control:control", "end a run in an orderly way, resumable"),
    ("status", "inspect:status", "how far a run is"),
    ("report", "inspect:report", "the report of one or more runs; Holm corrects over all of them"),
    ("verify", "inspect:verify", "derive every request, outcome and number of a run again and compare"),
    ("reproduce", "reproduce:published", "recompute the paper's figures from the counts that it prints"),
    ("review", "", "blinded review of lexical outputs: a spreadsheet out, judgments in"),
    ("panels", "panels:panels", "the panels that can be run, how many requests each makes, and what each needs"),
    ("models", "models:models", "the models that can be run and what each needs"),
    ("bank", "bank:bank", "build, check, audit or export the frozen bank"),
    ("judge", "", "audit your own judge; how a judge run was executed; cue proposals"),
    ("data", "", "build a data file from a publisher's files"),
)


def parser(called: str | None = None) -> CommandParser:
    """The parser of the whole command line; of one command alone where `called` names one."""
    top = CommandParser(prog="c2s", description="Which correct choices survive another output interface.", epilog=EPILOG)
    top.add_argument("--version", action="version", version=f"c2s {__version__}")
    top.add_argument("--debug", action="store_true", help="show tracebacks")
    command = subcommands(top, "command", "COMMAND")
    for name, target, help in [row for row in COMMANDS if row[0] == called] or COMMANDS:
        command(name, target, help, _arguments(name), epilog=EPILOG)
    return top


def _arguments(name: str) -> Fill:
    def fill(command: CommandParser) -> None:
        from c2s.cli import commands

        commands.ARGUMENTS[name](command)

    return fill


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. Every failure is one line on stderr unless --debug asks for more."""
    words = list(sys.argv[1:] if argv is None else argv)
    options = argparse.Namespace(debug="--debug" in words)
    try:
        try:
            options = parser(words[0] if words else None).parse_args(words)
        except SystemExit as end:  # argparse has printed its help or the version
            return int(end.code or 0)
        module, _, function = options.target.partition(":")
        code: int = getattr(importlib.import_module(f"c2s.cli.{module}"), function)(options)
        sys.stdout.flush()
        return code
    except C2SError as error:
        if options.debug:
            raise
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as end:  # code of a package or of a user's file: nothing of ours ends so
        return _fail(f"code that is not part of c2s ended the command by sys.exit({end.code!r})", 2)
    except Exception as error:
        if options.debug:
            raise
        return _fail(f"unexpected {type(error).__name__}: {error} (this is a bug; --debug shows where)", 2)


def _fail(message: str, code: int) -> int:
    from c2s.reports.tables import literal

    print(f"c2s: {literal(' '.join(message.split()))}", file=sys.stderr)
    return code
