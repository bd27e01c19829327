"""c2s-tui: watch runs, and see which items changed.

Importing this package and `--once` load no Textual.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from c2s import __version__
from c2s.errors import C2SError, UsageError

SCREENS = ("runs", "monitor", "items", "item", "compare", "report")
EPILOG = "Keys: ? shows all of them. Exit codes: 0 done, 1 what was asked for cannot be shown, 2 wrong usage."


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="c2s-tui", description="Watch runs, and see which items changed.", epilog=EPILOG)
    top.add_argument("--version", action="version", version=f"c2s {__version__}")
    top.add_argument("path", nargs="?", metavar="ROOT|RUN", help="a run directory, or a folder that holds some (default: runs, else .)")
    top.add_argument("--screen", choices=SCREENS, help="open this screen (default: runs, or monitor for a run directory)")
    top.add_argument("--once", action="store_true", help="print the screen as plain text, and end")
    top.add_argument("--filter", metavar="TEXT", default="", help="of the item list, as typed after /: 'transition:lost domain:math'")
    top.add_argument("--item", metavar="ID", help="the item that the item screen shows")
    top.add_argument("--with", metavar="RUN", dest="other", help="the other run of the compare screen")
    top.add_argument("--read-only", action="store_true", help="never write the control file")
    top.add_argument(
        "--serve", nargs="?", type=int, const=8000, metavar="PORT", help="offer the app in a browser on this machine (extra: web)"
    )
    top.add_argument("--allow-control", action="store_true", help="with --serve: let the browser pause runs")
    top.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """The screen, or with `--once` the same as text. Every failure is one line on stderr."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as end:  # argparse has printed what was wrong
        return int(end.code or 0)
    try:
        return _main(options)
    except UsageError as error:
        return _fail(str(error), 2, options.debug)
    except C2SError as error:
        return _fail(str(error), 1, options.debug)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("textual", "rich"):
            raise
        from c2s.extras import install_command

        return _fail(f"the screens are drawn with Textual and Rich, which are not installed: {install_command('tui')}", 2, options.debug)
    except Exception as error:  # a file that only looks like a ledger can hold anything
        return _fail(f"not readable as a run of c2s ({type(error).__name__}: {error})", 1, options.debug)


def _fail(message: str, code: int, debug: bool) -> int:
    from c2s.reports.tables import literal

    if debug:
        raise
    print(f"c2s-tui: {literal(' '.join(message.split()))}", file=sys.stderr)
    return code


def _main(options: argparse.Namespace) -> int:
    root, run = find_root(options.path)
    if options.serve is not None:
        from c2s_tui.serve import serve

        return serve(options)
    if options.allow_control:
        raise UsageError("--allow-control belongs to --serve; without a browser, runs can be paused anyway")
    once = options.once
    if not once and not _terminal():
        once = True
        print("c2s-tui: no terminal here that could hold the screens, so this is what --once prints", file=sys.stderr)
    if once:
        from c2s_tui.once import print_once

        return print_once(root, run, options)
    from c2s_tui.app import TuiApp

    other = None if options.other is None else Path(options.other)
    app = TuiApp(root, run, screen=options.screen, read_only=options.read_only, typed=options.filter, item=options.item, other=other)
    app.run()
    if app.return_code:
        return app.return_code
    return 0


def find_root(path: str | None) -> tuple[Path, Path | None]:
    """The folder whose runs are listed, and the run to open, if a run was named. Raises UsageError."""
    from c2s.ledger.directory import LEDGER, MANIFEST

    given = Path(path) if path is not None else Path("runs") if Path("runs").is_dir() else Path(".")
    if not given.is_dir():
        raise UsageError(f"no folder {given}; name a run directory or a folder that holds some, or make a run with: c2s run")
    if (given / MANIFEST).is_file() or (given / LEDGER).is_file():
        return given.parent if given.parent != given and str(given) not in (".", "..") else given, given
    return given, None


def _terminal() -> bool:
    """Whether there is a terminal that can place text, or a browser that stands for one."""
    if os.environ.get("TEXTUAL_DRIVER"):
        return True
    if os.environ.get("TERM", "") in ("", "dumb", "unknown"):
        return False
    streams = (sys.stdin, sys.stdout, sys.stderr)  # Textual draws on stderr; a piped stdout wants text
    return all(stream is not None and stream.isatty() for stream in streams)
