"""Which successes are kept, lost and gained (D.16, Table D15), and retention on items that several models solve whole (D.1)."""

from __future__ import annotations

from collections.abc import Sequence

from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined, value_of
from c2s.reports.retained import pair
from c2s.reports.section import Column, Section


def turnover(data: PanelData) -> Section:
    """The joint table of every task, with SCR, SCR minus Serial EM, and the success rate where Native was wrong."""
    rows = []
    for task, source, rows_of_task, native, serial in _tasks(data):
        rows.append({"task": task} | pair(source, rows_of_task, native, serial))
    columns = (
        Column("task", "task"),
        Column("n", "items", "int"),
        Column("joint", "both/lost/gained/neither", "slashes"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
        Column("delta", "SCR - Serial EM", "points"),
        Column("gain_rate", "gain rate %", "rate"),
    )
    notes = ["Gain rate: Serial's success where Native was wrong."]
    return Section("turnover", "kept, lost and gained", "Tables 2 and D15", columns, rows, notes)


def _tasks(data: PanelData) -> list[tuple[str, PanelData, list[Row], str, str]]:
    main = data.used("main")
    tasks = [(domain, main, rows, "native", "serial") for domain, rows in main.domains.items()]
    semantic = data.run.panel("semantic")
    if semantic is not None:
        tasks += [(f"{name} fields", semantic, semantic.rows, f"native_{name}", f"serial_{name}") for name in ("named", "binary")]
    return tasks


def shared_correct(runs: Sequence[PanelData]) -> Section:
    """SCR of every model on the items that all the models shown select correctly."""
    mains = [run.used("main") for run in runs]
    rows = []
    for domain in mains[0].domains:
        shared = set.intersection(
            *(
                {row.parent.id for row in main.domains.get(domain, ()) if row.value("native") and row.value("serial") is not None}
                for main in mains
            )
        )
        for main in mains:
            found = defined([r for r in main.domains.get(domain, ()) if r.parent.id in shared], value_of("native"), value_of("serial"))
            native, serial = [a for _, a, _ in found], [b for _, _, b in found]
            rows.append(
                {"model": main.run.model, "domain": domain, "coverage": [len(found), len(main.domains.get(domain, ()))]}
                | estimates.retention("scr", native, serial, [r.stratum for r, _, _ in found], main.panel, "shared Native")
            )
    columns = (
        Column("model", "model"),
        Column("domain", "domain"),
        Column("coverage", "coverage", "of"),
        Column("scr_count", "retained", "of"),
        Column("scr", "SCR % [95 % CI]", "ci_rate"),
    )
    return Section("shared_correct", "on items that all models select correctly", "Table D1", columns, rows)
