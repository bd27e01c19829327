"""The command line as another process, with the server's traps for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "c2s", *map(str, words)]


def c2s(*words: object, env: Mapping[str, str] | None = None, timeout: float = 120, **named) -> subprocess.CompletedProcess:
    """Run to the end; output as text."""
    return subprocess.run(command(*words), env=os.environ | dict(env or {}), timeout=timeout, capture_output=True, text=True, **named)


def start(*words: object, env: Mapping[str, str] | None = None, **named) -> subprocess.Popen:
    return subprocess.Popen(
        command(*words), env=os.environ | dict(env or {}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **named
    )


def run_words(server_url: str, out: Path, *more: object, limit: int = 24, model: str = "systemone:jev-1.13.0") -> list[object]:
    return [
        "run",
        "--model",
        model,
        "--base-url",
        server_url,
        "--domain",
        "math",
        "--limit",
        limit,
        "--out",
        out,
        "--concurrency",
        8,
        *more,
    ]
