"""WordNet 3.0 on this machine: where it is, whether it is the right one, and its nouns, read by NLTK.

Debian's `wordnet-base`, a Princeton `dict` folder and NLTK's corpus layout all serve; nothing is ever written into them. NLTK
refuses links that leave its corpus folder and always opens files that Debian leaves out (`lexnames`, `index.sense`), so the two
noun files are copied into a private temporary folder beside small stand-ins for the rest, and the folder is removed after reading.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from c2s.errors import BankError, MissingDependency

WORDNET_30 = "45330311f2ef0f41f0a6a35aca1ad9892f218069bedd1476b1f9375a6a5d2e48"
"""`meaning_digest` of WordNet 3.0; the same for Debian's rebuilt files and Princeton's own."""

WAYS_OUT = (
    "as root `apt-get install wordnet-base`; without root `apt-get download wordnet-base && dpkg -x wordnet-base_*.deb DIR`; "
    "then, unless it lies in a standard place, `--wordnet DIR` or C2S_WORDNET=DIR"
)

_NOUNS = ("data.noun", "index.noun")
_EXCEPTIONS = ("noun.exc", "verb.exc", "adj.exc", "adv.exc")
_STAND_INS = (*_EXCEPTIONS, "cntlist.rev", "index.sense", "index.verb", "index.adj", "index.adv", "data.verb", "data.adv")
_INSIDE = (".", "dict", "corpora/wordnet", "wordnet", "usr/share/wordnet")
_DEBIAN = ("/usr/share/wordnet", "/usr/local/share/wordnet")

# The lexicographer files in the order of their numbers (lexnames(5WN)); Debian does not ship the table.
_LEXNAMES = {
    "adj": (3, "all pert"),
    "adv": (4, "all"),
    "noun": (
        1,
        "Tops act animal artifact attribute body cognition communication event feeling food group location motive object person "
        "phenomenon plant possession process quantity relation shape state substance time",
    ),
    "verb": (
        2,
        "body change cognition communication competition consumption contact creation emotion motion perception possession social "
        "stative weather",
    ),
}
_LEXNAMES_LAST = ("adj.ppl", 3)

_reading = threading.Lock()  # NLTK's search path is process-wide and its file handle is not thread-safe


@dataclass(frozen=True, slots=True)
class NounSynset:
    """What the bank uses of a noun synset; offsets are WordNet's own identifiers."""

    offset: int
    lemmas: tuple[str, ...]
    """Raw spelling, case kept."""
    definition: str
    """The gloss without its quoted examples."""
    hypernyms: tuple[int, ...]
    instance_hypernyms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Nouns:
    """All noun synsets, plain data, safe to share between threads."""

    folder: Path
    synsets: dict[int, NounSynset]
    senses: dict[str, tuple[int, ...]]
    """Lower-cased lemma -> synset offsets, first sense first."""
    exceptions: dict[str, frozenset[str]]
    """Inflected form -> base forms, from the four exception lists."""


def find_wordnet(wordnet: str | os.PathLike[str] | None = None, *, digest: str = WORDNET_30) -> Path:
    """The folder that holds the noun files of WordNet 3.0, checked by meaning.

    `wordnet` names it; without a name it is looked for in NLTK's data folders, Debian's folders and the user's data folder. A folder that
    was named and does not serve is an error; one of the others is passed over.
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
            missing = [name for name in (*_NOUNS, *_EXCEPTIONS) if name not in names]
            if not missing:
                return folder.resolve()
            if not quiet:
                raise BankError(f"WordNet in {folder} lacks {', '.join(missing)}: {WAYS_OUT}")
    return None


def _standard_places() -> Iterator[Path]:
    import nltk.data

    for place in nltk.data.path:
        yield Path(str(place)) / "corpora" / "wordnet"
    yield from map(Path, _DEBIAN)
    data = os.environ.get("XDG_DATA_HOME", "")
    with suppress(RuntimeError):  # a user without a home
        yield (Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share") / "c2s" / "wordnet"


def meaning_digest(data_noun: bytes, index_noun: bytes) -> str:
    """SHA-256 over the meaning of the nouns.

    Per synset: offset, lexicographer file, lemmas and lex ids, sorted pointers to nouns, gloss; per lemma: its synsets in sense order.
    Debian rebuilds the database, so its bytes differ from Princeton's (pointers to other parts of speech), but not this.
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


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BankError(f"cannot read {path} ({error.strerror}): {WAYS_OUT}") from error


@contextmanager
def _reader(folder: Path) -> Iterator[Any]:
    """NLTK's reader over a private copy of the nouns in `folder`; one at a time, closed at the end."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError

    with _reading, tempfile.TemporaryDirectory(prefix="c2s-wordnet-") as scratch:
        top = os.path.realpath(scratch)
        root = Path(top) / "corpora" / "wordnet"
        root.mkdir(parents=True)
        nltk.data.path.insert(0, top)
        reader = None
        try:
            for name in _NOUNS:
                _write(root / name, _read(folder / name))
            for name in _STAND_INS:
                _write(root / name, b"")
            _write(root / "data.adj", b"  WordNet 3.0 Copyright\n")  # where NLTK looks for the version
            _write(root / "lexnames", _lexnames().encode())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # no multilingual data: not needed
                reader = WordNetCorpusReader(str(root), None)
            yield reader
        except (ValueError, AssertionError, LookupError, AttributeError, RuntimeError, OSError, WordNetError) as error:
            raise BankError(f"cannot read the WordNet in {folder} through NLTK ({error}): {WAYS_OUT}") from error
        finally:
            nltk.data.path.remove(top)
            for handle in reader._data_file_map.values() if reader is not None else ():
                handle.close()


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)  # NLTK refuses files that others may write


def _lexnames() -> str:
    rows = [(f"{pos}.{name}", number) for pos, (number, names) in _LEXNAMES.items() for name in names.split()]
    return "".join(f"{i:02d}\t{name}\t{number}\n" for i, (name, number) in enumerate([*rows, _LEXNAMES_LAST]))


def read_nouns(folder: Path) -> Nouns:
    """Every noun synset of a checked folder. About five seconds and 400 MB; building and checking a bank need it, running does not."""
    with _reader(folder) as reader:
        synsets = {}
        senses: dict[str, tuple[int, ...]] = {}
        for synset in reader.all_synsets("n"):
            synsets[synset.offset()] = NounSynset(
                offset=synset.offset(),
                lemmas=tuple(synset.lemma_names()),
                definition=synset.definition(),
                hypernyms=tuple(sorted(s.offset() for s in synset.hypernyms())),
                instance_hypernyms=tuple(sorted(s.offset() for s in synset.instance_hypernyms())),
            )
        for lemma in reader.all_lemma_names("n"):
            # NLTK adds the senses of base forms (aas -> aa); only those of this spelling are wanted.
            found = [s for s in reader.synsets(lemma, "n") if lemma in map(str.lower, s.lemma_names())]
            senses[lemma] = tuple(dict.fromkeys(s.offset() for s in found))
    return Nouns(folder, synsets, senses, _exceptions(folder))


def read_definitions(folder: Path, offsets: Iterable[int]) -> dict[int, str]:
    """Definitions of some noun synsets only, by offset. BankError if an offset is no noun synset."""
    with _reader(folder) as reader, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unknown offset is reported below
        found = {}
        for offset in offsets:
            synset = reader.synset_from_pos_and_offset("n", offset)
            if synset is None:
                raise BankError(f"the WordNet in {folder} has no noun synset at offset {offset}: {WAYS_OUT}")
            found[offset] = synset.definition()
        return found


def _exceptions(folder: Path) -> dict[str, frozenset[str]]:
    forms: dict[str, set[str]] = {}
    for name in _EXCEPTIONS:
        for line in _read(folder / name).decode().splitlines():
            inflected, *bases = line.split() or [""]
            forms.setdefault(inflected, set()).update(bases)
    return {form: frozenset(bases) for form, bases in forms.items()}
