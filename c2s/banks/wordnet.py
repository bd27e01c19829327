"""WordNet 3.0 on this machine: where it is, whether it is the right one, and the definitions of its nouns.

Debian's `wordnet-base`, a Princeton `dict` folder and NLTK's corpus layout all serve; nothing is ever written into them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from c2s.errors import BankError, MissingDependency

WORDNET_30 = "45330311f2ef0f41f0a6a35aca1ad9892f218069bedd1476b1f9375a6a5d2e48"
"""`meaning_digest` of WordNet 3.0; the same for Debian's rebuilt files and Princeton's own."""

WAYS_OUT = (
    "as root `apt-get install wordnet-base`; without root `apt-get download wordnet-base && dpkg -x wordnet-base_*.deb DIR`; "
    "then, unless it lies in a standard place, `--wordnet DIR` or C2S_WORDNET=DIR"
)

NOUN_FILES = ("data.noun", "index.noun")
EXCEPTION_FILES = ("noun.exc", "verb.exc", "adj.exc", "adv.exc")
_INSIDE = (".", "dict", "corpora/wordnet", "wordnet", "usr/share/wordnet")
_NLTK = tuple(f"/usr/{folder}/nltk_data" for folder in ("share", "local/share", "lib", "local/lib"))
_DEBIAN = ("/usr/share/wordnet", "/usr/local/share/wordnet")


def find_wordnet(wordnet: str | os.PathLike[str] | None = None, *, digest: str = WORDNET_30) -> Path:
    """The folder that holds the noun files of WordNet 3.0, checked by meaning.

    `wordnet` names it; without a name it is looked for in NLTK's data folders, Debian's folders and the user's data folder. A folder that
    was named must hold the files; one of the others that does not is skipped.
    MissingDependency if there is none, BankError if one was named and is not WordNet 3.0.
    """
    if wordnet is not None:
        folder = locate(wordnet)
        if folder is None:
            raise MissingDependency(f"no WordNet files (data.noun, index.noun, *.exc) in {wordnet}: {WAYS_OUT}")
        check_meaning(folder, digest)
        return folder
    refused = []
    for place in _standard_places():
        folder = locate(place, quiet=True)
        if folder is None:
            continue
        reason = _why_not(folder, digest)
        if reason is None:
            return folder
        refused.append(reason)
    also = f" ({'; '.join(refused)})" if refused else ""
    raise MissingDependency(f"WordNet 3.0 was not found on this machine{also}: {WAYS_OUT}")


def locate(place: str | os.PathLike[str], *, quiet: bool = False) -> Path | None:
    """The folder at or just below `place` with the needed files, or None. BankError if it may not be read, unless `quiet`."""
    root = Path(place).expanduser()
    for inside in _INSIDE:
        folder = root / inside
        try:
            names = set(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if quiet:
                continue
            raise BankError(f"cannot read the folder {folder} ({error.strerror}): {WAYS_OUT}") from error
        if "data.noun" in names:
            missing = [name for name in (*NOUN_FILES, *EXCEPTION_FILES) if name not in names]
            if not missing:
                return folder.resolve()
            if not quiet:
                raise BankError(f"WordNet in {folder} lacks {', '.join(missing)}: {WAYS_OUT}")
    return None


def _standard_places() -> Iterator[Path]:
    """NLTK's data folders in NLTK's order (`nltk.data.path`), then Debian's, then the user's."""
    named = [Path(place).expanduser() for place in os.environ.get("NLTK_DATA", "").split(os.pathsep) if place]
    home = []
    with suppress(RuntimeError):  # a user without a home
        home = [Path.home()]
    python = [Path(sys.prefix, *inside, "nltk_data") for inside in ((), ("share",), ("lib",))]
    for place in (*named, *(folder / "nltk_data" for folder in home), *python, *map(Path, _NLTK)):
        yield place / "corpora" / "wordnet"
    yield from map(Path, _DEBIAN)
    data = os.environ.get("XDG_DATA_HOME", "")
    for folder in [Path(data)] if os.path.isabs(data) else [folder / ".local" / "share" for folder in home]:
        yield folder / "c2s" / "wordnet"


def meaning_digest(data_noun: bytes, index_noun: bytes) -> str:
    """SHA-256 over the meaning of the nouns.

    Per synset: offset, lexicographer file, lemmas and lex ids, sorted pointers to nouns, gloss; per lemma: its synsets in sense order.
    Debian rebuilds the database, so its bytes differ from Princeton's (pointers to other parts of speech); this digest is equal for both.
    """
    digest = sha256()
    for line in _entries(data_noun):
        left, _, gloss = line.partition(b"| ")
        field = left.split()
        end = 4 + 2 * int(field[3], 16)
        pointers = [field[i : i + 4] for i in range(end + 1, end + 1 + 4 * int(field[end]), 4)]
        nouns = sorted(b" ".join(p) for p in pointers if p[2] == b"n")
        digest.update(b"\x1f".join([field[0], field[1], b" ".join(field[4:end]), b";".join(nouns), gloss.rstrip()]) + b"\n")
    for line in _entries(index_noun):
        field = line.split()
        digest.update(field[0] + b" " + b" ".join(field[-int(field[2]) :]) + b"\n")
    return digest.hexdigest()


def _entries(data: bytes) -> Iterator[bytes]:
    return (line for line in data.split(b"\n") if line and not line.startswith(b" "))


def check_meaning(folder: Path, digest: str = WORDNET_30) -> None:
    """BankError unless the nouns in `folder` have this `meaning_digest`."""
    reason = _why_not(folder, digest)
    if reason is not None:
        raise BankError(f"{reason}; the bank needs the nouns of WordNet 3.0: {WAYS_OUT}")


def _why_not(folder: Path, digest: str) -> str | None:
    try:
        data, index = (folder / "data.noun").read_bytes(), (folder / "index.noun").read_bytes()
    except OSError as error:
        return f"cannot read {error.filename} ({error.strerror})"
    try:
        found = meaning_digest(data, index)
    except (ValueError, IndexError):
        return f"data.noun or index.noun in {folder} is damaged"
    if found == digest:
        return None
    version = re.search(rb"WordNet (\d+(?:\.\d+)*) Copyright", data[:4000])
    if version and version[1] == b"3.0":
        return f"the WordNet in {folder} is 3.0 by its header, but a gloss, lemma, pointer or sense order was changed"
    return f"the WordNet in {folder} is version {version[1].decode() if version else 'unknown'}"


def read_file(path: Path) -> bytes:
    """The bytes of a file of WordNet. BankError, with the reason, if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BankError(f"cannot read {path} ({error.strerror}): {WAYS_OUT}") from error


def read_definitions(folder: Path, offsets: Iterable[int]) -> dict[int, str]:
    """Definitions of some noun synsets, by offset: glosses without their quoted examples, exactly as NLTK gives them.

    An offset is the place of the synset's line in data.noun, in bytes (wndb(5WN)). BankError if none begins there.
    """
    data = read_file(folder / "data.noun")
    definitions = {}
    for offset in offsets:
        line = data[offset : data.find(b"\n", offset)]
        if not line.startswith(b"%08d " % offset):
            raise BankError(f"the WordNet in {folder} has no noun synset at offset {offset}: {WAYS_OUT}")
        gloss = line.decode().strip().partition("|")[2]
        definitions[offset] = re.sub(r'".*?"', "", gloss).strip().strip("; ")
    return definitions
