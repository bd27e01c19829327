"""What the bank's candidates give away: support sizes (paper Table D7), calls (Table D6), quotas, candidates-only cues.

Everything is counted again from the items' candidates; only the cues of `mixed` sets come from the bank's header.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import prod
from statistics import median
from typing import Any

from c2s.bankbuild.chance import TIES, cue_percent
from c2s.banks.natural import DOMAINS, Bank, Item, load_bank

CHANCE_PERCENT = 12.5
TOLERANCE = 2.0
"""Points by which a candidates-only cue may differ from chance."""


@dataclass(frozen=True, slots=True)
class SupportRow:
    """Columns of Table D7 for one domain and length (`length` None: all lengths)."""

    domain: str
    length: int | None
    items: int
    mean_union: float
    """Mean over items of the item's mean union size."""
    forced: float
    """Mean number of positions with a single character."""
    cartesian_min: int
    cartesian_median: float
    cartesian_max: int


@dataclass(frozen=True, slots=True)
class CallRow:
    """Call columns of Table D6: positions under Full, those with a choice under Union, those filled."""

    domain: str
    full: int
    union: int
    forced: int


@dataclass(frozen=True, slots=True)
class QuotaRow:
    """Test items in one stratum at one length; `available` counts distinct golds (lexical) or the share of the pool (math)."""

    domain: str
    length: int
    stratum: str
    items: int
    available: float | None


@dataclass(frozen=True, slots=True)
class CueRow:
    """How often a candidates-only cue finds the gold, in percent, ties shared; chance is 12.5."""

    domain: str
    cue: str
    percent: float
    furthest_length: int
    """The length at which it is furthest from chance."""
    furthest_percent: float
    ties_low: float
    """The lowest and the highest percentage over the ways of breaking ties (by alphabet, by listing, first or last)."""
    ties_high: float
    mixed_percent: float | None
    """The same cue on lexical sets drawn over all strata, as the paper draws them; None where that makes no difference."""

    @property
    def within(self) -> bool:
        """Whether every way with ties stays within the tolerance."""
        return max(abs(p - CHANCE_PERCENT) for p in (self.percent, self.ties_low, self.ties_high)) <= TOLERANCE


@dataclass(frozen=True, slots=True)
class Audit:
    bank: str
    support: tuple[SupportRow, ...]
    calls: tuple[CallRow, ...]
    quotas: tuple[QuotaRow, ...]
    cues: tuple[CueRow, ...]

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Plain data, one list of rows per table."""
        return {name: [asdict(row) for row in getattr(self, name)] for name in ("support", "calls", "quotas", "cues")}


def audit_bank(bank: Bank | None = None) -> Audit:
    """The audit of the test items of `bank` (default: the one that ships)."""
    bank = bank or load_bank()
    test = bank.split("test")
    by_domain = {domain: [item for item in test if item.domain == domain] for domain in DOMAINS}
    support = []
    for domain, items in by_domain.items():
        lengths = sorted({item.length for item in items})
        support += [_support(domain, None, items), *(_support(domain, n, [i for i in items if i.length == n]) for n in lengths)]
    return Audit(
        bank=bank.id,
        support=tuple(support),
        calls=tuple(_calls(domain, items) for domain, items in by_domain.items()),
        quotas=tuple(_quotas(bank, test)),
        cues=tuple(_cues(bank, test)),
    )


def _unions(item: Item) -> list[int]:
    return [len(set(column)) for column in zip(*item.candidates, strict=True)]


def _support(domain: str, length: int | None, items: Sequence[Item]) -> SupportRow:
    unions = [_unions(item) for item in items]
    sizes = [prod(u) for u in unions]
    return SupportRow(
        domain=domain,
        length=length,
        items=len(items),
        mean_union=float(sum(Fraction(sum(u), len(u)) for u in unions) / len(unions)),
        forced=sum(u.count(1) for u in unions) / len(unions),
        cartesian_min=min(sizes),
        cartesian_median=float(median(sizes)),
        cartesian_max=max(sizes),
    )


def _calls(domain: str, items: Sequence[Item]) -> CallRow:
    forced = sum(_unions(item).count(1) for item in items)
    full = sum(item.length for item in items)
    return CallRow(domain, full, full - forced, forced)


def _quotas(bank: Bank, test: Sequence[Item]) -> Iterable[QuotaRow]:
    counts = Counter((item.domain, item.length, item.stratum) for item in test)
    lengths = bank.header.get("lengths", {})
    for domain, length, stratum in sorted(counts, key=lambda key: (DOMAINS.index(key[0]), *key[1:])):
        known = lengths.get(str(length), {})
        if domain == "lexical":
            available = known.get("available", {}).get(stratum)
        else:
            structure, _, load = stratum.partition("-")
            high = known.get("pools", {}).get(structure, {}).get("high_share")
            available = None if high is None else round(high if load == "high" else 1 - high, 4)
        yield QuotaRow(domain, length, stratum, counts[domain, length, stratum], available)


def _cue_rows(items: Iterable[Item], ties: str = "shared") -> dict[str, dict[str, float]]:
    return cue_percent(((i.domain, i.candidates, i.target, i.facts.get("centi_zipf")) for i in items), ties)


def _cues(bank: Bank, test: Sequence[Item]) -> Iterable[CueRow]:
    mixed = bank.header.get("mixed_cues", {})
    by_length = {n: _cue_rows(i for i in test if i.length == n) for n in sorted({item.length for item in test})}
    broken = [_cue_rows(test, ties) for ties in TIES[1:]]
    for domain, found in _cue_rows(test).items():
        for cue, percent in found.items():
            furthest = max(by_length, key=lambda n: abs(by_length[n][domain][cue] - CHANCE_PERCENT))
            over_ties = [rows[domain][cue] for rows in broken]
            yield CueRow(
                domain=domain,
                cue=cue,
                percent=percent,
                furthest_length=furthest,
                furthest_percent=by_length[furthest][domain][cue],
                ties_low=min(over_ties),
                ties_high=max(over_ties),
                mixed_percent=mixed.get(cue) if domain == "lexical" and "listed" not in cue else None,
            )
