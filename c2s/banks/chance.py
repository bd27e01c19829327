"""What can be picked from the candidates alone, without the problem, and how the banks keep that at chance.

A cue scores the eight candidates; its pick is the best one, ties shared. A bank is sound if no cue finds the gold more often
than one time in eight. Selection therefore minimises the running imbalance over all cues (as clinical trials balance their arms), instead
of hoping that 64 draws per length come out even: with a dozen cues and 384 items one would stray by three points.
Hits are counted in 1/840 (the least common multiple of 1 to 8), so every sum is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

HIT = 840
CHANCE = HIT // 8

SHARED_CUES = ("first listed", "last listed", "common initial", "majority by position", "most typical", "least typical")
SHARED_CUES += ("repeated characters", "distinct characters")
LEXICAL_CUES = SHARED_CUES + ("alphabet first", "alphabet last", "most frequent", "least frequent", "middle frequency", "vowels")
MATH_CUES = SHARED_CUES + ("smallest", "largest", "closest to mean", "farthest from mean", "commonest last digit", "even last digit")
MATH_CUES += ("zeros", "digit sum")


TIES = ("shared", "alphabet first", "alphabet last", "listed first", "listed last")
"""How a cue picks among candidates that it scores alike: a share of a hit for each, or one of them."""


def cue_hits(
    domain: str, candidates: Sequence[str], target: str, centi_zipf: Sequence[int] | None = None, ties: str = "shared"
) -> dict[str, int]:
    """Cue name -> hit of `target` in 1/840. `candidates` in stored order; `centi_zipf` beside them for the lexical domain."""
    gold = list(candidates).index(target)
    return {name: _hit(scores, gold, candidates, ties) for name, scores in _scores(domain, candidates, centi_zipf).items()}


def selection_hits(domain: str, candidates: Sequence[str], target: str, centi_zipf: Sequence[int] | None = None) -> dict[str, int]:
    """What selection keeps at chance: every cue under every way with ties that does not depend on the listing."""
    gold = list(candidates).index(target)
    scores = _scores(domain, candidates, centi_zipf)
    return {f"{name}, {ties}": _hit(s, gold, candidates, ties) for name, s in scores.items() for ties in TIES[:3]}


def listing_hits(domain: str, candidates: Sequence[str], target: str, centi_zipf: Sequence[int] | None = None) -> dict[str, int]:
    """What the choice of a listing keeps at chance: every cue, with ties broken by the listing."""
    gold = list(candidates).index(target)
    scores = _scores(domain, candidates, centi_zipf)
    return {f"{name}, {ties}": _hit(s, gold, candidates, ties) for name, s in scores.items() for ties in TIES[3:]}


def _hit(scores: Sequence[int], gold: int, candidates: Sequence[str], ties: str) -> int:
    best = max(scores)
    if scores[gold] != best:
        return 0
    tied = [i for i, score in enumerate(scores) if score == best]
    if ties == "shared":
        return HIT // len(tied)
    by, _, end = ties.partition(" ")
    if by == "alphabet":
        tied.sort(key=candidates.__getitem__)
    return HIT if tied[0 if end == "first" else -1] == gold else 0


def _scores(domain: str, candidates: Sequence[str], centi_zipf: Sequence[int] | None) -> dict[str, list[int]]:
    n = len(candidates)
    columns = [Counter(column) for column in zip(*candidates, strict=True)]
    modes = [max(column.values()) for column in columns]
    agreement = [sum(column[c] for column, c in zip(columns, word, strict=True)) for word in candidates]
    distinct = [len(set(word)) for word in candidates]
    order = sorted(candidates)
    alphabet = [order.index(word) for word in candidates]
    listed = list(range(n))
    scores = {
        "first listed": _negated(listed),
        "last listed": listed,
        "common initial": [columns[0][word[0]] for word in candidates],
        "majority by position": [sum(col[c] == m for col, m, c in zip(columns, modes, word, strict=True)) for word in candidates],
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
            "vowels": [sum(c in "aeiou" for c in word) for word in candidates],
        }
        return scores
    values = [int(word) for word in candidates]
    off_mean = [abs(n * value - sum(values)) for value in values]
    last = Counter(word[-1] for word in candidates)
    return scores | {
        "smallest": _negated(values),
        "largest": values,
        "closest to mean": _negated(off_mean),
        "farthest from mean": off_mean,
        "commonest last digit": [last[word[-1]] for word in candidates],
        "even last digit": [value % 2 == 0 for value in values],
        "zeros": [word.count("0") for word in candidates],
        "digit sum": [sum(map(int, word)) for word in candidates],
    }


def _negated(values: Iterable[int]) -> list[int]:
    return [-value for value in values]


def cue_percent(
    rows: Iterable[tuple[str, Sequence[str], str, Sequence[int] | None]], ties: str = "shared"
) -> dict[str, dict[str, float]]:
    """Domain -> cue -> percent of golds found, two decimals. A row is (domain, candidates, target, centi-Zipf or None)."""
    hits: dict[str, Counter[str]] = {}
    n: Counter[str] = Counter()
    for domain, candidates, target, centi_zipf in rows:
        n[domain] += 1
        hits.setdefault(domain, Counter()).update(cue_hits(domain, candidates, target, centi_zipf, ties))
    return {domain: {cue: round(100 * hit / HIT / n[domain], 2) for cue, hit in found.items()} for domain, found in hits.items()}


class Balance:
    """Running imbalance of every cue over the items chosen so far."""

    __slots__ = ("_off",)

    def __init__(self) -> None:
        self._off: Counter[str] = Counter()

    def add(self, hits: dict[str, int]) -> None:
        for name, hit in hits.items():
            self._off[name] += hit - CHANCE

    def cost(self, hits: dict[str, int]) -> int:
        """The sum of squared imbalances if an item with these hits came next."""
        return sum((self._off[name] + hit - CHANCE) ** 2 for name, hit in hits.items())
