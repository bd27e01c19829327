"""Building the natural bank: paired arithmetic and lexical items as one file of facts (paper 3.2, A.2, A.3; protocol 1.1-1.3).

The file is JSON Lines with sorted keys: a header (settings, pools, quotas, accounting), then one item a line. Every choice is
keyed by (seed, what is chosen) and lengths do not share state, so the bytes are the same for any number of workers.
No WordNet text goes into the file: offsets, lemmas and a hash of each definition do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from multiprocessing import get_context
from os import PathLike
from typing import Any

from c2s.bankbuild import arithmetic, lexical
from c2s.bankbuild.arithmetic import Product
from c2s.bankbuild.chance import Balance, cue_percent, listing_hits
from c2s.bankbuild.facts import arithmetic_facts, geometry_facts
from c2s.bankbuild.lexical import CandidateSet, Noun
from c2s.bankbuild.nouns import Nouns, read_nouns
from c2s.banks import glosses
from c2s.banks.keyed import Keyed
from c2s.banks.natural import DOMAINS, Bank, Item, bank_bytes, parse_bank
from c2s.banks.wordnet import WORDNET_30, find_wordnet
from c2s.errors import BankError, MissingDependency
from c2s.extras import install_command

SEED = 20261012
WORDFREQ = "3.1.1"
FORMAT = 1
LISTINGS = 8  # shuffles of the candidates among which the stored order is chosen


@dataclass(frozen=True, slots=True)
class Plan:
    """The size of a bank. The natural bank uses the defaults."""

    lengths: tuple[int, ...] = (3, 4, 5, 6, 7, 8)
    test: int = 64
    """Test items per domain and length; a multiple of 4, the number of cells."""
    dev: int = 8
    draws: int = lexical.DRAWS


DEFAULT_PLAN = Plan()


@dataclass(frozen=True, slots=True)
class _Length:
    items: list[Item]
    accounting: dict[str, Any]
    mixed_rows: list[tuple[str, list[str], str, list[int]]]
    """What mixed sets would have been, for `cue_percent`; they stand in the header for comparison."""


def build_bank(wordnet: str | PathLike[str] | None = None, *, seed: int = SEED, mixed: bool = False, workers: int = 1) -> Bank:
    """The natural bank from the WordNet 3.0 and the wordfreq on this machine; `c2s.banks.natural.bank_bytes` makes its file.

    `mixed` draws candidates over all frequency and repetition cells instead of the gold's own.
    MissingDependency or BankError if a source is absent or of another version.
    """
    return build_from(read_nouns(find_wordnet(wordnet)), wordfreq_zipf(), seed=seed, mixed=mixed, workers=workers)


def wordfreq_zipf() -> Callable[[str], int]:
    """wordfreq's Zipf frequency of an English word in hundredths (it publishes two decimals, so this is exact)."""
    try:
        import wordfreq
    except ImportError as error:
        raise MissingDependency(f"word frequencies come from wordfreq, which is not installed: {install_command('bank')}") from error
    if version("wordfreq") != WORDFREQ:
        raise BankError(
            f"the bank needs the frequencies of wordfreq {WORDFREQ}, not {version('wordfreq')}: pip install wordfreq=={WORDFREQ}"
        )
    return lambda word: round(100 * wordfreq.zipf_frequency(word, "en"))


def build_from(
    nouns: Nouns,
    centi_zipf: Callable[[str], int],
    *,
    seed: int = SEED,
    mixed: bool = False,
    workers: int = 1,
    plan: Plan = DEFAULT_PLAN,
    digest: str = WORDNET_30,
) -> Bank:
    """`build_bank` from nouns that were read already; `digest` names their WordNet in the header."""
    pool = lexical.noun_pool(nouns, centi_zipf)
    missing = [length for length in plan.lengths if length not in pool.by_length]
    if missing:
        raise BankError(f"WordNet in {nouns.folder} has no eligible noun of length {missing[0]}: give a complete WordNet 3.0")
    tasks = [(pool.by_length[n], pool.exceptions, n, seed, mixed, plan) for n in plan.lengths]
    if workers > 1:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
            built = list(executor.map(_build_length, *zip(*tasks, strict=True)))
    else:
        built = [_build_length(*task) for task in tasks]
    header = {
        "format": FORMAT,
        "seed": seed,
        "plan": {**asdict(plan), "pool": arithmetic.POOL, "window": lexical.WINDOW},
        "sources": {"wordnet": "3.0", "wordnet_sha256": digest, "wordfreq": WORDFREQ},
        "funnel": pool.funnel,
        "lengths": {str(n): length.accounting for n, length in zip(plan.lengths, built, strict=True)},
        "mixed_cues": cue_percent(row for length in built for row in length.mixed_rows).get("lexical", {}),
    }
    items = tuple(item for length in built for item in length.items)
    bank_id = "natural-mixed-v1" if mixed else "natural-v1"
    return parse_bank(bank_bytes(Bank(bank_id, "", items, header)), "new build")


def _build_length(words: Sequence[Noun], exceptions: dict[str, frozenset[str]], length: int, seed: int, mixed: bool, plan: Plan) -> _Length:
    """All items of one length: lexical first, since arithmetic items take the branching depth of their partners."""
    cues = glosses.CueRule(exceptions)
    chosen = lexical.select(words, cues, seed=seed, test=plan.test, dev=plan.dev, mixed=mixed, draws=plan.draws)
    if len(chosen.test) < plan.test or len(chosen.dev) < plan.dev:
        raise BankError(f"too few candidate sets of length {length} for {plan.test} test and {plan.dev} development items")
    sets = {split: Keyed(seed, "numbering", split, length).shuffled(getattr(chosen, split)) for split in ("test", "dev")}
    products = arithmetic.select(length, seed=seed, test_depths=[s.depth for s in sets["test"]], dev_depths=[s.depth for s in sets["dev"]])
    items = []
    for split in ("test", "dev"):
        pairs = list(zip(getattr(products, split), sets[split], strict=True))
        seats = {domain: Keyed(seed, "gold seats", domain, split, length).shuffled(i % 8 for i in range(len(pairs))) for domain in DOMAINS}
        balance = {domain: Balance() for domain in DOMAINS}
        for i, (product, lexical_set) in enumerate(pairs):
            name = f"{length}-{'dev-' if split == 'dev' else ''}{i + 1:02d}"
            items.append(_math_item(product, name, split, seats["math"][i], seed, balance["math"]))
            items.append(_lexical_item(lexical_set, name, split, seats["lexical"][i], seed, balance["lexical"]))
    accounting = {
        "pools": {pool.structure: pool.summary() for pool in products.pools},
        "quotas": {
            "math": {cell: sum(p.cell == cell for p in products.test) for cell in arithmetic.CELLS},
            "lexical": chosen.quotas,
        },
        "available": chosen.available,
        "draws": chosen.draws,
    }
    compared = chosen if mixed else lexical.select(words, cues, seed=seed, test=plan.test, dev=0, mixed=True, draws=plan.draws)
    mixed_rows = [("lexical", [m.word for m in s.members], s.gold.word, [m.centi_zipf for m in s.members]) for s in compared.test]
    return _Length(items, accounting, mixed_rows)


def _listed(domain: str, candidates: Mapping[str, int], target: str, seat: int, name: str, seed: int, balance: Balance) -> list[str]:
    """Stored order: the gold on its seat (every seat is used equally often), the others shuffled.

    Of a few shuffles, the one that best balances cues whose ties are broken by the listing. `candidates` -> centi-Zipf.
    """
    listings = []
    for attempt in range(LISTINGS):
        others = Keyed(seed, "listing", domain, name, attempt).shuffled(sorted(c for c in candidates if c != target))
        listings.append([*others[:seat], target, *others[seat:]])
    hits = [listing_hits(domain, listing, target, [candidates[c] for c in listing]) for listing in listings]
    best = min(range(LISTINGS), key=lambda i: (balance.cost(hits[i]), i))
    balance.add(hits[best])
    return listings[best]


def _item(domain: str, name: str, split: str, target: str, candidates: list[str], stratum: str, facts: dict[str, Any]) -> Item:
    return Item(
        id=f"{domain}-{name}",
        pair_id=f"pair-{name}",
        domain=domain,
        length=len(target),
        split=split,
        target=target,
        candidates=tuple(candidates),
        stratum=stratum,
        facts={**facts, "geometry": geometry_facts(candidates, target)},
    )


def _math_item(product: Product, name: str, split: str, seat: int, seed: int, balance: Balance) -> Item:
    candidates = _listed("math", dict.fromkeys(product.candidates, 0), product.target, seat, name, seed, balance)
    return _item("math", name, split, product.target, candidates, product.cell, arithmetic_facts(product.a, product.b))


def _lexical_item(chosen: CandidateSet, name: str, split: str, seat: int, seed: int, balance: Balance) -> Item:
    gold = chosen.gold
    members = {m.word: m for m in chosen.members}
    candidates = _listed("lexical", {w: m.centi_zipf for w, m in members.items()}, gold.word, seat, name, seed, balance)
    facts = {
        "offset": gold.offset,
        "lemma": gold.word,
        "gloss_sha256": gold.gloss_hash,
        "aliases": list(gold.aliases),
        "centi_zipf": [members[word].centi_zipf for word in candidates],
        "senses": [list(members[word].senses) for word in candidates],
        "rank": chosen.rank,
        "review": {"answer_acceptable": {}, "unique": {}},
    }
    return _item("lexical", name, split, gold.word, candidates, gold.stratum, facts)
