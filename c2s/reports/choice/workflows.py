"""Return a selection, solve again serially, or copy the selection serially (B.2): fidelity and gold accuracy, jointly."""

from __future__ import annotations

from c2s.reports import estimates
from c2s.reports.data import PanelData
from c2s.reports.section import Column, Section


def workflows(data: PanelData) -> Section:
    """Fidelity to main's Native selection and gold accuracy of three workflows on the same parents, and their joint counts."""
    main = {row.parent.id: row for row in data.used("main").rows}
    rows = []
    for domain, parents in data.domains.items():
        found = []
        for row in parents:
            native, serial, spelled = main[row.parent.id].ok("native"), main[row.parent.id].ok("serial"), row.ok("self_plan_spell")
            if native is not None and serial is not None and spelled is not None:
                found.append((row, native, serial, spelled))
        strata = [row.stratum for row, *_ in found]
        plans = [native.output for _, native, _, _ in found]
        for name, outcomes, calls in (
            ("program return", [native for _, native, _, _ in found], "0"),
            ("independent Serial", [serial for _, _, serial, _ in found], "L"),
            ("SelfPlanSpell", [spelled for *_, spelled in found], "L"),
        ):
            faithful = [o.output == plan for o, plan in zip(outcomes, plans, strict=True)]
            correct = [bool(o.correct) for o in outcomes]
            counts = [sum(f == a and c == b for f, c in zip(faithful, correct, strict=True)) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
            rows.append(
                {
                    "domain": domain,
                    "workflow": name,
                    "n": len(found),
                    "n_planned": len(parents),
                    "calls": calls,
                    "faithful_and_right": counts,
                }
                | estimates.merged(
                    estimates.share("fidelity", faithful, strata, data.panel), estimates.share("gold_em", correct, strata, data.panel)
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("workflow", "workflow"),
        Column("calls", "calls"),
        Column("fidelity_count", "faithful", "of"),
        Column("gold_em_count", "gold", "of"),
        Column("faithful_and_right", "both/wrong plan kept/other right/neither", "slashes"),
    )
    notes = ["Wrong plan kept: faithful to a wrong selection. Calls: requests beyond the selection itself."]
    return Section("workflows", "three workflows on the same selections", "B.2", columns, rows, notes)
