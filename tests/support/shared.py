"""Files beside the repository that are never committed: the specification, the papers, the data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def shared_file(name: str) -> Path:
    """Path of a file under `../shared` (or $C2S_SHARED); the calling test is skipped, with a reason, where it is absent."""
    folder = Path(os.environ.get("C2S_SHARED") or ROOT.parent / "shared")
    path = folder / name
    if not path.exists():
        pytest.skip(f"{name} is not in {folder}: set C2S_SHARED to the folder that holds it")
    return path
