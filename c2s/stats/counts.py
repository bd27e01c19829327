"""Paired outcomes: joining them on an id, and counting them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class ChoiceComparison:
    """Returned choices beside the argmax of their reported probabilities (A.7).

    argmax     the option of the largest probability, the first displayed one where several tie
    tied       whether several do
    disagrees  whether the returned choice is another option
    """

    returned: tuple[Hashable, ...]
    argmax: tuple[Hashable, ...]
    tied: tuple[bool, ...]
    disagrees: tuple[bool, ...]

    @property
    def disagreements(self) -> int:
        return sum(self.disagrees)


def compare_choices(
    returned: Sequence[Hashable],
    probabilities: Sequence[Sequence[float]],
    options: Sequence[Sequence[Hashable]],
) -> ChoiceComparison:
    """For each decision: the choice returned, the probabilities reported, and the options in displayed order.

    The returned choice is the outcome, even where it is none of the options. InputError where the lengths differ or a
    probability is NaN, infinite or negative.
    """
    if not len(returned) == len(probabilities) == len(options):
        raise InputError(
            f"{len(returned)} choices, {len(probabilities)} rows of probabilities, {len(options)} lists of options: give one per decision"
        )
    best, tied = [], []
    for i, (row, names) in enumerate(zip(probabilities, options, strict=True)):
        if len(row) != len(names) or not names:
            raise InputError(f"probabilities[{i}] has {len(row)} entries for {len(names)} options: give one per option, at least one")
        for j, p in enumerate(row):
            if not 0 <= p < float("inf"):
                raise InputError(f"probabilities[{i}][{j}] is {p}: give finite numbers of at least 0")
        top = max(row)
        best.append(names[list(row).index(top)])
        tied.append(sum(p == top for p in row) > 1)
    return ChoiceComparison(
        returned=tuple(returned),
        argmax=tuple(best),
        tied=tuple(tied),
        disagrees=tuple(a != b for a, b in zip(returned, best, strict=True)),
    )
