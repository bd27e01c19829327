"""Does an answer depend on the order in which a request presents the same content? A test that knows how much repeats differ."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from c2s.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEffect:
    """n              units: items under one condition, with two calls in each order
    between, within   share of call pairs that differ between the orders, and between repeats of the same bytes
    excess            between - within, the mean over units
    p                 exact, one-sided: more disagreement between the orders than between repeats; None without a unit
    """

    n: int
    between: float | None
    within: float | None
    excess: float | None
    p: float | None


def order_effect(answers: Sequence[Sequence[Hashable]]) -> OrderEffect:
    """Randomisation test that two orders of the same request are exchangeable.

    `answers`: one row [first order, its repeat, second order, its repeat] per unit. Where order means nothing the four calls are
    exchangeable, so each of the three ways to pair them up is as likely to be the pair of repeats as the real one. The statistic is the
    sum over units of (disagreements between the pairs / 4 - disagreements within the pairs / 2); its law over the 3**n equally
    likely pairings is exact, by convolution. A judge that is flipped by order in k units and never contradicts itself has p = 3**-k.
    InputError for a row that has not four answers.
    """
    total, law = 0, {0: 1.0}
    between = within = 0
    for number, row in enumerate(answers):
        if len(row) != 4:
            raise InputError(f"answers[{number}] has {len(row)} entries: give first order, its repeat, second order, its repeat")
        a, b, c, d = row
        pairings = [_statistic(*order) for order in ((a, b, c, d), (a, c, b, d), (a, d, b, c))]
        total += pairings[0]
        between += (a != c) + (a != d) + (b != c) + (b != d)
        within += (a != b) + (c != d)
        if len(set(pairings)) > 1:
            step: dict[int, float] = {}
            for value, mass in law.items():
                for extra in pairings:
                    step[value + extra] = step.get(value + extra, 0.0) + mass / 3
            law = step
        else:
            total -= pairings[0]  # the same for every pairing: it changes no comparison
    n = len(answers)
    if n == 0:
        return OrderEffect(n=0, between=None, within=None, excess=None, p=None)
    p = sum(mass for value, mass in law.items() if value >= total)
    shares = between / (4 * n), within / (2 * n)
    return OrderEffect(n=n, between=shares[0], within=shares[1], excess=shares[0] - shares[1], p=min(1.0, p))


def _statistic(a: Hashable, b: Hashable, c: Hashable, d: Hashable) -> int:
    """Four times (disagreements between the pairs ab and cd / 4 - disagreements within them / 2)."""
    return (a != c) + (a != d) + (b != c) + (b != d) - 2 * ((a != b) + (c != d))
