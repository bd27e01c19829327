"""A small database in WordNet's file format, with words and definitions of our own, written by the tests that need one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from c2s.banks.wordnet import meaning_digest


@dataclass(frozen=True)
class Synset:
    name: str
    """How other synsets of the list point to this one."""
    lemmas: Sequence[str]
    gloss: str
    above: Sequence[str] = ()
    instance_of: Sequence[str] = ()


def write_wordnet(folder: Path, synsets: Sequence[Synset], *, version: str = "3.0", exceptions: str = "") -> str:
    """Write the noun files that c2s reads (those of Debian's package that it needs, no more); returns their meaning digest.

    The senses of a lemma are in the order of the list.
    """
    folder.mkdir(parents=True, exist_ok=True)
    header = f"  1 Made by a test in the format of WordNet {version} Copyright nobody  \n"
    sizes = [len(_line(s, dict.fromkeys((x.name for x in synsets), 0), 0)) for s in synsets]
    starts = [len(header) + sum(sizes[:i]) for i in range(len(synsets))]
    offsets = {s.name: start for s, start in zip(synsets, starts, strict=True)}
    data = header + "".join(_line(s, offsets, offsets[s.name]) for s in synsets)
    senses: dict[str, list[int]] = {}
    for s in synsets:
        for lemma in s.lemmas:
            if offsets[s.name] not in senses.setdefault(lemma.lower(), []):
                senses[lemma.lower()].append(offsets[s.name])
    index = header + "".join(
        f"{lemma} n {len(found)} 1 @ {len(found)} 0 {' '.join(f'{o:08d}' for o in found)}  \n" for lemma, found in sorted(senses.items())
    )
    (folder / "data.noun").write_text(data)
    (folder / "index.noun").write_text(index)
    (folder / "noun.exc").write_text(exceptions)
    for name in ("verb.exc", "adj.exc", "adv.exc"):
        (folder / name).write_text("")
    return meaning_digest(data.encode(), index.encode())


def _line(synset: Synset, offsets: dict[str, int], offset: int) -> str:
    words = " ".join(f"{lemma} 0" for lemma in synset.lemmas)
    pointers = [("@", name) for name in synset.above] + [("@i", name) for name in synset.instance_of]
    pointing = "".join(f" {symbol} {offsets[name]:08d} n 0000" for symbol, name in pointers)
    return f"{offset:08d} 03 n {len(synset.lemmas):02x} {words} {len(pointers):03d}{pointing} | {synset.gloss}  \n"


INITIALS = "bdgkmpst"
SIZES = ("small", "large", "round", "square", "heavy", "light")


def tiny_synsets() -> list[Synset]:
    """48 made-up three-letter nouns without repeated letters, six for each of eight initials, each with a root of its own."""
    out = [Synset("thing", ["qqthing"], "anything that a test can name at all")]
    for i, initial in enumerate(INITIALS):
        for j, size in enumerate(SIZES):
            word = initial + "aeioua"[j] + "nrlfxz"[(i + j) % 6]
            out.append(Synset(f"root {word}", [f"qq{word}root"], "something above exactly one other thing", ["thing"]))
            out.append(Synset(word, [word], f"a {size} imaginary object kept in box number {i} of the {j}th shelf", [f"root {word}"]))
    return out


def tiny_zipf(word: str) -> int:
    """Frequencies in hundredths for the made-up words: all in the low stratum, within the range that one set may have."""
    return 300 + (sum(map(ord, word)) * 7) % 90 if len(word) == 3 else 0
