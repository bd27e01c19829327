"""`c2s run` and `c2s resume`."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any

import c2s
from c2s.api.watching import Signals
from c2s.cli.arguments import options
from c2s.cli.inspect import say_errors
from c2s.cli.output import say
from c2s.cli.progress_line import ProgressLine
from c2s.options import ResumeOptions, RunOptions, as_dict
from c2s.reports.document import Report


def run(arguments: argparse.Namespace) -> int:
    """A new run, to its end; then its report."""
    given = as_dict(RunOptions, options(RunOptions, arguments))
    with OrderlyStop() as stop:
        made = c2s.run(**given, progress=ProgressLine(), stop=stop)
    return finish(made, arguments)


def resume(arguments: argparse.Namespace) -> int:
    """The rest of a run, to its end; then its report."""
    given = as_dict(ResumeOptions, options(ResumeOptions, arguments))
    with OrderlyStop() as stop:
        made = c2s.resume(arguments.dir, **given, progress=ProgressLine(), stop=stop)
    return finish(made, arguments)


class OrderlyStop(Signals):
    """Ctrl-C, `kill` and a closed terminal stop a run in order, and the user is told; a second one gives up what is under way."""

    def __init__(self) -> None:
        super().__init__(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        self._told = False

    def is_set(self) -> int:
        count = super().is_set()
        if count and not self._told:
            self._told = True
            say("c2s: stopping: paid requests under way are waited for, once more gives them up; free ones are asked again on resume")
        return count


def finish(made: c2s.Run, arguments: argparse.Namespace, show: Any = None) -> int:
    """Print the report of a finished run (or what `show` prints); say how to go on with one that was stopped. Gives the exit code."""
    if made.state != "done":
        say(f"c2s: interrupted{': ' + made.reason if made.reason else ''}")
        say(f"c2s: everything that arrived is kept. Go on with: c2s resume {made.path}")
        return 130
    report = made.report()
    if show is None:
        print_report(report, "json" if arguments.json else "text")
    else:
        show(made.path, arguments)
    bad = report.requests("error") + report.requests("unknown")
    if bad:
        say(f"c2s: {bad} requests ended in error or unknown; their pairs are dropped, never scored. See: c2s status {made.path}")
    return 1 if say_errors(report.errors) or bad else 0


def print_report(report: Report, form: str) -> None:
    """Write a report to stdout: `text`, `md` or `json`."""
    from c2s.reports.render import render

    sys.stdout.write(render(report, form))
