"""The app as a process on a terminal of its own: what it writes, what it costs, how fast it answers."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path


class Terminal:
    """Runs `c2s-tui ARGUMENTS` on a pseudo terminal. Use as a context manager; it ends the process if that is still there."""

    def __init__(self, *arguments: str, size: tuple[int, int] = (80, 24)) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "c2s_tui", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        os.close(theirs)
        self.shown = b""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        os.close(self._ours)

    def read(self, seconds: float) -> bytes:
        """Whatever it writes within this time."""
        new, until = b"", time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            if not select.select([self._ours], [], [], left)[0]:
                break
            try:
                new += os.read(self._ours, 1 << 16)
            except OSError:
                break
        self.shown += new
        return new

    def until(self, pattern: str, seconds: float = 20.0) -> float:
        """Seconds until something that matches is written from now on. Fails when it is not."""
        start, new = time.perf_counter(), b""
        while time.perf_counter() - start < seconds:
            new += self.read(0.005)
            if re.search(pattern.encode(), new):
                return time.perf_counter() - start
        raise AssertionError(f"{pattern!r} was not shown within {seconds} s; the last was {new[-300:]!r}")

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def cpu_seconds(self) -> float:
        """What the process has used so far, user and system, all threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mb(self) -> float:
        """The largest resident memory so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
