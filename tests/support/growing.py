"""A writer that goes on with a generated run at a steady rate, as a process of its own.

    python tests/support/growing.py RUN SLOTS_PER_SECOND SECONDS

It writes through LedgerWriter, with the runner's rhythm of commits and under the runner's lock, and prints how many slots it settled
and how long the longest commit took, checkpoints included.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

from c2s.ledger import reader
from c2s.ledger.directory import RunDirectory
from c2s.ledger.rows import ParentRow, SlotRow
from c2s.ledger.writer import LedgerWriter
from c2s.records import Outcome

COMMIT_SECONDS = 0.25


def grow(path: Path | str, per_second: float, seconds: float) -> tuple[int, float]:
    """Returns (slots settled, seconds of the longest commit)."""
    run = RunDirectory(path)
    with run.locked():
        writer = LedgerWriter(run, durable=False)
        began, committed, settled, longest = time.monotonic(), time.monotonic(), 0, 0.0
        work = _slots(writer)
        while time.monotonic() - began < seconds:
            due = int((time.monotonic() - began) * per_second)
            while settled < due:
                slot = next(work, None)
                if slot is None:
                    break
                settled += 1
            if time.monotonic() - committed >= COMMIT_SECONDS:
                start = time.perf_counter()
                writer.commit()
                longest = max(longest, time.perf_counter() - start)
                committed = time.monotonic()
            time.sleep(0.01)
        writer.commit()
        writer.close()
    return settled, longest


def _slots(writer: LedgerWriter) -> Iterator[SlotRow]:
    """Settles one slot after another, parents in the order of the plan."""
    db = writer.connection
    for (number,) in db.execute("SELECT id FROM parents WHERE closed = 0 ORDER BY id").fetchall():
        parent = reader.parent(db, number)
        slots = sorted(reader.slots_of(db, parent).values(), key=lambda row: row.id)
        for row in slots:
            _answer(writer, parent, row)
            yield row
        rng = random.Random(number)
        right = {arm: rng.random() < p for arm, p in (("native", 0.9), ("serial", 0.4))}
        for arm in ("native", "serial"):
            target = parent.parent.target
            output = target if right[arm] else "0" + target[1:]
            detail = {"p": [0.5] * len(slots), "top": [0.5] * len(slots), "disagree": []}
            writer.add_outcome(parent, Outcome(arm, 0, "ok", output, right[arm], None, "", None if right[arm] else 1, 0.5, None, detail))
        names = {(1, 1): "both", (1, 0): "lost", (0, 1): "gained", (0, 0): "neither"}
        writer.close_parent(parent, names[int(right["native"]), int(right["serial"])])


def _answer(writer: LedgerWriter, parent: ParentRow, row: SlotRow) -> None:
    if row.state != "planned":
        return
    body = orjson.dumps({"state": parent.parent.payload, "model": "sim:synthetic", "step": row.slot.step, "filler": "x" * 300})
    exchange = writer.begin_exchange(row, body=body, body_sha256="0" * 64, content_sha256="0" * 64, reserved_usd=0.003)
    exchange.response = orjson.dumps({"answers": {"answer": {"choice": "1"}}})
    exchange.input_tokens, exchange.output_tokens, exchange.cost_usd = 150, 2, 0.0015
    writer.end_exchange(exchange, "ok")
    writer.set_state(row, "ok")


if __name__ == "__main__":
    settled, longest = grow(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
    print(f"{settled} {longest:.4f}", flush=True)
