"""Items from counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def expand(tables: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Native, Serial and stratum of items with these (both, lost, gained, neither) per stratum."""
    kinds = np.array([(1, 1), (1, 0), (0, 1), (0, 0)])
    counts = np.array(tables)
    rows = np.repeat(np.tile(kinds, (len(counts), 1)), counts.ravel(), axis=0)
    return rows[:, 0], rows[:, 1], np.repeat(np.arange(len(counts)), counts.sum(axis=1))
