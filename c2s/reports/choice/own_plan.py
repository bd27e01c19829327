"""Copying one's own selection (B.1, Table 4, Figure 4): fidelity, gold EM, retention of fresh Native successes, survival, cost."""

from __future__ import annotations

from collections.abc import Sequence

from c2s.records import Outcome
from c2s.reports import estimates
from c2s.reports.data import PanelData, defined, outcome_of, value_of
from c2s.reports.retained import pair
from c2s.reports.section import Column, Section


def fidelity(data: PanelData, *, arms: Sequence[str]) -> Section:
    """Fidelity over the plans, gold EM over all items, SCR given fresh Native correctness, and the cost of 1 + L requests."""
    rows = []
    for domain, parents in data.domains.items():
        for arm in arms:
            plans = defined(parents, value_of(arm, "fidelity"))
            row = {"domain": domain, "arm": arm} | estimates.merged(
                pair(data, parents, "native", arm),
                estimates.share("fidelity", [f for _, f in plans], [r.stratum for r, _ in plans], data.panel),
            )
            row["wrong_plans_kept"] = [sum(f and not r.value("native") for r, f in plans), sum(not r.value("native") for r, _ in plans)]
            row["requests"] = data.calls("native", domain) + data.calls(arm, domain)
            rows.append(row)
    columns = (
        Column("domain", "domain"),
        Column("arm", "arm"),
        Column("fidelity", "fidelity % [95 % CI]", "ci_rate"),
        Column("em_count", "gold", "of"),
        Column("scr_count", "SCR", "of"),
        Column("wrong_plans_kept", "wrong kept", "of"),
        Column("requests", "requests", "int"),
    )
    notes = ["Requests: the shared Native and this arm's. Wrong kept: faithful copies of wrong selections."]
    return Section("fidelity", "fidelity to fresh plans", "Table 4, Figure 4", columns, rows, notes)


def survival(data: PanelData, *, arms: Sequence[str]) -> Section:
    """Share of copies that still agree with the plan after k characters, over the plans that are that long."""
    rows = []
    for domain, parents in data.domains.items():
        for arm in arms:
            kept = [(row.parent.length, _agreeing(o)) for row, o in defined(parents, outcome_of(arm)) if o.fidelity is not None]
            longest = max((length for length, _ in kept), default=0)
            counts = [
                [sum(k >= t for length, k in kept if length >= t), sum(length >= t for length, _ in kept)] for t in range(1, longest + 1)
            ]
            rows.append({"domain": domain, "arm": arm, "alive": counts} | {f"k{t}": c for t, c in enumerate(counts, start=1)})
    columns = (Column("domain", "domain"), Column("arm", "arm"), *(Column(f"k{t}", f"k = {t}", "of") for t in range(1, 9)))
    return Section("survival", "still on the plan after k characters", "A.5", columns, rows)


def _agreeing(outcome: Outcome) -> int:
    """Leading characters that agree with the plan."""
    if outcome.fidelity or outcome.first_wrong is None:
        return len(outcome.output or "")
    return outcome.first_wrong - 1
