"""Building the independent lexical cohort: as the bank's lexical items are made, with one set for each new gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from c2s.bankbuild import lexical
from c2s.bankbuild.lexical import CandidateSet, Noun
from c2s.bankbuild.nouns import Nouns
from c2s.banks import glosses
from c2s.banks.cohort import QUOTAS
from c2s.banks.keyed import Keyed
from c2s.banks.natural import Bank, Item, bank_bytes, parse_bank
from c2s.banks.wordnet import WORDNET_30
from c2s.errors import BankError

SEED = 20261013
DRAWS = 5_000
"""Candidate sets drawn per length and stratum; enough for every quota."""


def build_cohort(nouns: Nouns, centi_zipf: Callable[[str], int], natural: Bank, *, digest: str = WORDNET_30) -> Bank:
    """The cohort from the nouns of this machine; BankError if a length has too few unused targets."""
    pool = lexical.noun_pool(nouns, centi_zipf)
    cues = glosses.CueRule(pool.exceptions)
    used = {item.target for item in natural.items if item.domain == "lexical"}
    items: list[Item] = []
    available = {}
    for length, quota in QUOTAS.items():
        found = list(_new_golds(pool.by_length.get(length, ()), cues, length, used))
        available[str(length)] = len(found)
        if len(found) < quota:
            raise BankError(f"the cohort needs {quota} unused targets of length {length}, WordNet in {nouns.folder} gives {len(found)}")
        chosen = Keyed(SEED, "cohort quota", length).shuffled(found)[:quota]
        seats = Keyed(SEED, "cohort seats", length).shuffled(i % 8 for i in range(quota))
        items += [_item(s, f"cohort-{length}-{i + 1:03d}", seats[i]) for i, s in enumerate(chosen)]
    header = {
        "format": 1,
        "seed": SEED,
        "quotas": {str(n): q for n, q in QUOTAS.items()},
        "available": available,
        "natural": natural.id,
        "sources": {"wordnet": "3.0", "wordnet_sha256": digest, "wordfreq": "3.1.1"},
    }
    return parse_bank(bank_bytes(Bank("cohort-v1", "", tuple(items), header)), "new cohort")


def _new_golds(words: tuple[Noun, ...], cues: glosses.CueRule, length: int, used: set[str]) -> Iterator[CandidateSet]:
    """The first accepted set of every unused gold, stratum by stratum."""
    for stratum in lexical.STRATA:
        cell = [noun for noun in words if noun.stratum == stratum]
        seen = set(used)
        for found in lexical.draw_sets(cell, cues, SEED, f"cohort {stratum} {length}", DRAWS, Counter()):
            if found.gold.word not in seen:
                seen.add(found.gold.word)
                yield found


def _item(chosen: CandidateSet, name: str, seat: int) -> Item:
    gold = chosen.gold
    others = Keyed(SEED, "candidate order", name).shuffled(sorted(m.word for m in chosen.members if m is not gold))
    facts: dict[str, Any] = {
        "offset": gold.offset,
        "gloss_sha256": gold.gloss_hash,
        "aliases": list(gold.aliases),
        "rank": chosen.rank,
        "review": {"answer_acceptable": {}, "unique": {}},
    }
    return Item(
        id=name,
        pair_id=name,
        domain="lexical",
        length=len(gold.word),
        split="test",
        target=gold.word,
        candidates=(*others[:seat], gold.word, *others[seat:]),
        stratum=gold.stratum,
        facts=facts,
    )
