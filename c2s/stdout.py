"""Standard output belongs to c2s: what the code of a user or of a package prints goes to standard error."""

from __future__ import annotations

import sys
import threading
from typing import Any


class ToStderr:
    """Inside its `with`, `sys.stdout` is standard error. Threads may be inside at once: the last one to leave puts standard output back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._kept: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._kept, sys.stdout = sys.stdout, sys.stderr
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.stdout, self._kept = self._kept, None


TO_STDERR = ToStderr()
"""The one of this process."""
