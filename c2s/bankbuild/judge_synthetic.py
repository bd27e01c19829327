"""A small judge bank of our own text, so that everything runs without a publisher's data. It represents no natural population.

Two workloads as in the study: questions about a note that the judge does not see, and word problems.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from c2s.bankbuild.judge_build import Built, build_judge_bank
from c2s.bankbuild.judge_read import Raw
from c2s.banks.judge import shown
from c2s.banks.keyed import Keyed

BANK_ID = "judge-synthetic"
POOL = 140
"""Questions written per workload; 110 are drawn."""

PLACES = ("Norrick", "Ostrel", "Veyling", "Marbeck", "Tolsund", "Quenby", "Ardmoor", "Hesket", "Lunvik", "Perrow", "Sandrake", "Wyle")
PEOPLE = ("Ines", "Tomas", "Ruth", "Bakari", "Lene", "Oskar", "Mina", "Pavel", "Ada", "Jonas", "Suri", "Elif")
GOODS = ("crates", "lanterns", "sacks of barley", "bolts of linen", "clay tiles", "apple trees", "rowing boats", "tin cups")

READING: tuple[str, ...] = (
    "According to the harbour log of {place}, how many {goods} were unloaded in the {nth} week?",
    "How many metres is the {nth} span of the bridge at {place} longer than the one before it?",
    "In the report on the {place} fair, how many visitors came on the {nth} day?",
    "How many years after the founding of {place} did its {nth} mayor take office?",
    "The chronicle of {place} names {goods} sold in the {nth} spring. How many were sold?",
    "By how many votes did {name} win the {nth} ballot in {place}?",
    "How many points did the team of {place} score in the {nth} round, when {name} was its captain?",
    "In the survey of {place}, how many hectares does the {nth} field of {name} measure?",
)
NTH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")


def _note(draw: Keyed) -> tuple[str, Decimal]:
    template = draw.pick(READING)
    text = template.format(place=draw.pick(PLACES), name=draw.pick(PEOPLE), goods=draw.pick(GOODS), nth=draw.pick(NTH))
    value = Decimal(2 + draw.below(draw.pick((30, 300, 3000))))
    return text, value + Decimal("0.5") if "hectares" in template else value


def _bought(draw: Keyed) -> tuple[str, Decimal]:
    n, price, paid = 3 + draw.below(37), 2 + draw.below(18), draw.below(40)
    who, goods = draw.pick(PEOPLE), draw.pick(GOODS)
    return f"{who} buys {n} {goods} at {price} marks each and pays {paid} marks for the cart. How many marks does {who} spend?", Decimal(
        n * price + paid
    )


def _shared(draw: Keyed) -> tuple[str, Decimal]:
    each, heads, left = 4 + draw.below(46), 3 + draw.below(12), draw.below(9)
    who, goods = draw.pick(PEOPLE), draw.pick(GOODS)
    return f"{who} gives {each} {goods} to each of {heads} neighbours and keeps {left}. How many {goods} did {who} have?", Decimal(
        each * heads + left
    )


def _walked(draw: Keyed) -> tuple[str, Decimal]:
    days, daily = 2 + draw.below(12), Decimal(6 + 2 * draw.below(15)) / 4
    who, place = draw.pick(PEOPLE), draw.pick(PLACES)
    return f"{who} walks {shown(daily)} km to {place} and back on each of {days} days. How many km is that in all?", (
        2 * days * daily
    ).normalize()


def _cooled(draw: Keyed) -> tuple[str, Decimal]:
    start, drop = 2 + draw.below(11), 3 + draw.below(25)
    place = draw.pick(PLACES)
    return f"In {place} it is {start} degrees at noon and {drop} degrees colder at night. How many degrees is it at night?", Decimal(
        start - drop
    )


SUMS: tuple[Callable[[Keyed], tuple[str, Decimal]], ...] = (_bought, _shared, _walked, _cooled)


def _raws(seed: int) -> list[Raw]:
    rows = []
    for workload, write in (("reading", _note), ("sums", lambda draw: draw.pick(SUMS)(draw))):
        for i in range(1, POOL + 1):
            question, value = write(Keyed(seed, "judge text", workload, i))
            name = f"{workload}:{i}"
            rows.append(Raw(name, workload, name, question, question, (shown(value),)))
    return rows


def build_synthetic(seed: int = 20261012) -> Built:
    """The bank that ships, byte for byte: 100 + 100 confirmation and 10 + 10 preflight sources."""
    return build_judge_bank(_raws(seed), bank_id=BANK_ID, seed=seed, facts={"text": "written for c2s, Apache-2.0"})
