"""What follows from the counts of the dialogue evaluation (appendix C, Tables C1 to C5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from c2s import stats
from c2s.reproduce.figures import Figure, compare, percent, tables


def figures() -> Iterator[Figure]:
    table = tables()["dialogue"]
    turns, per_length, *lengths = table["turns"]
    n = per_length * len(lengths)
    yield compare("C.1", "user turns", turns, per_length * sum(lengths), 0)
    logical, physical, shared = table["shared"]
    yield compare("C.1", "requests that share a response", shared, logical - physical, 0)
    yield from _access(table, n)
    yield from _gold_state(table, n)
    yield from _construction(table, n)
    yield from _retention(table)


def _access(table: dict[str, Any], n: int) -> Iterator[Figure]:
    """A trajectory is right if it never failed; a final state if the trajectory never failed or was right again at the end."""
    for model, arm, trajectory, _, final, failed, recovered, last in table["C1"]:
        where = f"Table C1, {model}, {arm}"
        yield compare(where, "trajectory", trajectory, 100 * (n - failed) / n, note=f"{n} less Table C3's {failed} that failed")
        yield compare(where, "final state", final, 100 * (n - failed + last) / n, note=f"and {last} that came right at the end")
        sound = last <= recovered <= failed
        yield Figure(
            f"Table C3, {model}, {arm}",
            "final <= any <= failed",
            "",
            f"{last} <= {recovered} <= {failed}",
            "agrees" if sound else "differs",
        )


def _gold_state(table: dict[str, Any], n: int) -> Iterator[Figure]:
    rows = {(row[0], row[1]): row for row in table["C1"]}
    for model, trajectory, mean, final in table["C2"]:
        oracle, rollout = rows[model, "Oracle"], rows[model, "Rollout"]
        where = f"Table C2, {model}"
        yield compare(where, "trajectory", trajectory, 100 * (rollout[5] - oracle[5]) / n)
        yield compare(where, "final state", final, 100 * (rollout[5] - oracle[5] + oracle[7] - rollout[7]) / n)
        found = oracle[3] - rollout[3]
        near = abs(found - mean) < 0.1 + 1e-9
        yield Figure(
            where, "mean turn", f"{mean:.1f}", f"{found:.1f}", "agrees" if near else "differs", "of two rounded accuracies, so within 0.1"
        )


def _construction(table: dict[str, Any], n: int) -> Iterator[Figure]:
    for model, arm, *printed in table["C4"]:
        for what, (share, low, high) in (("final state", printed[:3]), ("trajectory", printed[3:])):
            where, count = f"Table C4, {model}, {arm}", round(share * n / 100)
            yield compare(where, what, share, 100 * count / n, note=f"{count} of {n}, the one count that rounds so")
            found = stats.bootstrap_mean((np.arange(n) < count).astype(int), method="exact")
            bounds = (percent(found.low), percent(found.high))
            paper, ours = (f"[{a:.1f}, {b:.1f}]" for a, b in ((low, high), bounds))
            off = max(abs(a - b) for a, b in zip((low, high), bounds, strict=True))
            note = (
                "exact bootstrap by dialogue"
                if off < 0.051
                else "by one dialogue: the paper drew 99,999 samples of the law that is computed here"
            )
            yield Figure(where, f"{what}: interval", paper, ours, "agrees" if off < 0.051 else "differs", note)


def _retention(table: dict[str, Any]) -> Iterator[Figure]:
    for model, arm, kept, of, retention, valid, calls in table["C5"]:
        where = f"Table C5, {model}, {arm}"
        note = "the printed share weighs dialogues; turns alone give this one"
        yield Figure(where, "retention", f"{retention:.1f}", f"{100 * kept / of:.1f}", "not recomputable", note)
        yield compare(where, "calls", calls, table["fields"], 0, "one a field turn")
        count = round(valid * calls / 100)
        yield compare(
            where,
            "valid",
            valid,
            100 * count / calls,
            note=f"for example {count} of {calls} responses; of no number of 576 turns" if valid < 100 else "",
        )
