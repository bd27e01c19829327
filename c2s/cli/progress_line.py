"""What a person sees while a run goes on: one live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TextIO

from c2s.api.watching import Progress
from c2s.cli.output import say
from c2s.records import TRANSITIONS

LIVE_SECONDS = 0.2
PLAIN_SECONDS = 10.0


def describe(progress: Progress) -> str:
    """Done of all, rate of this sitting, time left, money, requests in trouble, and both/lost/gained/neither by domain so far."""
    done = progress.requests - progress.open
    rate = progress.answered / max(1e-9, progress.seconds)
    left = f"{_clock(progress.open / rate)} left" if rate > 0 and progress.open else ""
    trouble = [f"{n} {state}" for state in ("error", "unknown", "blocked") if (n := progress.states.get(state, 0))]
    money = f"${progress.usd:.4f}" if progress.usd else ""
    parts = [f"{done}/{progress.requests}", progress.phase, f"{rate:.0f}/s" if progress.answered else "", left, money, *trouble]
    for domain in sorted({key[1] for key in progress.transitions}, reverse=True):
        counts = [
            sum(n for (p, d, t), n in progress.transitions.items() if d == domain and t == name and p in progress.panels)
            for name in TRANSITIONS[:4]
        ]
        parts.append(f"{domain} {'/'.join(map(str, counts))}")
    return "  ".join(part for part in parts if part)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class ProgressLine:
    """Writes progress to `stream` (stderr) at its own pace; on a terminal one line is rewritten. Messages are lines of their own.

    Where nobody reads the stream any more, the run goes on without its progress.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty()
        self._last = time.monotonic() if not self.live else 0.0
        self._phase = ""
        self._drawn = False

    def __call__(self, progress: Progress) -> None:
        with suppress(OSError):
            self._show(progress)

    def _show(self, progress: Progress) -> None:
        if progress.message:
            if self.live and self._drawn:
                self.stream.write("\n")
                self._drawn = False
            say(f"c2s: {progress.message}")
            return
        now = time.monotonic()
        if not progress.final and progress.phase == self._phase and now - self._last < (LIVE_SECONDS if self.live else PLAIN_SECONDS):
            return
        self._last, self._phase = now, progress.phase
        line = describe(progress)
        if self.live:
            import shutil

            self._drawn = not progress.final
            columns = shutil.get_terminal_size().columns
            self.stream.write(f"\r{line[: columns - 1]:<{columns - 1}}" + ("\n" if progress.final else ""))
        else:
            self.stream.write(line + "\n")
        self.stream.flush()
