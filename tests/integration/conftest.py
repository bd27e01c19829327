"""The command line as a function, for every integration test."""

from __future__ import annotations

from collections.abc import Callable

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
