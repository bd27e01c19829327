"""Symbolic sources: COPY and REVERSE in digits and letters, and twelve-character reversals (paper 3.2, A.5, B.4, D.7; protocol 1.4).

Everything is drawn by keyed choices and frozen in two files of this package; `c2s bank check` draws it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from c2s.banks.datafile import SHIPPED, data_bytes
from c2s.banks.keyed import Keyed

SEED = 20261012
LONG_SEED = 20261011
LENGTHS = range(3, 9)
PER_CELL = 5
SECOND_PER_LENGTH = 2
DIGITS = "0123456789"
ENCODINGS = {"digits": DIGITS, "letters": "abcdefghij", "second": "etaoinshrd"}
"""Bijections from the digits; the second one serves twelve bases."""
OPERATIONS = ("copy", "reverse")
ISOMORPHIC_FILE = SHIPPED / "isomorphic-v1.jsonl"
LONG_FILE = SHIPPED / "long-v1.jsonl"

LONG = 32
LONG_LENGTH = 12
BRANCHES = {"early": (2, 3), "late": (10, 11)}
ALSO_QUERIED = (1, 4, 8, 12)


def apply(operation: str, source: str) -> str:
    return source if operation == "copy" else source[::-1]


def encoded(text: str, encoding: str) -> str:
    """Digits in one of the encodings."""
    return text.translate(str.maketrans(DIGITS, ENCODINGS[encoding]))


def four_by_two(target: str, first: int, second: int, symbols: str, seat: int, keyed: Keyed) -> list[str]:
    """Eight candidates: four symbols at position `first`, two at `second` (one-based), everything else the target's.

    The gold stands at a given place; the others are shuffled.
    """
    heads = [target[first - 1], *keyed.shuffled(c for c in symbols if c != target[first - 1])[:3]]
    tails = [target[second - 1], keyed.pick([c for c in symbols if c != target[second - 1]])]
    made = []
    for head in heads:
        for tail in tails:
            made.append("".join(head if i == first else tail if i == second else c for i, c in enumerate(target, start=1)))
    others = keyed.shuffled(c for c in made if c != target)
    return [*others[:seat], target, *others[seat:]]


def _source(length: int, repeated: bool, keyed: Keyed) -> str:
    while True:
        text = "".join(keyed.pick(DIGITS) for _ in range(length))
        if (len(set(text)) < length) == repeated:
            return text


def isomorphic_rows(seed: int = SEED) -> Iterator[dict[str, Any]]:
    """120 bases: five of each length, repetition and place of the second branch (position 2, or the last one)."""
    for length in LENGTHS:
        seen: set[str] = set()
        rows = []
        for repeated in (False, True):
            for late in (False, True):
                for i in range(PER_CELL):
                    attempt = 0
                    while True:
                        source = _source(length, repeated, Keyed(seed, "isomorphic", length, repeated, late, i, attempt))
                        if not seen & {source, source[::-1]}:
                            break
                        attempt += 1
                    seen |= {source, source[::-1]}
                    rows.append((source, repeated, late))
        seats = {op: Keyed(seed, "isomorphic seats", length, op).shuffled(i % 8 for i in range(len(rows))) for op in OPERATIONS}
        second = set(Keyed(seed, "second mapping", length).shuffled(range(len(rows)))[:SECOND_PER_LENGTH])
        for i, (source, repeated, late) in enumerate(rows):
            depth = length if late else 2
            name = f"iso-{length}-{i + 1:02d}"
            yield {
                "id": name,
                "length": length,
                "source": source,
                "repeated": repeated,
                "profile": "late" if late else "early",
                "depth": depth,
                "second": i in second,
                "candidates": {
                    op: four_by_two(apply(op, source), 1, depth, DIGITS, seats[op][i], Keyed(seed, "isomorphic candidates", name, op))
                    for op in OPERATIONS
                },
            }


def long_rows(seed: int = LONG_SEED) -> Iterator[dict[str, Any]]:
    """32 distinct twelve-character sources over a-j with their reversal and two candidate sets."""
    symbols = ENCODINGS["letters"]
    seen: set[str] = set()
    seats = {b: Keyed(seed, "long seats", b).shuffled(i % 8 for i in range(LONG)) for b in BRANCHES}
    for i in range(LONG):
        attempt = 0
        while True:
            keyed = Keyed(seed, "long", i, attempt)
            source = "".join(keyed.pick(symbols) for _ in range(LONG_LENGTH))
            if source not in seen and source != source[::-1]:
                break
            attempt += 1
        seen.add(source)
        name = f"long-{i + 1:02d}"
        target = apply("reverse", source)
        yield {
            "id": name,
            "length": LONG_LENGTH,
            "source": source,
            "target": target,
            "candidates": {
                branch: four_by_two(target, *at, symbols, seats[branch][i], Keyed(seed, "long candidates", name, branch))
                for branch, at in BRANCHES.items()
            },
        }


def queried(branch: str, count: int) -> tuple[int, ...]:
    """Positions that a controller with two or six queries asks: always both branches (D.7)."""
    return tuple(sorted(BRANCHES[branch] if count == 2 else {*BRANCHES[branch], *ALSO_QUERIED}))


def isomorphic_bytes() -> bytes:
    facts = {"seed": SEED, "per_cell": PER_CELL, "encodings": ENCODINGS}
    return data_bytes("isomorphic", "isomorphic-v1", isomorphic_rows(), facts)


def long_bytes() -> bytes:
    facts = {"seed": LONG_SEED, "branches": {name: list(at) for name, at in BRANCHES.items()}}
    return data_bytes("long", "long-v1", long_rows(), facts)


def check_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """(item, what is wrong) of isomorphic and long rows, by what the paper states of them."""
    for row in rows:
        for name, candidates in row["candidates"].items():
            target = row.get("target") or apply(name, row["source"])
            first, second = BRANCHES.get(name) or (1, row["depth"])
            counts = [sum(c[:k] == target[:k] for c in candidates) for k in range(row["length"] + 1)]
            expected = [8 if k < first else 2 if k < second else 1 for k in range(row["length"] + 1)]
            if target not in candidates or len(set(candidates)) != 8 or counts != expected:
                yield row["id"], f"the {name} candidates have K = {counts}, not {expected}"
            unions = [len(set(column)) for column in zip(*candidates, strict=False)]
            if unions != [4 if t == first else 2 if t == second else 1 for t in range(1, row["length"] + 1)]:
                yield row["id"], f"the {name} candidates branch elsewhere: union sizes {unions}"


FILES: Mapping[Path, Callable[[], bytes]] = {ISOMORPHIC_FILE: isomorphic_bytes, LONG_FILE: long_bytes}
"""Every frozen file of this module and how its bytes are made."""
