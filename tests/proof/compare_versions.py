"""Runs the same panels and models with an earlier c2s and with this one, and compares every figure and every request.

    python tests/proof/compare_versions.py --old OLD/bin/c2s --new .venv/bin/c2s --work build/proof [--limit N]

`make proof` builds the earlier program (commit eaca22a, the last with reports of the first format and ledgers of schema 1) and calls this.
Compared are the figures of report.json (`c2s.reports.earlier`), and for every slot its state, whether it shares another's response, the
hash of its request and of its response, and the order in which requests were sent. Prints one line for each model; exits 1 if anything
differs. `--limit` makes the runs smaller; without it they have full size.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from c2s.reports import earlier

JUDGE = "judge-audit,judge-preflight,judge-confirmation,judge-components,reference-switch,judge-formatting,judge-cues"
RUNS = {
    "judge-final": (JUDGE, "sim:judge?kind=final"),
    "judge-both": (JUDGE, "sim:judge?kind=both"),
    "sparrow": ("all", "sparrow"),
    "positions": ("all", "sim:positions"),
    "effect-conflict": ("all", "sim:effect?name=conflict"),
    "effect-indexing": ("all", "sim:effect?name=indexing"),
    "writer-direct": ("all", "sim:writer?habit=aloud&share=0.3&contract=direct"),
    "writer-readout": ("all", "sim:writer?habit=plain&contract=code-readout"),
    "writer-generated": ("all", "sim:writer?habit=bound_code&share=0.5&contract=code-generated"),
}

Identity = tuple[str, str, str, int, int]
"""Panel, parent, arm, instance (a repeat, or a turn less one) and step of a slot."""


def slots(ledger: Path) -> tuple[dict[Identity, tuple[Any, ...]], list[str]]:
    """What every slot of a ledger of schema 1 or 2 asked and got, and the hashes of the requests in the order in which they were sent."""
    db = sqlite3.connect(f"{ledger.absolute().as_uri()}?mode=ro", uri=True)
    turn = "s.turn" if db.execute("PRAGMA user_version").fetchone()[0] > 1 else "0"
    rows = db.execute(
        f"SELECT p.panel, p.parent, s.arm, s.replicate, {turn}, s.step, s.state, s.share_of IS NOT NULL, e.body_sha256, e.response"
        " FROM slots s JOIN parents p ON p.id = s.parent LEFT JOIN exchanges e ON e.id = s.exchange"
    )
    asked: dict[Identity, tuple[Any, ...]] = {}
    for panel, parent, arm, replicate, number, step, state, shares, request, response in rows:
        answer = None if response is None else sha256(response).hexdigest()
        asked[panel, parent, arm, number - 1 if number else replicate, step] = (state, shares, request, answer)
    order = [request for (request,) in db.execute("SELECT body_sha256 FROM exchanges ORDER BY id")]
    db.close()
    return asked, order


def figures(value: Any) -> Iterator[float]:
    """Every number of a JSON document."""
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from figures(member)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def run(program: str, folder: Path, panels: str, model: str, limit: int | None) -> float:
    """Make the run in `folder`; the seconds that it took."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [program, "run", "--panel", panels, "--model", model, "--out", str(folder)]
    start = time.monotonic()
    done = subprocess.run(command + (["--limit", str(limit)] if limit else []), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return time.monotonic() - start


def compare(old: Path, new: Path) -> tuple[str, list[str]]:
    """(what was compared, differences as sentences) of two run directories."""
    documents = [json.loads((folder / "report.json").read_text()) for folder in (old, new)]
    differences = earlier.differences(*documents)
    (before, sent_before), (now, sent_now) = slots(old / "ledger.sqlite"), slots(new / "ledger.sqlite")
    changed = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    differences += [f"slot {key}: was {before.get(key)}, is {now.get(key)}" for key in changed]
    if sent_before != sent_now:
        differences.append("the requests were sent in another order")
    return f"{sum(1 for _ in figures(documents[0]))} figures, {len(before)} slots, {len(sent_before)} requests in order", differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in (("--old", "the earlier program"), ("--new", "this program"), ("--work", "a folder for the runs")):
        parser.add_argument(name, required=True, help=what)
    parser.add_argument("--limit", type=int, help="parents per domain (default: all)")
    parser.add_argument("--only", nargs="*", choices=tuple(RUNS), default=tuple(RUNS), help="some of the runs (default: all)")
    options = parser.parse_args()
    work, wrong = Path(options.work), 0
    for name in options.only:
        panels, model = RUNS[name]
        seconds = [
            run(program, work / which / name, panels, model, options.limit)
            for which, program in (("old", options.old), ("new", options.new))
        ]
        what, differences = compare(work / "old" / name, work / "new" / name)
        print(f"{name}: {what}; {len(differences)} differ; {seconds[0]:.0f} s before, {seconds[1]:.0f} s now", flush=True)
        for sentence in differences[:10]:
            print(f"  {sentence}")
        wrong += bool(differences)
    print(f"{len(options.only) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
