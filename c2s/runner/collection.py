"""Garbage collection while a run goes on."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 100)
"""What the runner makes lives until its parent closes and seldom points back. The usual pace costs a tenth of a run."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
