"""Checks of what ships beside the natural bank.

That is the symbolic, long and semantic sources, the cohort, the word list, and what is chosen about items.

The frozen files are made again and compared byte for byte; cohort and word list need the WordNet of the machine. What is chosen
about natural items is a function of the bank, so its invariants are checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from c2s.bankbuild.check import Finding
from c2s.bankbuild.cohort_build import build_cohort
from c2s.bankbuild.nouns import Nouns
from c2s.banks import cohort, semantic, symbolic, words
from c2s.banks.datafile import load_data
from c2s.banks.interventions import alphabet, binding_position, prefix_intervention, readout_record, wrong_target
from c2s.banks.natural import Bank, bank_bytes
from c2s.errors import C2SError


def check_sources(natural: Bank, nouns: Nouns, centi_zipf: Callable[[str], int]) -> list[Finding]:
    """Everything that is not as it should be; empty if all is well."""
    return [*check_frozen(), *check_choices(natural), *check_wordnet_files(natural, nouns, centi_zipf)]


def check_frozen() -> Iterator[Finding]:
    """Symbolic, long and semantic files against their makers, and their strata and geometry."""
    for path, make in {**symbolic.FILES, **semantic.FILES}.items():
        yield from _same(path, make)
    for path in symbolic.FILES:
        try:
            rows = load_data(path).rows
        except C2SError as error:
            yield Finding(path.name, str(error))
            continue
        yield from (Finding(item, what) for item, what in symbolic.check_rows(rows))


def check_choices(natural: Bank) -> Iterator[Finding]:
    """Positions, drafts, wrong targets and derangements of every test item."""
    for item in natural.split("test"):
        cut = prefix_intervention(item)
        right = item.target[: cut["position"] - 1]
        if not 2 <= cut["position"] <= item.length or sum(a != b for a, b in zip(right, cut["error_draft"], strict=True)) != 1:
            yield Finding(item.id, f"prefix intervention {cut} is no one-error draft of {right!r}")
        if not 1 <= binding_position(item) <= item.length:
            yield Finding(item.id, "the rebound position lies outside the target")
        wrong = wrong_target(item, {})
        if wrong["wrong_target"] == item.target or wrong["wrong_target"] not in item.candidates:
            yield Finding(item.id, f"the constructed wrong target {wrong['wrong_target']!r} is no other candidate")
        record = readout_record(item.target, alphabet(item), item.id)
        if sorted(record["other"]) != sorted(record["alphabet"]) or any(
            a == b for a, b in zip(record["alphabet"], record["other"], strict=True)
        ):
            yield Finding(item.id, "the permutation of option names keeps one in its place")


def check_wordnet_files(natural: Bank, nouns: Nouns, centi_zipf: Callable[[str], int]) -> Iterator[Finding]:
    """The cohort and the word list against WordNet and wordfreq."""
    yield from _same(words.WORDS_FILE, lambda: words.words_bytes(nouns.folder))
    yield from _same(cohort.COHORT_FILE, lambda: bank_bytes(build_cohort(nouns, centi_zipf, natural)))
    try:
        frozen = cohort.load_cohort()
    except C2SError as error:
        yield Finding(cohort.COHORT_FILE.name, str(error))
        return
    if Counter(item.length for item in frozen.items) != cohort.QUOTAS:
        yield Finding(cohort.COHORT_FILE.name, f"its lengths are not the quotas {cohort.QUOTAS}")
    shared = {item.target for item in frozen.items} & {item.target for item in natural.items}
    if shared:
        yield Finding(cohort.COHORT_FILE.name, f"{len(shared)} targets are in the natural bank too, such as {min(shared)!r}")


def _same(path: Path, make: Callable[[], bytes]) -> Iterator[Finding]:
    try:
        if path.read_bytes() != make():
            yield Finding(path.name, "a new build differs")
    except OSError as error:
        yield Finding(path.name, f"cannot be read: {error.strerror}")
    except C2SError as error:
        yield Finding(path.name, str(error))
