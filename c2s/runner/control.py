"""RUN/control.json: how another process (the terminal UI, a script) pauses, continues or stops a run.

    {"command": "pause" | "go" | "stop"}

It is looked at a few times a second. A command from before this sitting is dropped: whoever resumes a run wants it to go.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path

CONTROL = "control.json"
COMMANDS = ("pause", "go", "stop")
MAX_BYTES = 4096
LOOK_SECONDS = 0.2


def write_command(folder: Path, command: str) -> None:
    """Put a command before the runner, whole or not at all."""
    temporary = folder / f"{CONTROL}.{os.getpid()}.tmp"
    temporary.write_text(json.dumps({"command": command}))
    os.replace(temporary, folder / CONTROL)


class Control:
    """Reads the file when it has changed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / CONTROL
        self._seen: tuple[int, int] | None = None
        self._looked = float("-inf")
        with contextlib.suppress(OSError):
            os.unlink(self._path)

    def command(self, now: float) -> str | None:
        """A new command, or a sentence that starts with `?` about a file that is none, or None."""
        if now - self._looked < LOOK_SECONDS:
            return None
        self._looked = now
        try:
            about = os.stat(self._path)
            mark = (about.st_mtime_ns, about.st_ino)
            if mark == self._seen:
                return None
            self._seen = mark
            if not stat.S_ISREG(about.st_mode):  # opening a pipe would wait for its other end
                return None
            with open(self._path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError:
            return None
        try:
            command = json.loads(data)["command"]
        except (ValueError, KeyError, TypeError, RecursionError):
            command = None
        return command if command in COMMANDS else f"?{CONTROL} holds none of the commands {', '.join(COMMANDS)}; it is ignored"
