"""Deriving the frozen bank again and comparing: nothing in it is taken on trust (paper A.2, A.3; protocol 1)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from c2s.bankbuild import arithmetic, lexical
from c2s.bankbuild.facts import arithmetic_facts, geometry_facts
from c2s.bankbuild.natural_build import DEFAULT_PLAN, FORMAT, SEED, Plan, build_from, wordfreq_zipf
from c2s.bankbuild.nouns import Nouns, read_nouns
from c2s.banks import glosses
from c2s.banks.natural import BANK_FILE, Bank, Item, bank_bytes, load_bank
from c2s.banks.wordnet import WORDNET_30, find_wordnet
from c2s.kernels import reference


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference from what the bank states: where (an item id or a part of the file) and what."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class BankCheck:
    bank: str
    sha256: str
    wordnet: str
    """The folder that was read."""
    items: int
    findings: tuple[Finding, ...]
    """Empty: the bank is what it claims to be."""

    @property
    def ok(self) -> bool:
        return not self.findings

    def rows(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "findings": [asdict(f) for f in self.findings], "ok": self.ok}


def check_bank(wordnet: str | os.PathLike[str] | None = None, *, path: str | os.PathLike[str] | None = None, workers: int = 1) -> BankCheck:
    """Check the shipped bank (or the one in `path`) against the WordNet and wordfreq of this machine, then build it again.

    MissingDependency or BankError if a source is absent or of another version, or the file cannot be read at all.
    """
    return check_against(read_nouns(find_wordnet(wordnet)), wordfreq_zipf(), path=path or BANK_FILE, workers=workers)


def check_against(
    nouns: Nouns,
    centi_zipf: Callable[[str], int],
    *,
    path: str | os.PathLike[str],
    workers: int = 1,
    plan: Plan = DEFAULT_PLAN,
    digest: str = WORDNET_30,
) -> BankCheck:
    """`check_bank` with sources that were read already."""
    bank = load_bank(path)
    findings = [*check_header(bank), *check_items(bank), *check_texts(bank, nouns, centi_zipf)]
    built = build_from(
        nouns, centi_zipf, seed=bank.header.get("seed", SEED), mixed="mixed" in bank.id, workers=workers, plan=plan, digest=digest
    )
    frozen, again = Path(path).read_bytes(), bank_bytes(built)
    if again != frozen:
        findings.append(Finding("file", f"a new build differs, first {_first_difference(frozen, again)}"))
    return BankCheck(bank.id, bank.sha256, str(nouns.folder), len(bank.items), tuple(findings))


def _first_difference(frozen: bytes, built: bytes) -> str:
    old, new = frozen.splitlines(), built.splitlines()
    for number, (a, b) in enumerate(zip(old, new, strict=False), 1):
        if a != b:
            return f"in line {number}"
    return f"in its number of lines ({len(new)} instead of {len(old)})"


def check_header(bank: Bank) -> Iterator[Finding]:
    """The header's counts against the items."""
    if bank.header.get("format") != FORMAT:
        yield Finding("header", f"format {bank.header.get('format')} instead of {FORMAT}")
    if bank.header.get("items") != len(bank.items):
        yield Finding("header", f"announces {bank.header.get('items')} items, the file has {len(bank.items)}")
    for length, accounting in bank.header.get("lengths", {}).items():
        for domain, quotas in accounting["quotas"].items():
            items = [i for i in bank.split("test") if i.domain == domain and i.length == int(length)]
            counts = Counter(item.stratum for item in items)
            if counts != {stratum: n for stratum, n in quotas.items() if n}:
                yield Finding("header", f"quotas of {domain}, length {length}: {quotas} announced, {dict(counts)} found")


def check_items(bank: Bank) -> Iterator[Finding]:
    """What needs no source: geometry and carries by kernel and by slow twin, products, pairs, disjoint splits."""
    for item in bank.items:
        frozen = item.facts["geometry"]
        if len(set(item.candidates)) != 8 or item.target not in item.candidates or {len(c) for c in item.candidates} != {item.length}:
            yield Finding(item.id, "the candidates are not eight different strings of the item's length with the target among them")
            continue
        for name, kernel in (("kernel", None), ("slow twin", reference.candidate_geometry)):
            found = geometry_facts(item.candidates, item.target, *([kernel] if kernel else []))
            if found != frozen:
                yield Finding(item.id, f"geometry by the {name} differs: {_differing(frozen, found)}")
        yield from _check_math(item, bank) if item.domain == "math" else _check_lexical(item)
    yield from _check_pairs(bank)
    yield from _check_disjoint(bank)


def _differing(frozen: dict[str, Any], found: dict[str, Any]) -> str:
    return ", ".join(sorted(key for key in frozen.keys() | found.keys() if frozen.get(key) != found.get(key)))


def _check_math(item: Item, bank: Bank) -> Iterator[Finding]:
    a, b = item.facts["a"], item.facts["b"]
    if min(a, b) < arithmetic.LEAST_OPERAND or str(a * b) != item.target:
        yield Finding(item.id, f"{a} x {b} is {a * b}, not {item.target}")
        return
    frozen = {key: value for key, value in item.facts.items() if key != "geometry"}
    for name, facts in (("kernel", arithmetic_facts(a, b)), ("slow twin", arithmetic_facts(a, b, reference.carry_trace))):
        if facts != frozen:
            yield Finding(item.id, f"carries by the {name} differ: {_differing(frozen, facts)}")
    structure = "balanced" if abs(len(str(a)) - len(str(b))) <= 1 else "unbalanced"
    pool = bank.header.get("lengths", {}).get(str(item.length), {}).get("pools", {}).get(structure, {})
    load = "low" if item.facts["carries"] <= pool.get("threshold", -1) else "high"
    if item.stratum != f"{structure}-{load}":
        yield Finding(item.id, f"belongs to the cell {structure}-{load}, not {item.stratum}")
    if item.facts["geometry"]["cartesian"] != 8 or any(c[0] == "0" for c in item.candidates):
        yield Finding(item.id, "the candidates are not a grid of eight numbers without leading zero")


def _check_lexical(item: Item) -> Iterator[Finding]:
    zipf = item.facts["centi_zipf"]
    if max(zipf) - min(zipf) > lexical.ZIPF_RANGE or min(zipf) < lexical.LEAST_ZIPF:
        yield Finding(item.id, f"frequencies from {min(zipf)} to {max(zipf)} hundredths of a Zipf unit")
    if item.facts["geometry"]["forced"]:
        yield Finding(item.id, "a position has a single character")
    if sorted(Counter(word[0] for word in item.candidates).values()) != [2, 2, 2, 2]:
        yield Finding(item.id, "the candidates are not four pairs with different initials")


def _check_pairs(bank: Bank) -> Iterator[Finding]:
    pairs: dict[str, list[Item]] = {}
    for item in bank.items:
        pairs.setdefault(item.pair_id, []).append(item)
    for pair_id, members in pairs.items():
        shared = {(m.length, m.split, tuple(m.facts["geometry"]["k"])) for m in members}
        if sorted(m.domain for m in members) != ["lexical", "math"] or len(shared) != 1:
            yield Finding(pair_id, "is not one arithmetic and one lexical item of the same length, split and K")


def _check_disjoint(bank: Bank) -> Iterator[Finding]:
    golds = Counter((item.domain, item.target) for item in bank.items)
    operands = Counter(frozenset((i.facts["a"], i.facts["b"])) for i in bank.items if i.domain == "math")
    for what, counts in (("gold", golds), ("operand pair", operands)):
        for value, n in counts.items():
            if n > 1:
                yield Finding("items", f"the {what} {value} stands in {n} items")


def check_texts(bank: Bank, nouns: Nouns, centi_zipf: Callable[[str], int]) -> Iterable[Finding]:
    """Offsets, lemmas, senses and definitions against WordNet, frequencies against wordfreq."""
    for item in bank.items:
        if item.domain != "lexical":
            continue
        facts = item.facts
        synset = nouns.synsets.get(facts["offset"])
        if synset is None or item.target not in synset.lemmas or facts["lemma"] != item.target:
            yield Finding(item.id, f"{item.target!r} is no lemma of the noun synset {facts['offset']}")
            continue
        if glosses.gloss_hash(synset.definition) != facts["gloss_sha256"]:
            yield Finding(item.id, f"the definition of {item.target!r} does not have the frozen hash")
        if [list(nouns.senses.get(word, ())) for word in item.candidates] != facts["senses"]:
            yield Finding(item.id, "the noun senses of the candidates differ")
        elif nouns.senses[item.target][0] != facts["offset"]:
            yield Finding(item.id, f"{facts['offset']} is not the first noun sense of {item.target!r}")
        if [centi_zipf(word) for word in item.candidates] != facts["centi_zipf"]:
            yield Finding(item.id, "the frequencies of the candidates differ")
