"""Generated run directories: any size, fixed times, deterministic, written in bulk instead of by a runner.

For tests and benchmarks of whatever reads ledgers. The plan goes through `create_ledger`, the results straight into the tables
that the writer fills, so a million slots take a minute; tests compare a small one with what the rows say.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from c2s.ledger.counters import write_counters
from c2s.ledger.creation import PlannedParent, create_ledger
from c2s.ledger.directory import RunDirectory
from c2s.ledger.rows import EXCHANGE_COLUMNS, ExchangeRow
from c2s.ledger.totals import Spend, stored, weigh
from c2s.records import Parent, Slot

EPOCH = 1_790_000_000.0
"""When the generated run began, in seconds since the epoch."""

RATES = {"math": (0.55, 0.35, 0.04, 0.06), "lexical": (0.30, 0.60, 0.02, 0.08)}
"""both, lost, gained, neither."""

CELLS = ("both", "lost", "gained", "neither")

ARMS = {("main", arm): {"interface": arm} for arm in ("native", "serial")}


@dataclass(frozen=True, slots=True)
class Shape:
    """What to generate. `settled` is the share of parents that are closed, `undefined` the share of those that failed.

    `seed` makes the items, `answers` the model's answers. `slots` None gives 1 + L slots a parent with L = 3..8 in turn; a number gives
    exactly that many.
    """

    parents: int
    slots: int | None = None
    settled: float = 1.0
    undefined: float = 0.0
    in_flight: int = 0
    tokens: bool = True
    usd: float | None = 0.00001
    rate: float = 500.0
    seed: int = 0
    answers: int = 0
    model: str = "sim:oracle"
    texts: dict[str, str] = field(default_factory=dict)


def synthesise(path: Path | str, shape: Shape) -> RunDirectory:
    """A new run directory of this shape."""
    parents = list(_parents(shape))
    run = RunDirectory.create(path)
    slots = sum(1 + p.length for p in parents)
    digest = run.write_manifest(_manifest(shape, len(parents), slots))
    create_ledger(run, (_planned(p) for p in parents), {"manifest_sha256": digest}, ARMS)
    db = sqlite3.connect(run.ledger_path, isolation_level=None)
    db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
    _fill(db, shape, parents)
    db.execute("COMMIT")
    db.close()
    return run


def _parents(shape: Shape) -> Iterator[Parent]:
    """Pairs of one length, math first; lengths in turn, then shortened or lengthened by one to meet `slots` exactly."""
    rng = random.Random(shape.seed)
    lengths = [3 + (i // 2) % 6 for i in range(shape.parents)]
    if shape.slots is not None:
        missing = shape.slots - sum(1 + n for n in lengths)
        for i in range(abs(missing)):
            lengths[i * 2 % shape.parents + (i * 2 // shape.parents) % 2] += 1 if missing > 0 else -1
    for i, length in enumerate(lengths):
        math = i % 2 == 0
        letters = "123456789" if math else "abcdefghijklmnopqrstuvwxyz"
        initials, depth = rng.sample(letters, 4), rng.randrange(1, length)
        stem, seconds = [rng.choice(letters) for _ in range(length)], rng.sample(letters, 2)
        candidates = ["".join([f, *stem[1:depth], s, *stem[depth + 1 :]]) for f in initials for s in seconds]
        rng.shuffle(candidates)
        target = rng.choice(candidates)
        problem = (
            f"{rng.randrange(2, 999)} × {rng.randrange(2, 999)} = ?" if math else f"Which noun matches this definition: sense {i} of a word"
        )
        payload = {"problem": shape.texts.get("problem", problem), "target": target, "candidates": candidates}
        yield Parent(f"{'m' if math else 'w'}-{i // 2:06}", "math" if math else "lexical", length, payload, f"pair-{i // 2:06}")


def _planned(parent: Parent) -> PlannedParent:
    payload = orjson.dumps(parent.payload, option=orjson.OPT_SORT_KEYS)
    steps = [("native", 1), *(("serial", t) for t in range(1, parent.length + 1))]
    slots = tuple(Slot("main", parent.id, arm, 0, step) for arm, step in steps)
    digest = hashlib.sha256(payload + parent.id.encode()).hexdigest()
    return PlannedParent("main", parent, digest, payload, slots)


def _manifest(shape: Shape, parents: int, slots: int) -> dict[str, Any]:
    return {
        "format": 1,
        "identity": {
            "panels": ["main"],
            "model": shape.model,
            "dialect": "systemone",
            "wire_model": shape.model,
            "fingerprint": {},
            "resend": "safe",
            "exact": True,
            "settings": {"seed": shape.seed, "limit": None, "domain": None, "template": "v1"},
            "parents": parents,
            "requests": slots,
            "items_sha256": f"synthetic-{shape.parents}-{shape.slots}-{shape.seed}",
            "contracts_sha256": "synthetic",
        },
        "provenance": {
            "run_id": f"synthetic{shape.seed:07}",
            "created": "2026-09-21T13:33:20Z",
            "host": "nowhere",
            "versions": {"c2s": "0.1.0"},
            "backend_options": {},
            "reuse_from": None,
        },
    }


def _fill(db: sqlite3.Connection, shape: Shape, parents: list[Parent]) -> None:
    """Give the first `settled` share of the parents answers and outcomes, and put some slots after them in flight."""
    rng = random.Random(1000 * shape.answers + shape.seed + 1)
    counters: Counter[tuple[str, str, int, str, str]] = Counter()
    exchanges, outcomes, slots, closed = [], [], [], []
    number = slot = 0
    spend = Spend()
    for ledger_id, parent in enumerate(parents[: round(shape.settled * len(parents))], start=1):
        place = ("main", parent.domain, parent.length)
        failed = rng.random() < shape.undefined
        cell = "undefined" if failed else rng.choices(CELLS, RATES[parent.domain])[0]
        steps = [("native", 1), *(("serial", t) for t in range(1, parent.length + 1))]
        state = "ok"
        for arm, step in steps:
            slot += 1
            if state == "error":
                state = "blocked"
            elif failed and arm == "serial" and step == 2:
                state = "error"
            counters[*place, arm, "planned"] -= 1
            counters[*place, arm, state] += 1
            if state == "blocked":
                slots.append(("blocked", None, slot))
                continue
            number += 1
            exchanges.append(_exchange(shape, number, slot, parent, arm, step, state))
            slots.append((state, number, slot))
        for arm in ("native", "serial"):
            row, key = _outcome(rng, ledger_id, parent, arm, cell)
            outcomes.append(row)
            counters[*place, arm, f"outcome:{key}"] += 1
        counters[*place, "", f"transition:{cell}"] += 1
        closed.append((cell, ledger_id))
        if len(exchanges) > 50_000:
            _insert(db, exchanges, outcomes, slots, closed, spend)
    left = iter(parents[round(shape.settled * len(parents)) :])
    for parent, _ in zip(left, range(shape.in_flight), strict=False):
        number += 1
        slots.append(("sent", number, slot + 1))
        exchanges.append(_exchange(shape, number, slot + 1, parent, "native", 1, "sent"))
        counters["main", parent.domain, parent.length, "native", "planned"] -= 1
        counters["main", parent.domain, parent.length, "native", "sent"] += 1
        slot += 1 + parent.length
    _insert(db, exchanges, outcomes, slots, closed, spend)
    write_counters(db, counters)
    db.execute("INSERT INTO run VALUES ('spend', ?)", (stored(spend),))
    for at, level, message in _events(shape, number):
        db.execute("INSERT INTO events (at, level, message) VALUES (?, ?, ?)", (at, level, message))


def _exchange(shape: Shape, number: int, slot: int, parent: Parent, arm: str, step: int, state: str) -> tuple[Any, ...]:
    gold = parent.target if arm == "native" else parent.target[step - 1]
    options = {c: None for c in (parent.candidates if arm == "native" else "0123456789")}
    request = orjson.dumps(
        {
            "state": orjson.dumps({"candidates": parent.candidates, "position": step, "problem": parent.payload["problem"]}).decode(),
            "model": shape.model,
            "questions": {"answer": {"type": "choice", "instructions": "Choose.", "criteria": options}},
        }
    )
    at = EPOCH + number / shape.rate
    done = state != "sent"
    response = orjson.dumps({"model": shape.model, "answers": {"answer": {"choice": gold, "probabilities": {gold: 0.9}}}})
    if shape.texts.get("response") and done:
        response = shape.texts["response"].encode()
    tokens = len(request) // 4 if shape.tokens and state == "ok" else None
    cost = tokens * shape.usd if tokens and shape.usd else None
    return (
        number, slot, 1, "malformed" if state == "error" else state, "0" * 64, "0" * 64, request, at, at + 0.08 if done else None,
        200 if done else None, None, response if done else None, shape.model, tokens, 2 if tokens else None,
        None if shape.usd is None else 300 * shape.usd, cost,
        shape.texts.get("message", "the response is not JSON") if state == "error" else None, None,
        None, None, None, None,
    )  # fmt: skip


def _outcome(rng: random.Random, ledger_id: int, parent: Parent, arm: str, cell: str) -> tuple[tuple[Any, ...], str]:
    if cell == "undefined" and arm == "serial":
        return (
            ledger_id,
            arm,
            0,
            0,
            "undefined",
            None,
            None,
            None,
            None,
            None,
            None,
            "step 2: error: the response is not JSON",
            "{}",
        ), "undefined"
    right = cell == "both" or cell == {"native": "lost", "serial": "gained"}[arm] or cell == "undefined"
    output, wrong = parent.target, None
    if not right and arm == "native":
        output = rng.choice([c for c in parent.candidates if c != parent.target])
    elif not right:
        wrong = rng.randint(1, parent.length)
        output = parent.target[: wrong - 1] + ("0" if parent.target[wrong - 1] != "0" else "1") + parent.target[wrong:]
    if not right and wrong is None:
        wrong = next(i for i, (a, b) in enumerate(zip(output, parent.target, strict=False), start=1) if a != b)
    output = output if right else parent_text(parent, output)
    top = [round(0.3 + 0.7 * rng.random(), 4) for _ in range(1 if arm == "native" else parent.length)]
    detail = orjson.dumps({"p": top, "top": top, "disagree": []}).decode()
    kind = "strict_correct" if right else "format_valid_wrong"
    return (ledger_id, arm, 0, 0, "ok", output, right, None, kind, wrong, min(top), None, detail), "correct" if right else "wrong"


def parent_text(parent: Parent, output: str) -> str:
    """A hostile output where the parent asks for one."""
    return parent.payload.get("output", output)


def _events(shape: Shape, number: int) -> list[tuple[float, str, str]]:
    if not shape.undefined:
        return []
    at = EPOCH + number / shape.rate
    return [(at, "warning", shape.texts.get("message", f"main/m-{i:06}/serial step 2: error: the response is not JSON")) for i in range(5)]


def _insert(db: sqlite3.Connection, exchanges: list, outcomes: list, slots: list, closed: list, spend: Spend) -> None:
    for row in exchanges:
        spend.add(weigh(ExchangeRow(**dict(zip(EXCHANGE_COLUMNS, row, strict=True)))))
    db.executemany(f"INSERT INTO exchanges VALUES ({', '.join('?' * len(EXCHANGE_COLUMNS))})", exchanges)
    db.executemany(f"INSERT INTO outcomes VALUES ({', '.join('?' * 13)})", outcomes)
    db.executemany("UPDATE slots SET state = ?, exchange = ? WHERE id = ?", slots)
    db.executemany("UPDATE parents SET transition = ?, closed = 1 WHERE id = ?", closed)
    for rows in (exchanges, outcomes, slots, closed):
        rows.clear()
