"""The single words of three to eight letters that WordNet 3.0 indexes, for the lexical output audit (D.17).

The file holds spellings only, in two lines: nouns, and words that are indexed as another part of speech alone. Spellings are
WordNet's own lower-cased index entries; no text of WordNet is in it. `c2s bank check` reads them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from c2s.banks.datafile import SHIPPED
from c2s.errors import BankError

WORDS_FILE = SHIPPED / "words-v1.txt"
_SPELLING = re.compile(r"[a-z]{3,8}")
_PARTS = ("noun", "verb", "adj", "adv")


@cache
def words() -> tuple[frozenset[str], frozenset[str]]:
    """(indexed nouns, other indexed words)."""
    nouns, others = WORDS_FILE.read_text().splitlines()
    return frozenset(nouns.split()), frozenset(others.split())


def words_bytes(folder: Path) -> bytes:
    """The file from the index files of a WordNet folder. BankError if one is missing."""
    found = {part: set(_indexed(folder / f"index.{part}")) for part in _PARTS}
    others = set().union(*(found[part] for part in _PARTS[1:])) - found["noun"]
    return f"{' '.join(sorted(found['noun']))}\n{' '.join(sorted(others))}\n".encode()


def _indexed(file: Path) -> Iterator[str]:
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise BankError(f"cannot read {file} ({error.strerror}): give a WordNet 3.0 folder with all four index files") from error
    for line in lines:
        lemma = line.partition(" ")[0]  # the licence's lines begin with blanks
        if _SPELLING.fullmatch(lemma):
            yield lemma
