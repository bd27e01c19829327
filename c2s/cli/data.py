"""`c2s data`: build data files from publishers' files on this machine. The repository ships none of their texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from c2s.cli.output import json_out, new_file, say, write_file
from c2s.reports.tables import Table, as_text


def sgd(options: argparse.Namespace) -> int:
    """`c2s data sgd DIR --out FILE`: choose dialogue prefixes, print the audit, write the data file."""
    from c2s.banks.datafile import data_bytes
    from c2s.banks.dialogue import KIND, join_paraphrases
    from c2s.banks.sgd_select import Quotas, select

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
        chosen = f"Chosen: {found['prefixes']} prefixes, {found['user_turns']} user turns, {found['field_turns']} field turns, {found['services']} services."
        tables.append(Table(title, header, [*rows, ["all", *sums]], [chosen]))
        refused = [[str(r["user_turns"]), r["reason"], str(r["prefixes"])] for r in found["refused"]]
        tables.append(Table(f"{split}: why prefixes were refused", ["user turns", "first reason", "dialogues"], refused, left=2))
    overlap = f"Dialogues in both splits with the same first four user turns: {audit['shared_contents']}."
    return [*tables[:-1], Table(tables[-1].title, tables[-1].header, tables[-1].rows, [overlap], 2)]
