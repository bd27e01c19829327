"""The prefix intervention (A.4): what one wrong character in the draft does to a whole and to a local answer."""

from __future__ import annotations

from c2s.reports import estimates
from c2s.reports.data import PanelData
from c2s.reports.retained import accuracy
from c2s.reports.section import Column, Section


def accuracy_table(data: PanelData) -> Section:
    rows = []
    for domain, parents in data.domains.items():
        for readout in ("whole", "local"):
            parts = [accuracy(data, parents, data.arm(readout=readout, draft=draft), key=draft) for draft in ("correct", "error")]
            rows.append({"domain": domain, "readout": readout} | estimates.merged(*parts))
    columns = (
        Column("domain", "domain"),
        Column("readout", "readout"),
        Column("n", "n", "int"),
        Column("correct", "correct draft % [95 % CI]", "ci_rate"),
        Column("error", "one-error draft % [95 % CI]", "ci_rate"),
    )
    return Section("accuracy", "accuracy after a supplied draft", "A.4", columns, rows)
