"""Paired outcomes: joining them on an id, and counting them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c2s.errors import InputError
from c2s.kernels import joint
from c2s.stats.results import JointCounts


def joint_counts(native: ArrayLike, serial: ArrayLike) -> JointCounts:
    """The joint table of two paired arrays of zeros and ones (or booleans) of shape [n]; n may be 0.

    InputError if the lengths differ or a value is anything else (paper 3.1).
    """
    a, b = joint.flags("native", native), joint.flags("serial", serial)
    n = joint.same_length(native=a, serial=b)
    both, first, second = int(np.count_nonzero(a & b)), int(np.count_nonzero(a)), int(np.count_nonzero(b))
    return JointCounts(both, first - both, second - both, n - first - second + both)


@dataclass(frozen=True, slots=True)
class Joined:
    """Rows that both sides have, in the order of the first side, and what was left out."""

    ids: tuple[Hashable, ...]
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    only_left: tuple[Hashable, ...]
    only_right: tuple[Hashable, ...]

    @property
    def dropped(self) -> int:
        """Pairs that could not be made."""
        return len(self.only_left) + len(self.only_right)


def join_on_id(
    left: Mapping[Hashable, Any] | Iterable[tuple[Hashable, Any]],
    right: Mapping[Hashable, Any] | Iterable[tuple[Hashable, Any]],
) -> Joined:
    """Pair two sets of (id, value) rows on their ids, whatever their order. A repeated id is an InputError that names it."""
    a, b = _table("left", left), _table("right", right)
    ids = tuple(i for i in a if i in b)
    return Joined(
        ids=ids,
        left=tuple(a[i] for i in ids),
        right=tuple(b[i] for i in ids),
        only_left=tuple(i for i in a if i not in b),
        only_right=tuple(i for i in b if i not in a),
    )


def _table(name: str, rows: Mapping[Hashable, Any] | Iterable[tuple[Hashable, Any]]) -> dict[Hashable, Any]:
    table: dict[Hashable, Any] = {}
    for key, value in rows.items() if isinstance(rows, Mapping) else rows:
        if key in table:
            raise InputError(f"{name}: id {key!r} occurs more than once; give every item one row")
        table[key] = value
    return table
