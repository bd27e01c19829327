"""Copying supplied targets: fidelity by evidence and controller, wrong targets and their groups, rebinding (D.9, D.11, D.12)."""

from __future__ import annotations

from collections.abc import Sequence

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined
from c2s.reports.retained import accuracy
from c2s.reports.section import TEST_OF, Column, Section


def fidelity(data: PanelData, *, controls: Sequence[str]) -> Section:
    """Complete-copy fidelity to the gold target, raw and indexed (and padded under Serial)."""
    rows = []
    for domain, parents in data.domains.items():
        for control in controls:
            row = {"domain": domain, "control": control}
            parts = [accuracy(data, parents, f"{e}_{control}", "fidelity", e) for e in ("raw", "indexed")]
            if control == "serial":
                parts.append(accuracy(data, parents, "padded_serial", "fidelity", "padded"))
            rows.append(row | estimates.merged(*parts))
    columns = (
        Column("domain", "domain"),
        Column("control", "controller"),
        Column("n", "n", "int"),
        Column("raw", "raw % [95 % CI]", "ci_rate"),
        Column("indexed", "indexed % [95 % CI]", "ci_rate"),
        Column("padded", "padded %", "rate"),
    )
    notes = ["Fidelity: the output equals the supplied target. Padded: as long as indexed, without an index."]
    return Section("fidelity", "fidelity to the supplied gold target", "Figure 15, Table D9", columns, rows, notes)


def wrong_targets(data: PanelData) -> Section:
    """Fidelity to correct and to incorrect targets, and gold EM, which a faithful copy of a wrong target cannot have."""
    rows = []
    for domain, parents in data.domains.items():
        for target, arms in (("correct", ("raw_serial", "indexed_serial")), ("wrong", ("wrong_raw", "wrong_indexed"))):
            parts = [accuracy(data, parents, arm, "fidelity", key) for key, arm in zip(("raw", "indexed"), arms)]
            gold = accuracy(data, parents, arms[1], "correct", "gold_em")
            rows.append({"domain": domain, "target": target} | estimates.merged(*parts, gold))
    columns = (
        Column("domain", "domain"),
        Column("target", "target"),
        Column("raw", "raw % [95 % CI]", "ci_rate"),
        Column("indexed", "indexed % [95 % CI]", "ci_rate"),
        Column("gold_em", "gold EM", "rate"),
    )
    notes = ["Gold EM: of the indexed outputs, against the task's answer."]
    return Section("wrong_targets", "fidelity to right and to wrong targets", "Figure 16 a, b", columns, rows, notes)


def wrong_groups(data: PanelData) -> Section:
    """Fidelity to wrong targets by how many characters differ, and by where they come from."""
    rows = []
    groups = {
        "one substitution": lambda p: p["differences"] == 1,
        "several differences": lambda p: p["differences"] > 1,
        "observed error": lambda p: p["wrong_kind"] == "observed",
        "constructed": lambda p: p["wrong_kind"] == "constructed",
    }
    for domain, parents in data.domains.items():
        for name, inside in groups.items():
            chosen = [row for row in parents if inside(row.parent.payload)]
            if chosen:
                parts = [accuracy(data, chosen, f"wrong_{e}", "fidelity", e) for e in ("raw", "indexed")]
                rows.append({"domain": domain, "group": name} | estimates.merged(*parts))
    columns = (
        Column("domain", "domain"),
        Column("group", "wrong targets"),
        Column("n", "n", "int"),
        Column("raw_count", "raw", "of"),
        Column("indexed_count", "indexed", "of"),
    )
    return Section("wrong_groups", "groups of wrong targets", "Figure 16 c, d", columns, rows)


def binding(data: PanelData) -> Section:
    """Literal against opaque option names at one position; the literal answer is that of the same request in the Independent arm."""
    rows = []
    for domain, parents in data.domains.items():
        for evidence in ("raw", "indexed"):
            found = defined(parents, lambda r: _literal(r, f"{evidence}_independent"), lambda r: r.value(f"opaque_{evidence}"))
            literal, opaque = [a for _, a, _ in found], [b for _, _, b in found]
            strata = [row.stratum for row, _, _ in found]
            rows.append(
                {"domain": domain, "evidence": evidence, "family": "binding", "n": len(found), "n_planned": len(parents)}
                | estimates.merged(
                    estimates.share("literal", literal, strata, data.panel),
                    estimates.share("opaque", opaque, strata, data.panel),
                    estimates.difference("difference", literal, opaque, strata, data.panel),
                    estimates.mcnemar(literal, opaque),
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("evidence", "evidence"),
        Column("literal_count", "literal", "of"),
        Column("opaque_count", "opaque", "of"),
        Column("difference", "points [95 % CI]", "ci_points"),
        *TEST_OF,
    )
    return Section("binding", "literal minus opaque option names", "Table D10, twelve tests", columns, rows)


def _literal(row: Row, arm: str) -> bool | None:
    outcome, t = row.ok(arm), row.parent.payload["binding_position"]
    return None if outcome is None else outcome.output[t - 1] == row.parent.target[t - 1]
