"""The nouns of WordNet, read by NLTK: what building and checking a bank needs of them.

NLTK refuses links that leave its corpus folder and always opens files that Debian leaves out (`lexnames`, `index.sense`), so the two
noun files are copied into a private temporary folder beside small stand-ins for the rest, and the folder is removed after reading.
"""

from __future__ import annotations

import os
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c2s.banks.wordnet import EXCEPTION_FILES, NOUN_FILES, WAYS_OUT, read_file
from c2s.errors import BankError, MissingDependency
from c2s.extras import install_command

_STAND_INS = (*EXCEPTION_FILES, "cntlist.rev", "index.sense", "index.verb", "index.adj", "index.adv", "data.verb", "data.adv")

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


@contextmanager
def _reader(folder: Path) -> Iterator[Any]:
    """NLTK's reader over a private copy of the nouns in `folder`; one at a time, closed at the end."""
    try:
        import nltk.data
        from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError
    except ImportError as error:
        raise MissingDependency(f"the nouns of WordNet are read by NLTK, which is not installed: {install_command('bank')}") from error

    with _reading, tempfile.TemporaryDirectory(prefix="c2s-wordnet-") as scratch:
        top = os.path.realpath(scratch)
        root = Path(top) / "corpora" / "wordnet"
        root.mkdir(parents=True)
        nltk.data.path.insert(0, top)
        reader = None
        try:
            for name in NOUN_FILES:
                _write(root / name, read_file(folder / name))
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


def _exceptions(folder: Path) -> dict[str, frozenset[str]]:
    forms: dict[str, set[str]] = {}
    for name in EXCEPTION_FILES:
        for line in read_file(folder / name).decode().splitlines():
            inflected, *bases = line.split() or [""]
            forms.setdefault(inflected, set()).update(bases)
    return {form: frozenset(bases) for form, bases in forms.items()}
