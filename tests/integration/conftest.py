"""Fixtures of the integration tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def memory_path(tmp_path):
    """A folder in memory where there is one: the same system calls, without the disk's milliseconds for each fsync."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    path = Path(tempfile.mkdtemp(prefix="c2s-test-", dir="/dev/shm"))
    yield path
    shutil.rmtree(path, ignore_errors=True)
