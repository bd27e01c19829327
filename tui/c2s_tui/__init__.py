"""c2s-tui: the run directories under a folder and how far each is.

Importing this package and `--once` load no Textual.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from c2s import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """The screen, or with `--once` the same table as plain text. Exit code 0, or 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="c2s-tui", description="The run directories under a folder and how far each is.")
    parser.add_argument("--version", action="version", version=f"c2s {__version__}")
    parser.add_argument("root", nargs="?", default="runs", metavar="FOLDER", help="where the run directories are (default: runs)")
    parser.add_argument("--once", action="store_true", help="print the table once as plain text, and end")
    try:
        options = parser.parse_args(argv)
    except SystemExit as end:  # argparse has printed what was wrong
        return int(end.code or 0)
    from c2s.reports.tables import as_text, literal

    from c2s_tui.runs import RunsError, find_runs, table

    root = Path(options.root)
    try:
        runs = find_runs(root)
    except RunsError as error:
        print(f"c2s-tui: {literal(str(error))}", file=sys.stderr)
        return 2
    if options.once:
        sys.stdout.write(as_text(table(root, runs)))
        return 0
    if not sys.stdout.isatty():
        print("c2s-tui: the screen needs a terminal; --once prints the table", file=sys.stderr)
        return 2
    from c2s_tui.app import RunsApp

    RunsApp(root).run()
    return 0
