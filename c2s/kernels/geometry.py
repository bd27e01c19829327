"""Geometry of candidate sets (paper A.2 and Table D7; protocol 1.3).

n sets of m candidates of L characters each, as ASCII bytes, every candidate equally likely. The gold-prefix quantities say how
fast the correct prefix tells the candidates apart; the position unions say what a controller can leave out of an option list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError
from c2s.kernels import _arrays
from c2s.kernels._load import core

MAX_CANDIDATES = 255
MAX_LENGTH = 2**24
CARTESIAN_LIMIT = 2**64 - 1
"""Stands for "this or more" in `Geometry.cartesian`; no product of union sizes equals it, since it has the prime factor 257."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """One row per candidate set."""

    k: NDArray[np.int32]
    """[n, L + 1]: K(k), the candidates that agree with the gold's first k characters, k = 0 .. L."""
    entropy: NDArray[np.float64]
    """[n, L + 1]: log2 K(k), bits."""
    first_unique: NDArray[np.int32]
    """[n]: the first prefix length with K = 1; -1 where the gold is listed twice."""
    mean_entropy: NDArray[np.float64]
    """[n]: mean of log2 K(k) over k = 0 .. L - 1, bits."""
    branch_entropy: NDArray[np.float64]
    """[n, L]: entropy of the next character among the candidates that agree with the gold's first k, bits."""
    union_size: NDArray[np.int32]
    """[n, L]: distinct characters at a position, over all candidates."""
    forced: NDArray[np.bool_]
    """[n, L]: positions with a single character."""
    cartesian: NDArray[np.uint64]
    """[n]: product of the union sizes, the strings that position unions allow; CARTESIAN_LIMIT where it would be larger."""


def candidate_geometry(candidates: ArrayLike, gold: ArrayLike) -> Geometry:
    """Geometry of n candidate sets.

    `candidates`: bytes as integers 0 to 255, shape [n, m, L], 1 <= m <= 255, L >= 1. `gold`: index of the gold in its set, shape
    [n]. InputError for another shape or type, or an index outside its set; the message names it. Candidates may repeat.
    """
    sets = _arrays.as_dtype("candidates", _arrays.as_array("candidates", candidates, 3, "[n, m, L]"), np.uint8)
    answers = _arrays.as_dtype("gold", _arrays.as_array("gold", gold, 1, "[n]"), np.int64)
    _arrays.same_length("candidates", sets, "gold", answers)
    _, m, length = sets.shape
    if not 1 <= m <= MAX_CANDIDATES:
        raise InputError(f"candidates: {m} in each set; give 1 to {MAX_CANDIDATES}")
    if length < 1:
        raise InputError("candidates: length 0; give strings of at least one character")
    if length > MAX_LENGTH:
        raise InputError(f"candidates: length {length}; give strings of at most {MAX_LENGTH} characters")
    if (outside := (answers < 0) | (answers >= m)).any():
        at = int(np.argmax(outside))
        raise InputError(f"gold[{at}] = {answers[at]} is not an index into {m} candidates")
    return Geometry(*core.candidate_geometry(candidates=sets, gold=answers))


def encode_candidates(sets: Sequence[Sequence[str]]) -> NDArray[np.uint8]:
    """Candidate sets as bytes [n, m, L]. All sets need the same number of candidates, all candidates the same length."""
    m = len(sets[0]) if sets else 0
    length = len(sets[0][0]) if m else 0
    for i, candidates in enumerate(sets):
        if isinstance(candidates, str):
            raise InputError(f"set {i} is the string {candidates!r}: give a list of candidates")
        if len(candidates) != m:
            raise InputError(f"set {i} has {len(candidates)} candidates, set 0 has {m}: give sets of one size")
        for candidate in candidates:
            if len(candidate) != length:
                raise InputError(f"set {i}: {candidate!r} has {len(candidate)} characters, the first candidate has {length}")
            if not candidate.isascii():
                raise InputError(f"set {i}: {candidate!r} is not ASCII")
    joined = "".join(candidate for candidates in sets for candidate in candidates)
    return np.frombuffer(joined.encode("ascii"), dtype=np.uint8).reshape(len(sets), m, length)


def geometry_of(candidates: Sequence[str], gold: str) -> Geometry:
    """Geometry of one set of strings (arrays with n = 1), the gold given by its text."""
    if gold not in candidates:
        raise InputError(f"the gold {gold!r} is not among the candidates {', '.join(map(repr, candidates))}")
    return candidate_geometry(encode_candidates([candidates]), [list(candidates).index(gold)])
