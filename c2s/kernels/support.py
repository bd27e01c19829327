"""Support of a local decision (paper, Algorithm 1; protocol section 2): which characters are offered after a prefix.

Full: the whole alphabet. Union: the characters that any candidate has at this position. Trie: the continuations of the candidates
that start with the prefix. The position is len(prefix) + 1. Candidates are spelled in the alphabet, so a prefix with any other
character, such as the invalid marker, matches nothing in a trie and its mask is all False.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c2s.errors import InputError, nearest
from c2s.kernels import _arrays
from c2s.kernels._load import core
from c2s.kernels.geometry import encode_candidates


class SupportKind(StrEnum):
    FULL = "full"
    UNION = "union"
    TRIE = "trie"


# A StrEnum member is equal to its text, so both find their code here.
_CODES: dict[str, int] = {SupportKind.FULL: 0, SupportKind.UNION: 1, SupportKind.TRIE: 2}


def support(candidates: Sequence[str], prefix: str, kind: SupportKind | str, alphabet: str) -> tuple[bool, ...]:
    """The mask over `alphabet`, in its order, for one prefix; light enough to be called at every step of a controller.

    `candidates`: a list or tuple of ASCII strings of one length L, spelled in `alphabet`; `prefix`: fewer than L characters.
    InputError otherwise. `itertools.compress(alphabet, mask)` gives the characters.
    """
    mask = core.support_one(candidates=candidates, prefix=prefix, kind=_code(kind), alphabet=alphabet)
    if mask is None:
        _explain(candidates, prefix, alphabet)
    return mask


def support_masks(candidates: ArrayLike, prefixes: Sequence[str], kind: SupportKind | str, alphabet: str) -> NDArray[np.bool_]:
    """Masks [n, len(alphabet)] for n prefixes, which may differ in length.

    `candidates`: bytes [m, L], one set for all prefixes, or [n, m, L], one set for each (`encode_candidates` makes them).
    InputError as for `support`; the message names the index.
    """
    code, letters = _code(kind), _alphabet(alphabet)
    ndim = 2 if np.ndim(candidates) == 2 else 3
    sets = _arrays.as_dtype("candidates", _arrays.as_array("candidates", candidates, ndim, "[m, L] or [n, m, L]"), np.uint8)
    if ndim == 3:
        _arrays.same_length("candidates", sets, "prefixes", prefixes)
    *_, m, length = sets.shape
    if m < 1 or length < 1:
        raise InputError(f"candidates: shape {sets.shape}; give at least one candidate of at least one character")
    known = np.zeros(256, dtype=np.bool_)
    known[letters] = True
    if not (inside := known[sets]).all():
        at = tuple(int(i) for i in np.unravel_index(int(np.argmin(inside)), sets.shape))
        raise InputError(f"candidates[{', '.join(map(str, at))}] = {chr(sets[at])!r} is not in the alphabet {alphabet!r}")
    for i, prefix in enumerate(prefixes):
        _check_prefix(prefix, length, f"prefixes[{i}]")
    padded = "".join(prefix.ljust(length) for prefix in prefixes).encode("ascii")
    return core.support_masks(
        candidates=sets,
        prefixes=np.frombuffer(padded, dtype=np.uint8).reshape(len(prefixes), length),
        lengths=np.fromiter(map(len, prefixes), dtype=np.int64, count=len(prefixes)),
        kind=code,
        alphabet=letters,
    )


def _code(kind: str) -> int:
    try:
        return _CODES[kind]
    except (KeyError, TypeError):
        names = [str(k) for k in SupportKind]
        raise InputError(f"support kind {kind!r} is none of {', '.join(names)}{nearest(str(kind), names)}") from None


def _alphabet(alphabet: str) -> NDArray[np.uint8]:
    if not isinstance(alphabet, str):
        raise InputError(f"alphabet {alphabet!r}: give one string of single characters")
    if not alphabet.isascii():
        raise InputError(f"the alphabet {alphabet!r} is not ASCII")
    if len(set(alphabet)) != len(alphabet):
        raise InputError(f"the alphabet {alphabet!r} repeats a character")
    return np.frombuffer(alphabet.encode("ascii"), dtype=np.uint8)


def _check_prefix(prefix: str, length: int, name: str) -> None:
    if not isinstance(prefix, str):
        raise InputError(f"{name} = {prefix!r} is not a string")
    if not prefix.isascii():
        raise InputError(f"{name} = {prefix!r} is not ASCII")
    if len(prefix) >= length:
        raise InputError(f"{name} = {prefix!r} leaves no position: the candidates have {length} characters")


def _explain(candidates: Sequence[str], prefix: str, alphabet: str) -> NoReturn:
    """Say what the compiled call stumbled over."""
    _alphabet(alphabet)
    if not isinstance(candidates, list | tuple) or not all(isinstance(c, str) for c in candidates):
        raise InputError(f"candidates {candidates!r}: give a list of strings")
    (encoded,) = encode_candidates([candidates])
    if encoded.size == 0:
        raise InputError("candidates: give at least one candidate of at least one character")
    for candidate in candidates:
        if foreign := set(candidate) - set(alphabet):
            raise InputError(f"candidate {candidate!r}: {min(foreign)!r} is not in the alphabet {alphabet!r}")
    _check_prefix(prefix, encoded.shape[1], "prefix")
    raise AssertionError("the compiled support refused a valid call")
