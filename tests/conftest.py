"""Fixtures of more than one folder of tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from c2s.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def c2s(capsys: pytest.CaptureFixture[str]) -> Run:
    """`code, stdout, stderr = c2s("run", "--limit", 2, ...)`."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def memory_path(tmp_path):
    """A folder in memory where there is one: the same system calls, without the disk's milliseconds for each fsync."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    path = Path(tempfile.mkdtemp(prefix="c2s-test-", dir="/dev/shm"))
    yield path
    shutil.rmtree(path, ignore_errors=True)
