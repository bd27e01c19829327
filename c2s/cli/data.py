"""`c2s data`: build data files from publishers' files on this machine. The repository ships none of their texts."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c2s.cli.output import json_out, new_file, say, write_file
from c2s.errors import UsageError
from c2s.reports.tables import Table, as_text

if TYPE_CHECKING:
    from c2s.bankbuild.judge_build import Inventory


def sgd(options: argparse.Namespace) -> int:
    """`c2s data sgd DIR --out FILE`: choose dialogue prefixes, print the audit, write the data file."""
    from c2s.bankbuild.sgd_select import Quotas, select
    from c2s.banks.datafile import data_bytes
    from c2s.banks.dialogue import KIND, join_paraphrases

    out = new_file(options.out)
    given = {f.name: getattr(options, f.name) for f in fields(Quotas) if getattr(options, f.name) is not None}
    selection = select(Path(options.dir), name=options.name, quotas=Quotas(**given))
    rows = list(selection.rows)
    if options.paraphrases:
        rows = join_paraphrases(rows, options.paraphrases)
    missing = [row["id"] for row in rows if row["paraphrase_wanted"] and row["paraphrase"] is None]
    write_file(out, data_bytes(KIND, options.name, rows, {"audit": selection.audit}))
    if options.json:
        json_out({"file": str(out), "dialogues": len(rows), "without_paraphrase": missing, **selection.audit})
    else:
        sys.stdout.write("\n".join(as_text(table) for table in _sgd_tables(selection.audit)))
        print(f"\n{len(rows)} dialogues in {out}; use it with: c2s run --panel dialogue-construction --data {out}")
    if missing:
        say(f"c2s: {len(missing)} dialogues have no paraphrase yet (give --paraphrases FILE.json with their ids): {', '.join(missing)}")
    return 0


def _sgd_tables(audit: Mapping[str, Any]) -> list[Table]:
    tables = []
    for split, found in audit["splits"].items():
        lengths = list(next(iter(found["eligible"].values()), {}))
        rows = [
            [service, *(str(cells[n]) for n in lengths), *(str(found["selected"][service][n]) for n in lengths)]
            for service, cells in found["eligible"].items()
        ]
        sums = [str(sum(cells[n] for cells in found[key].values())) for key in ("eligible", "selected") for n in lengths]
        title = f"{split}: {found['eligible_dialogues']} of {found['dialogues']} dialogues have an eligible prefix"
        header = ["service", *(f"{n} turns" for n in lengths), *(f"chosen {n}" for n in lengths)]
        turns = f"{found['user_turns']} user turns, {found['field_turns']} field turns"
        chosen = f"Chosen: {found['prefixes']} prefixes, {turns}, {found['services']} services."
        tables.append(Table(title, header, [*rows, ["all", *sums]], [chosen]))
        refused = [[str(r["user_turns"]), r["reason"], str(r["prefixes"])] for r in found["refused"]]
        tables.append(Table(f"{split}: why prefixes were refused", ["user turns", "first reason", "dialogues"], refused, left=2))
    overlap = f"Dialogues in both splits with the same first four user turns: {audit['shared_contents']}."
    return [*tables[:-1], Table(tables[-1].title, tables[-1].header, tables[-1].rows, [overlap], 2)]


def judge(options: argparse.Namespace) -> int:
    """`c2s data judge --drop FILE --gsm8k FILE --out FILE`: draw certified sources, print who was left out and why, write the data file."""
    from c2s.bankbuild.judge_build import build_judge_bank
    from c2s.bankbuild.judge_read import read_drop, read_gsm8k
    from c2s.bankbuild.judge_synthetic import build_synthetic

    out = new_file(options.out)
    if options.synthetic == bool(options.drop or options.gsm8k):
        raise UsageError("give --drop FILE and --gsm8k FILE (or one of them), or --synthetic for the set that ships, not both")
    if options.synthetic:
        built = build_synthetic()
    else:
        raws = [] if options.drop is None else read_drop(options.drop)
        raws += [] if options.gsm8k is None else read_gsm8k(options.gsm8k)
        sizes = {split: n for split in ("confirmation", "preflight") if (n := getattr(options, split)) is not None}
        files = {name: _sha256(path) for name, path in (("drop", options.drop), ("gsm8k", options.gsm8k)) if path is not None}
        given = {} if options.seed is None else {"seed": options.seed}
        earlier, inventories = _earlier(options.exclude)
        facts = {"files_sha256": files, "earlier": inventories}
        built = build_judge_bank(raws, bank_id=options.name, sizes=sizes, earlier=earlier, facts=facts, **given)
    write_file(out, built.data)
    drawn = Counter((source.workload, source.split, source.distance) for source in built.sources)
    if options.json:
        sources = [{"workload": w, "split": s, "distance": d, "n": n} for (w, s, d), n in drawn.items()]
        json_out({"file": str(out), "read": built.read, "reasons": built.reasons, "sources": sources, "excluded": built.excluded})
        return 0
    reasons = [[workload, reason, str(n)] for workload, counts in built.reasons.items() for reason, n in counts.items()]
    tables = [
        Table("Questions left out, by the first reason", ["workload", "reason", "questions"], reasons, ["--json lists every one."], 2),
        Table("Sources", ["workload", "split", "distance", "sources"], [[*key, str(n)] for key, n in drawn.items()], [], 3),
    ]
    sys.stdout.write("\n".join(as_text(table) for table in tables))
    print(f"\n{len(built.sources)} sources in {out}; use it with: c2s run --panel judge-confirmation --data {out}")
    return 0


def _earlier(paths: Sequence[str]) -> tuple[Inventory, list[dict[str, Any]]]:
    """What earlier studies used, from JSON Lines files and from run directories by their frozen parents; and how many rows each named."""
    from c2s.bankbuild.judge_build import Inventory, read_inventory
    from c2s.ledger import reader, sqlite
    from c2s.ledger.directory import RunDirectory

    found, counts = Inventory(), []
    for path in paths:
        if Path(path).is_dir():
            with sqlite.reading(RunDirectory.open(path).ledger_path) as db:
                rows = [{**row.parent.payload, "id": row.parent.id} for row in reader.parents(db)]
            for row in rows:
                found.add(row)
            n = len(rows)
        else:
            n = read_inventory(path, found)
        if n == 0:
            raise UsageError(f"--exclude {path} names no id, cluster or question: it would exclude nothing")
        counts.append({"name": Path(path).name, "rows": n})
    return found, counts


def _sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
