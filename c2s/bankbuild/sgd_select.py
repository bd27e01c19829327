"""Choosing test and development prefixes: deterministic, balanced over services and lengths, disjoint in content (appendix C.1).

The rule is ours, since the paper prints only its result: the services whose scarcest length has the most eligible dialogues; then, from the
longest length down, services take turns and give their next dialogue in keyed order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from c2s.bankbuild.sgd import Reading, read_split
from c2s.banks.dialogue import Row, make_row
from c2s.banks.keyed import Keyed
from c2s.banks.schema_guided import LENGTHS, Prefix
from c2s.errors import BankError, UsageError


@dataclass(frozen=True, slots=True)
class Quotas:
    """What to choose. The defaults are the paper's numbers; the seed is ours, and so is how the perturbed dialogues divide by length.

    `paraphrased` and `permuted` count dialogues of 4, 6 and 8 user turns; every permuted one is paraphrased too. Twelve and six, divided
    so, have 66 and 32 turns: with two arms each, the 196 requests by which the paper's 1,924 exceed three arms over 576 turns.
    """

    seed: int = 20261009
    per_length: int = 32
    services: int = 10
    per_service: int = 12
    dev_per_length: int = 4
    paraphrased: tuple[int, ...] = (5, 5, 2)
    permuted: tuple[int, ...] = (3, 2, 1)


PAPER_QUOTAS = Quotas()


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen rows, test before development, each sorted by id; and what the audit prints."""

    rows: tuple[Row, ...]
    audit: Mapping[str, Any]


def select(folder: Path, *, name: str = "sgd", quotas: Quotas = PAPER_QUOTAS) -> Selection:
    """Choose from the official folders `test` and `dev` in `folder`. BankError if the data cannot fill the quotas."""
    _check(quotas)
    readings = {split: read_split(folder, split) for split in ("test", "dev")}
    seen: set[str] = set()
    chosen = {
        "test": _deal("test", readings["test"].prefixes, quotas, quotas.per_length, seen),
        "dev": _deal("dev", readings["dev"].prefixes, quotas, quotas.dev_per_length, seen),
    }
    rows = []
    for split, picks in chosen.items():
        perturbed = _perturbed(picks, quotas) if split == "test" else {}
        made = [
            make_row(
                prefix,
                length,
                name=name,
                seed=quotas.seed,
                paraphrase=prefix.dialogue in perturbed,
                permute=perturbed.get(prefix.dialogue, False),
            )
            for prefix, length in picks
        ]
        rows += sorted(made, key=lambda row: row["id"])
    return Selection(tuple(rows), _audit(readings, chosen, quotas))


def _check(q: Quotas) -> None:
    if not (q.per_length >= 1 and q.services >= 1 and q.per_service >= 1 and q.dev_per_length >= 0):
        raise UsageError("the quotas are whole numbers of at least 1 (development: 0)")
    cells = list(zip(q.permuted, q.paraphrased, strict=False))
    if not len(q.paraphrased) == len(q.permuted) == len(LENGTHS) or not all(0 <= a <= b <= q.per_length for a, b in cells):
        raise UsageError(
            "paraphrased and permuted dialogues are three numbers, one a length; permuted at most paraphrased, both at most those selected"
        )


def _deal(split: str, prefixes: Sequence[Prefix], q: Quotas, per_length: int, seen: set[str]) -> list[tuple[Prefix, int]]:
    """`per_length` prefixes of every length. `seen` holds the contents taken so far, over both splits."""
    cells: dict[tuple[str, int], list[Prefix]] = defaultdict(list)
    for prefix in sorted(prefixes, key=lambda p: p.dialogue):
        for length in prefix.lengths:
            cells[prefix.service.name, length].append(prefix)
    queues = {cell: Keyed(q.seed, split, *cell).shuffled(group) for cell, group in cells.items()}
    names = sorted({service for service, _ in cells}, key=lambda s: (-min(len(cells[s, n]) for n in LENGTHS), s))[: q.services]
    if len(names) < q.services and split == "test":
        raise BankError(f"only {len(names)} services have eligible dialogues, {q.services} were asked for")
    turn = Keyed(q.seed, split, "services").shuffled(names)
    taken: set[str] = set()
    count: Counter[str] = Counter()
    picks: list[tuple[Prefix, int]] = []
    at = 0
    for length in reversed(LENGTHS):
        for _ in range(per_length):
            services = [turn[(at + step) % len(turn)] for step in range(len(turn))]
            open_services = (s for s in services if count[s] < q.per_service)
            found = ((s, _next(queues.get((s, length), []), taken, seen)) for s in open_services)
            chosen = next(((s, p) for s, p in found if p is not None), None)
            if chosen is None:
                raise BankError(f"{split}: too few eligible dialogues of {length} user turns for {per_length} from {len(turn)} services")
            service, prefix = chosen
            at += services.index(service) + 1
            taken.add(prefix.dialogue)
            seen.add(prefix.content())
            count[service] += 1
            picks.append((prefix, length))
    return picks


def _next(queue: list[Prefix], taken: set[str], seen: set[str]) -> Prefix | None:
    while queue:
        prefix = queue.pop(0)
        if prefix.dialogue not in taken and prefix.content() not in seen:
            return prefix
    return None


def _perturbed(picks: Sequence[tuple[Prefix, int]], q: Quotas) -> dict[str, bool]:
    """Dialogues that get a paraphrase; True where also a permutation."""
    result: dict[str, bool] = {}
    for length, paraphrased, permuted in zip(LENGTHS, q.paraphrased, q.permuted, strict=True):
        group = sorted(prefix.dialogue for prefix, n in picks if n == length)
        chosen = Keyed(q.seed, "perturbation", length).shuffled(group)[:paraphrased]
        result |= {dialogue: i < permuted for i, dialogue in enumerate(chosen)}
    return result


def _audit(readings: Mapping[str, Reading], chosen: Mapping[str, Sequence[tuple[Prefix, int]]], q: Quotas) -> dict[str, Any]:
    audit: dict[str, Any] = {"quotas": asdict(q), "splits": {}}
    for split, reading in readings.items():
        picks = chosen[split]
        services = sorted({prefix.service.name for prefix in reading.prefixes})
        audit["splits"][split] = {
            "dialogues": reading.dialogues,
            "eligible_dialogues": len(reading.prefixes),
            "eligible": {
                s: {str(n): sum(p.service.name == s and n in p.lengths for p in reading.prefixes) for n in LENGTHS} for s in services
            },
            "refused": [{"user_turns": n, "reason": reason, "prefixes": count} for (n, reason), count in sorted(reading.refused.items())],
            "selected": {s: {str(n): sum(p.service.name == s and length == n for p, length in picks) for n in LENGTHS} for s in services},
            "prefixes": len(picks),
            "user_turns": sum(n for _, n in picks),
            "field_turns": sum(n * (1 + len(prefix.service.slots)) for prefix, n in picks),
            "services": len({prefix.service.name for prefix, _ in picks}),
        }
    test, dev = ({p.content() for p, _ in chosen[split]} for split in ("test", "dev"))
    audit["shared_contents"] = len(test & dev)
    return audit
