"""Copying supplied targets: fidelity by evidence and controller, wrong targets and their groups, rebinding (D.9, D.11, D.12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined, value_of
from c2s.reports.retained import accuracy
from c2s.reports.section import TEST_OF, Column, Section

EVIDENCE = ("raw", "indexed")


def fidelity(data: PanelData, *, controls: Sequence[str]) -> Section:
    """Complete-copy fidelity to the gold target, raw and indexed (and padded under Serial)."""
    rows = []
    for domain, parents in data.domains.items():
        for control in controls:
            row = {"domain": domain, "control": control}
            arms = {evidence: data.arm(evidence=evidence, controller=control, supplied="gold") for evidence in EVIDENCE}
            if control == "serial":
                arms["padded"] = data.arm(evidence="padded")
            parts = [accuracy(data, parents, arm, "fidelity", evidence) for evidence, arm in arms.items()]
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
        for target, supplied in (("correct", "gold"), ("wrong", "wrong")):
            arms = {evidence: data.arm(evidence=evidence, controller="serial", supplied=supplied) for evidence in EVIDENCE}
            parts = [accuracy(data, parents, arm, "fidelity", evidence) for evidence, arm in arms.items()]
            gold = accuracy(data, parents, arms["indexed"], "correct", "gold_em")
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
    groups: dict[str, Callable[[Any], bool]] = {
        "one substitution": lambda p: p["differences"] == 1,
        "several differences": lambda p: p["differences"] > 1,
        "observed error": lambda p: p["wrong_kind"] == "observed",
        "constructed": lambda p: p["wrong_kind"] == "constructed",
    }
    for domain, parents in data.domains.items():
        for name, inside in groups.items():
            chosen = [row for row in parents if inside(row.parent.payload)]
            if chosen:
                parts = [accuracy(data, chosen, data.arm(evidence=e, supplied="wrong"), "fidelity", e) for e in EVIDENCE]
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
        for evidence in EVIDENCE:
            independent = data.arm(evidence=evidence, controller="independent")
            opaque_arm = data.arm(evidence=evidence, names="opaque")
            found = defined(parents, lambda r, arm=independent: _literal(r, arm), value_of(opaque_arm))
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
    return None if outcome is None or outcome.output is None else outcome.output[t - 1] == row.parent.target[t - 1]
