"""Lexical items: nouns to be named from a WordNet definition, among eight candidates (paper A.3; protocol 1.2)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from c2s.bankbuild.chance import Balance, selection_hits
from c2s.bankbuild.nouns import Nouns
from c2s.banks import glosses
from c2s.banks.keyed import Keyed

STRATA = ("high-repeated", "high-unique", "low-repeated", "low-unique")
LEAST_ZIPF = 250  # hundredths
HIGH_ZIPF = 400
ZIPF_RANGE = 150
DRAWS = 2_000  # candidate sets drawn per cell, the bounded bank that items are selected from
WINDOW = 64  # bank ranks among which the selection looks for the one that balances the cues best

_SPELLING = re.compile(r"[a-z]{3,8}")


@dataclass(frozen=True, slots=True)
class Noun:
    """A word of the pool with its first noun sense. Plain data, so that a worker process can take it."""

    word: str
    offset: int
    centi_zipf: int
    tokens: tuple[str, ...]
    gloss_hash: str
    aliases: tuple[str, ...]
    """Other lemmas of the synset with the same length, as spelled."""
    senses: tuple[int, ...]
    """All noun senses of the spelling, first one first."""
    near: frozenset[int]
    """Synsets that a distractor may not have: this one, all above it, those just below it, its siblings, and any of the same definition."""
    above: frozenset[int]
    """Every synset above any sense of the spelling."""

    @property
    def stratum(self) -> str:
        frequency = "high" if self.centi_zipf >= HIGH_ZIPF else "low"
        return f"{frequency}-{'repeated' if len(set(self.word)) < len(self.word) else 'unique'}"


@dataclass(frozen=True, slots=True)
class NounPool:
    """Eligible nouns by length, in alphabetical order, the exception lists that the cue rule needs, and how many passed each filter."""

    by_length: dict[int, tuple[Noun, ...]]
    exceptions: dict[str, frozenset[str]]
    funnel: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """Eight nouns, the gold among them, and the number of the draw that made the set."""

    members: tuple[Noun, ...]
    gold: Noun
    rank: int

    @property
    def depth(self) -> int:
        """First position (from 1) where the gold and its same-initial mate differ."""
        (mate,) = [m.word for m in self.members if m.word[0] == self.gold.word[0] and m is not self.gold]
        return next(i for i, (x, y) in enumerate(zip(self.gold.word, mate, strict=True), 1) if x != y)


@dataclass(frozen=True, slots=True)
class LexicalSelection:
    """The sets chosen for one length, with the accounting of the draws."""

    test: tuple[CandidateSet, ...]
    dev: tuple[CandidateSet, ...]
    quotas: dict[str, int]
    available: dict[str, int]
    """Distinct golds in the bank, by stratum."""
    draws: dict[str, int]


def noun_pool(nouns: Nouns, centi_zipf: Callable[[str], int]) -> NounPool:
    """Every noun that may be a gold or a distractor. `centi_zipf` gives the Zipf frequency in hundredths."""
    funnel: dict[str, Counter[int]] = {}

    def count(step: str, word: str) -> None:
        funnel.setdefault(step, Counter())[len(word)] += 1

    cues = glosses.CueRule(nouns.exceptions)
    hyponyms, same_text = _inverse_relations(nouns)
    by_length: dict[int, list[Noun]] = defaultdict(list)
    for offset in sorted(nouns.synsets):
        synset = nouns.synsets[offset]
        if synset.instance_hypernyms or synset.lemmas[0][0].isupper():
            continue
        eligible = [w for w in synset.lemmas if _SPELLING.fullmatch(w) and centi_zipf(w) >= LEAST_ZIPF]
        for word in eligible:
            count("spelling and frequency", word)
        if len(eligible) != 1:
            continue
        (word,) = eligible
        count("one eligible lemma", word)
        tokens = glosses.tokens(synset.definition)
        if cues.gives_away(word, tokens):
            continue
        count("no cue in the definition", word)
        if not glosses.is_clear(synset.definition, tokens):
            continue
        count("clear definition", word)
        senses = nouns.senses[word]
        if senses[0] != offset:
            continue
        count("first noun sense", word)
        if not (glosses.is_fit(synset.definition) and glosses.is_fit_word(word, [nouns.synsets[s].definition for s in senses])):
            continue
        count("fit to show", word)
        parents = synset.hypernyms + synset.instance_hypernyms
        near = {offset, *_above(nouns, [offset]), *hyponyms[offset], *same_text[synset.definition]}
        near.update(*(hyponyms[parent] for parent in parents))
        aliases = tuple(w for w in synset.lemmas if w != word and len(w) == len(word))
        by_length[len(word)].append(
            Noun(
                word=word,
                offset=offset,
                centi_zipf=centi_zipf(word),
                tokens=tokens,
                gloss_hash=glosses.gloss_hash(synset.definition),
                aliases=aliases,
                senses=senses,
                near=frozenset(near),
                above=_above(nouns, senses),
            )
        )
    return NounPool(
        {length: tuple(sorted(found, key=lambda n: n.word)) for length, found in sorted(by_length.items())},
        nouns.exceptions,
        {step: {str(length): n for length, n in sorted(c.items())} for step, c in funnel.items()},
    )


def _inverse_relations(nouns: Nouns) -> tuple[dict[int, list[int]], dict[str, list[int]]]:
    hyponyms: dict[int, list[int]] = defaultdict(list)
    same_text: dict[str, list[int]] = defaultdict(list)
    for synset in nouns.synsets.values():
        same_text[synset.definition].append(synset.offset)
        for parent in synset.hypernyms + synset.instance_hypernyms:
            hyponyms[parent].append(synset.offset)
    return hyponyms, same_text


def _above(nouns: Nouns, offsets: Iterable[int]) -> frozenset[int]:
    """Hypernyms of any height, without the synsets themselves."""
    found: set[int] = set()
    waiting = list(offsets)
    while waiting:
        synset = nouns.synsets[waiting.pop()]
        fresh = set(synset.hypernyms + synset.instance_hypernyms) - found
        found |= fresh
        waiting += fresh
    return frozenset(found)


def draw_sets(
    words: Sequence[Noun], cues: glosses.CueRule, seed: int, key: str, draws: int, outcome: Counter[str]
) -> Iterator[CandidateSet]:
    """Candidate sets from `draws` keyed draws over `words` of one length; `outcome` counts why draws failed.

    A draw takes four words with different initials, each with a mate of the same initial, then the gold uniformly from the eight.
    """
    groups: dict[str, list[Noun]] = defaultdict(list)
    for noun in words:
        groups[noun.word[0]].append(noun)
    paired = [noun for noun in words if len(groups[noun.word[0]]) > 1]
    if len({noun.word[0] for noun in paired}) < 4:
        return
    for rank in range(draws):
        keyed = Keyed(seed, "lexical", key, rank)
        members = _four_pairs(keyed, paired, groups)
        gold = keyed.pick(members)
        reason = _refusal(members, gold, cues)
        outcome[reason or "accepted"] += 1
        if reason is None:
            yield CandidateSet(tuple(members), gold, rank)


def _four_pairs(keyed: Keyed, paired: Sequence[Noun], groups: dict[str, list[Noun]]) -> list[Noun]:
    members: list[Noun] = []
    initials: set[str] = set()
    while len(members) < 8:
        noun = keyed.pick(paired)
        if noun.word[0] in initials:
            continue
        initials.add(noun.word[0])
        group = groups[noun.word[0]]
        mate = group[keyed.below(len(group) - 1)]
        members += [noun, group[-1] if mate is noun else mate]
    return members


def _refusal(members: Sequence[Noun], gold: Noun, cues: glosses.CueRule) -> str | None:
    zipf = [m.centi_zipf for m in members]
    if max(zipf) - min(zipf) > ZIPF_RANGE:
        return "frequency range"
    if any(len(set(column)) == 1 for column in zip(*(m.word for m in members), strict=True)):
        return "single character at a position"
    others = [m for m in members if m is not gold]
    for m in others:
        if gold.offset in m.above or not gold.near.isdisjoint(m.senses):
            return "shared or adjacent sense"
    for m in others:
        if cues.gives_away(m.word, gold.tokens):
            return "distractor in the definition"
    return None


def water_fill(total: int, available: Sequence[int]) -> list[int]:
    """`total` shared as evenly as `available` allows; what does not divide goes to the first cells that can take it."""
    share = [0] * len(available)
    left = min(total, sum(available))
    while left:
        room = [i for i, limit in enumerate(available) if share[i] < limit]
        step = max(1, left // len(room))
        for i in room:
            give = min(step, available[i] - share[i], left)
            share[i] += give
            left -= give
    return share


def select(
    words: Sequence[Noun], cues: glosses.CueRule, *, seed: int, test: int, dev: int, mixed: bool = False, draws: int = DRAWS
) -> LexicalSelection:
    """Test and development sets over nouns of one length.

    Stratum-pure by default: a set is drawn from the gold's own cell, and selection balances the candidates-only cues. `mixed` draws
    over all cells and takes the first ranks, as a comparison that shows what pure sets avoid.
    """
    length = len(words[0].word)
    outcome: Counter[str] = Counter()
    bank: dict[str, list[CandidateSet]] = {stratum: [] for stratum in STRATA}
    if mixed:
        for found in draw_sets(words, cues, seed, f"mixed {length}", 2 * draws * len(STRATA), outcome):
            bank[found.gold.stratum].append(found)
    else:
        for stratum in STRATA:
            cell = [noun for noun in words if noun.stratum == stratum]
            bank[stratum] = list(draw_sets(cell, cues, seed, f"{stratum} {length}", draws, outcome))
    available = [len({s.gold.word for s in bank[stratum]}) for stratum in STRATA]
    quotas = water_fill(test, available)
    spare = water_fill(dev, [a - q for a, q in zip(available, quotas, strict=True)])
    used: set[str] = set()
    window = 1 if mixed else WINDOW
    picked = [_pick(bank[s], n, used, balance, window) for balance in [Balance()] for s, n in zip(STRATA, quotas, strict=True)]
    extra = [_pick(bank[s], n, used, balance, window) for balance in [Balance()] for s, n in zip(STRATA, spare, strict=True)]
    return LexicalSelection(
        test=tuple(s for cell in picked for s in cell),
        dev=tuple(s for cell in extra for s in cell),
        quotas=dict(zip(STRATA, quotas, strict=True)),
        available=dict(zip(STRATA, available, strict=True)),
        draws=dict(sorted(outcome.items())),
    )


def _pick(bank: list[CandidateSet], n: int, used: set[str], balance: Balance, window: int) -> list[CandidateSet]:
    """`n` sets with new golds; each is the best balancing one among the first `window` ranks left."""
    hits = {}
    picked = []
    for _ in range(n):
        ahead = [s for s in bank if s.gold.word not in used][:window]
        for s in ahead:
            if s.rank not in hits:
                hits[s.rank] = selection_hits("lexical", [m.word for m in s.members], s.gold.word, [m.centi_zipf for m in s.members])
        best = min(ahead, key=lambda s: (balance.cost(hits[s.rank]), s.rank))
        balance.add(hits[best.rank])
        used.add(best.gold.word)
        picked.append(best)
    return picked
