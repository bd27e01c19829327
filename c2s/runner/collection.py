"""Garbage collection while a run goes on."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 100)
"""What the runner makes lives until its parent closes and seldom points back. The usual pace costs a tenth of a run."""

_lock = threading.Lock()
_usual: list[tuple[int, int, int]] = []
"""The pace before the first of the runs that are going on in this process, once for each of them."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Collect seldom while any run of this process is going on; the last one to end gives the usual pace back."""
    with _lock:
        _usual.append(_usual[0] if _usual else gc.get_threshold())
        gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        with _lock:
            usual = _usual.pop()
            if not _usual:
                gc.set_threshold(*usual)
