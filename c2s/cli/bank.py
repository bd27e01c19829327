"""`c2s bank build|check|audit|export`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from c2s.api.wordnet_place import named_wordnet
from c2s.cli.output import json_out, new_file, say, write_file
from c2s.errors import UsageError
from c2s.reports.tables import Table, as_text


def bank(options: argparse.Namespace) -> int:
    return {"build": _build, "check": _check, "audit": _audit, "export": _export}[options.action](options)


def _build(options: argparse.Namespace) -> int:
    from c2s.bankbuild.natural_build import SEED, build_bank
    from c2s.banks.natural import bank_bytes

    workers = options.workers if options.workers is not None else min(2, os.cpu_count() or 1)
    if workers < 1:
        raise UsageError("--workers is at least 1")
    out = new_file(options.out)
    built = build_bank(
        named_wordnet(options.wordnet), seed=SEED if options.seed is None else options.seed, mixed=options.mixed, workers=workers
    )
    write_file(out, bank_bytes(built))
    _done(options, {"bank": built.id, "sha256": built.sha256, "items": len(built.items), "file": str(out)})
    return 0


def _check(options: argparse.Namespace) -> int:
    from c2s.bankbuild.check import check_against
    from c2s.bankbuild.check_sources import check_sources
    from c2s.bankbuild.natural_build import wordfreq_zipf
    from c2s.bankbuild.nouns import read_nouns
    from c2s.banks.natural import BANK_FILE, load_bank
    from c2s.banks.wordnet import find_wordnet

    nouns, zipf = read_nouns(find_wordnet(named_wordnet(options.wordnet))), wordfreq_zipf()
    found = check_against(nouns, zipf, path=BANK_FILE, workers=min(2, os.cpu_count() or 1))
    others = check_sources(load_bank(), nouns, zipf)
    sound = found.ok and not others
    if options.json:
        json_out(found.rows() | {"sources": [{"where": f.where, "what": f.what} for f in others], "ok": sound})
        return 0 if sound else 1
    for finding in [*found.findings, *others][:50]:
        say(f"c2s: {finding.where}: {finding.what}")
    verdict = "holds" if found.ok else f"does NOT hold: {len(found.findings)} findings"
    print(f"bank {found.bank} ({found.items} items, sha256 {found.sha256[:16]}...) against {found.wordnet}: {verdict}")
    rest = "hold" if not others else f"do NOT hold: {len(others)} findings"
    print(f"symbolic, long and semantic sources, cohort, word list, and what is chosen about items: {rest}")
    return 0 if sound else 1


def _audit(options: argparse.Namespace) -> int:
    from c2s.bankbuild.audit import audit_bank

    rows = audit_bank().rows()
    if options.json:
        json_out(rows)
        return 0
    sys.stdout.write("\n".join(as_text(table) for table in _audit_tables(rows)))
    return 0


def _audit_tables(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Table]:
    lengths = sorted({row["length"] for row in rows["quotas"]})
    quotas: dict[tuple[str, str], dict[int, int]] = {}
    for row in rows["quotas"]:
        quotas.setdefault((row["domain"], row["stratum"]), {})[row["length"]] = row["items"]
    return [
        Table(
            "Position-wise support (Table D7)",
            ["domain", "length", "items", "mean U", "forced", "Cartesian min", "median", "max"],
            [
                [
                    row["domain"],
                    "all" if row["length"] is None else str(row["length"]),
                    str(row["items"]),
                    f"{row['mean_union']:.2f}",
                    f"{row['forced']:.2f}",
                    f"{row['cartesian_min']:,}",
                    f"{row['cartesian_median']:,.0f}",
                    f"{row['cartesian_max']:,}",
                ]
                for row in rows["support"]
            ],
            ["mean U: characters at a position in any candidate; forced: positions with one; Cartesian: product over positions."],
        ),
        Table(
            "Requests per arm (Table D6)",
            ["domain", "Full calls", "Union calls", "filled"],
            [[row["domain"], f"{row['full']:,}", f"{row['union']:,}", f"{row['forced']:,}"] for row in rows["calls"]],
        ),
        Table(
            "Test items per stratum",
            ["domain", "stratum", *map(str, lengths)],
            [[domain, stratum, *(str(cells.get(n, 0)) for n in lengths)] for (domain, stratum), cells in quotas.items()],
            left=2,
        ),
        Table(
            "What the candidates alone give away (chance is 12.5 %)",
            ["domain", "cue", "right %", "furthest length", "there %", "mixed sets %"],
            [
                [
                    row["domain"],
                    row["cue"],
                    f"{row['percent']:.1f}",
                    str(row["furthest_length"]),
                    f"{row['furthest_percent']:.1f}",
                    "-" if row["mixed_percent"] is None else f"{row['mixed_percent']:.1f}",
                ]
                for row in rows["cues"]
            ],
            left=2,
        ),
    ]


def _export(options: argparse.Namespace) -> int:
    from c2s.banks.natural import export_rows, load_bank, problem_text

    out = new_file(options.file)
    shipped = load_bank()
    rows = export_rows(shipped, problem_text(shipped, named_wordnet(options.wordnet)))
    write_file(out, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    _done(options, {"bank": shipped.id, "sha256": shipped.sha256, "items": len(rows), "file": str(out)})
    return 0


def _done(options: argparse.Namespace, facts: Mapping[str, Any]) -> None:
    if options.json:
        json_out(facts)
    else:
        print(f"bank {facts['bank']}: {facts['items']} items in {facts['file']} (sha256 {facts['sha256']})")
