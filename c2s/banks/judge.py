"""Judge sources: a question, its numeric reference, a certified wrong value and six seeded letters (judge paper, A.3).

A bank is a data file of kind `judge`. Reading it certifies every source again: the wrong value is recomputed with Decimal and
compared with every accepted reference, and the letters are drawn again from the seed.
The set that ships is our own text; a bank from DROP and GSM8K is built with `c2s data judge` and stays with its user.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any

from c2s.banks.datafile import SHIPPED, data_bytes, load_data
from c2s.banks.keyed import Keyed
from c2s.errors import BankError

KIND = "judge"
SYNTHETIC_FILE = SHIPPED / "judge-synthetic.jsonl"
WORKLOADS = ("drop", "gsm8k", "reading", "sums")
"""The workloads that `c2s data judge` builds, and those of the shipped set."""
DISTANCES = ("near", "far")
SPLITS = ("confirmation", "preflight")

_NUMBER = re.compile(r"-?(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d+)?", re.ASCII)
_EXACT = Context(prec=60, traps=[Inexact, InvalidOperation])


@dataclass(frozen=True, slots=True)
class Source:
    """One independent source. `references` are the accepted values, `x` the first of them, `y` the wrong value, as they are shown."""

    id: str
    workload: str
    cluster: str
    split: str
    question: str
    references: tuple[str, ...]
    x: str
    y: str
    distance: str
    r: str


@dataclass(frozen=True, slots=True)
class JudgeBank:
    id: str
    seed: int
    sources: tuple[Source, ...]
    header: Mapping[str, Any]

    def split(self, name: str) -> tuple[Source, ...]:
        """The sources of `confirmation` or `preflight`, in the stored order."""
        return tuple(source for source in self.sources if source.split == name)


_FIELDS = tuple(field.name for field in fields(Source))


def number(text: str) -> Decimal | None:
    """The finite decimal that `text` is, or None: ASCII digits, an optional sign, thousands commas and fraction; nothing else."""
    text = text.strip()
    if not any(c.isdigit() for c in text) or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text.replace(",", ""))


def shown(value: Decimal) -> str:
    """A number as candidates and references show it: plain digits, no exponent, no thousands commas."""
    return format(value, "f")


def mutation(x: Decimal, distance: str) -> Decimal | None:
    """The wrong value: near is X + 1, far is X + max(2|X|, 40) (A.3). None where it is not exact in 60 digits."""
    try:
        return _EXACT.add(x, Decimal(1) if distance == "near" else max(_EXACT.multiply(Decimal(2), abs(x)), Decimal(40)))
    except (Inexact, InvalidOperation):
        return None


def letters(seed: int, source: str, *, title: bool = True) -> str:
    """R: six letters keyed by (seed, source), title case in the confirmation study, lower case in the reference switch."""
    drawn = Keyed(seed, "judge letters", source)
    word = "".join(drawn.pick("abcdefghijklmnopqrstuvwxyz") for _ in range(6))
    return word.capitalize() if title else word


def flaw(source: Source, seed: int) -> str | None:
    """Why a source is not what it claims to be; None for a certified one."""
    references = [number(text) for text in source.references]
    x, y = number(source.x), number(source.y)
    if source.distance not in DISTANCES or source.split not in SPLITS:
        return f"distance {source.distance!r} or split {source.split!r} is unknown"
    if not source.question.strip():
        return "the question is empty"
    if not references or None in references:
        return "a reference is not a finite number"
    if x is None or x != references[0]:
        return "the earlier value is not the reference"
    if y is None or y != mutation(x, source.distance):
        return f"the wrong value is not the {source.distance} mutation of {source.x}"
    if y in references:
        return "the wrong value is an accepted reference"
    if source.r != letters(seed, source.id):
        return "the letters are not those of the seed"
    return None


def load_judge_bank(path: str | os.PathLike[str] | None = None) -> JudgeBank:
    """The synthetic bank that ships with the package, or the one in `path`.

    BankError if the file is damaged, or holds a source that is not certified, or an id, cluster or question twice.
    """
    where = SYNTHETIC_FILE if path is None else path
    file = load_data(where, KIND)
    mend = "build it again with `c2s data judge`"
    seed = file.header.get("seed")
    if not isinstance(seed, int):
        raise BankError(f"{where}: its header names no seed; {mend}")
    sources = []
    for line, row in enumerate(file.rows, start=2):
        try:
            source = source_of(row)
            why = flaw(source, seed)
        except (TypeError, KeyError, AttributeError):
            raise BankError(f"line {line} of {where} is no judge source: {mend}") from None
        if why is not None:
            raise BankError(f"line {line} of {where} ({source.id}): {why}; {mend}")
        sources.append(source)
    refuse_repeats(sources, str(where))
    return JudgeBank(file.id, seed, tuple(sources), file.header)


def source_of(row: dict[str, Any]) -> Source:
    """A source from its JSON object. KeyError where a field is missing."""
    fields = {name: row[name] for name in _FIELDS}
    return Source(**(fields | {"references": tuple(row["references"])}))


def refuse_repeats(sources: Iterable[Source], where: str) -> None:
    """BankError if an id, a cluster or a normalised question is used twice: sources are the independent unit."""
    seen: dict[tuple[str, str], str] = {}
    for source in sources:
        for key in (("id", source.id), ("cluster", source.cluster), ("question", normalised(source.question))):
            if key in seen:
                raise BankError(f"{where}: {seen[key]} and {source.id} have the same {key[0]}: admit one question per cluster")
            seen[key] = source.id


def normalised(text: str) -> str:
    """Text for comparison: compatibility form, case folded, runs of anything but letters and digits as one space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub(r"[^\w]+|_", " ", folded).split())


def bank_bytes(bank_id: str, seed: int, sources: Sequence[Source], facts: Mapping[str, Any]) -> bytes:
    """The file of a bank; `facts` say what it was built from and which questions were left out."""
    return data_bytes(KIND, bank_id, [asdict(source) for source in sources], {"seed": seed, **facts})
