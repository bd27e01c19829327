"""What can be picked from the candidates alone, without the problem, and how the banks keep that at chance.

A cue scores the eight candidates; its pick is the best one, ties shared. A bank is sound if no cue finds the gold more often
than one time in eight. Selection therefore minimises the running imbalance over all cues (as clinical trials balance their arms), instead
of hoping that 64 draws per length come out even: with a dozen cues and 384 items one of them would deviate by three points.
Hits are counted in 1/840 (the least common multiple of 1 to 8), so every sum is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import eq

HIT = 840
CHANCE = HIT // 8

SHARED_CUES = (
    "first listed", "last listed", "common initial", "majority by position", "most typical", "least typical", "repeated characters",
    "distinct characters",
)  # fmt: skip
LEXICAL_CUES = (*SHARED_CUES, "alphabet first", "alphabet last", "most frequent", "least frequent", "middle frequency", "vowels")
MATH_CUES = (
    *SHARED_CUES, "smallest", "largest", "closest to mean", "farthest from mean", "commonest last digit", "even last digit", "zeros",
    "digit sum",
)  # fmt: skip


TIES = ("shared", "alphabet first", "alphabet last", "listed first", "listed last")
"""How a cue picks among candidates that it scores alike: a share of a hit for each, or one of them."""


def cue_hits(
    domain: str, candidates: Sequence[str], target: str, centi_zipf: Sequence[int] | None = None, ties: str = "shared"
) -> dict[str, int]:
    """Cue name -> hit of `target` in 1/840. `candidates` in stored order; `centi_zipf` beside them for the lexical domain."""
    gold = list(candidates).index(target)
    found = _scores(domain, candidates, centi_zipf)
    return {name: _hits(scores, gold, candidates, (ties,))[0] for name, scores in found.items()}


def selection_hits(domain: str, candidates: Sequence[str], target: str, centi_zipf: Sequence[int] | None = None) -> tuple[int, ...]:
    """What selection keeps at chance: every cue under every way with ties that does not depend on the listing."""
    return _all_hits(domain, candidates, target, centi_zipf, TIES[:3])


def listing_hits(domain: str, candidates: Sequence[str], target: str, centi_zipf: Sequence[int] | None = None) -> tuple[int, ...]:
    """What the choice of a listing keeps at chance: every cue, with ties broken by the listing."""
    return _all_hits(domain, candidates, target, centi_zipf, TIES[3:])


def _all_hits(
    domain: str, candidates: Sequence[str], target: str, centi_zipf: Sequence[int] | None, ties: Sequence[str]
) -> tuple[int, ...]:
    gold = list(candidates).index(target)
    return tuple(hit for scores in _scores(domain, candidates, centi_zipf).values() for hit in _hits(scores, gold, candidates, ties))


def _hits(scores: Sequence[int], gold: int, candidates: Sequence[str], ties: Sequence[str]) -> tuple[int, ...]:
    best = max(scores)
    if scores[gold] != best:
        return (0,) * len(ties)
    n = scores.count(best)
    if n == 1:
        return (HIT,) * len(ties)
    tied = [i for i, score in enumerate(scores) if score == best]
    words = [candidates[i] for i in tied]
    picks = {
        "alphabet first": candidates[gold] == min(words),
        "alphabet last": candidates[gold] == max(words),
        "listed first": gold == tied[0],
        "listed last": gold == tied[-1],
    }
    return tuple(HIT // n if way == "shared" else HIT * picks[way] for way in ties)


def _scores(domain: str, candidates: Sequence[str], centi_zipf: Sequence[int] | None) -> dict[str, list[int]]:
    n = len(candidates)
    # shared[w][p]: candidates that have the character of word w at position p
    shared = list(zip(*([column.count(c) for c in column] for column in zip(*candidates, strict=True)), strict=True))
    modes = [max(counts) for counts in zip(*shared, strict=True)]
    agreement = [sum(counts) for counts in shared]
    distinct = [len(set(word)) for word in candidates]
    order = sorted(candidates)
    alphabet = [order.index(word) for word in candidates]
    listed = list(range(n))
    scores = {
        "first listed": _negated(listed),
        "last listed": listed,
        "common initial": [counts[0] for counts in shared],
        "majority by position": [sum(map(eq, counts, modes)) for counts in shared],
        "most typical": agreement,  # the smallest summed Hamming distance to the others
        "least typical": _negated(agreement),
        "repeated characters": _negated(distinct),
        "distinct characters": distinct,
    }
    if domain == "lexical":
        if centi_zipf is None:
            raise ValueError("lexical cues need the candidates' frequencies")
        scores |= {
            "alphabet first": _negated(alphabet),
            "alphabet last": alphabet,
            "most frequent": list(centi_zipf),
            "least frequent": _negated(centi_zipf),
            "middle frequency": [-abs(n * z - sum(centi_zipf)) for z in centi_zipf],
            "vowels": [sum(map(word.count, "aeiou")) for word in candidates],
        }
        return scores
    values = [int(word) for word in candidates]
    off_mean = [abs(n * value - sum(values)) for value in values]
    last = [word[-1] for word in candidates]
    return scores | {
        "smallest": _negated(values),
        "largest": values,
        "closest to mean": _negated(off_mean),
        "farthest from mean": off_mean,
        "commonest last digit": [last.count(digit) for digit in last],
        "even last digit": [value % 2 == 0 for value in values],
        "zeros": [word.count("0") for word in candidates],
        "digit sum": [sum(map(int, word)) for word in candidates],
    }


def _negated(values: Iterable[int]) -> list[int]:
    return [-value for value in values]


def cue_percent(rows: Iterable[tuple[str, Sequence[str], str, Sequence[int] | None]], ties: str = "shared") -> dict[str, dict[str, float]]:
    """Domain -> cue -> percent of golds found, two decimals. A row is (domain, candidates, target, centi-Zipf or None)."""
    hits: dict[str, Counter[str]] = {}
    n: Counter[str] = Counter()
    for domain, candidates, target, centi_zipf in rows:
        n[domain] += 1
        hits.setdefault(domain, Counter()).update(cue_hits(domain, candidates, target, centi_zipf, ties))
    return {domain: {cue: round(100 * hit / HIT / n[domain], 2) for cue, hit in found.items()} for domain, found in hits.items()}


class Balance:
    """Running imbalance of every cue over the items chosen so far; hits come in a fixed order."""

    __slots__ = ("_off",)

    def __init__(self) -> None:
        self._off: list[int] | None = None

    def add(self, hits: Sequence[int]) -> None:
        self._off = [off + hit - CHANCE for off, hit in zip(self._off or [0] * len(hits), hits, strict=True)]

    def cost(self, hits: Sequence[int]) -> int:
        """The sum of squared imbalances if an item with these hits came next."""
        return sum((off + hit - CHANCE) ** 2 for off, hit in zip(self._off or [0] * len(hits), hits, strict=True))
