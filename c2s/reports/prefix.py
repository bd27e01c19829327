"""The prefix intervention (A.4): what one wrong character in the draft does to a whole and to a local answer."""

from __future__ import annotations

import numpy as np

from c2s.reports import estimates
from c2s.reports.data import PanelData, defined
from c2s.reports.retained import accuracy
from c2s.reports.section import Column, Section

ARMS = ("whole_correct", "whole_error", "local_correct", "local_error")


def accuracy_table(data: PanelData) -> Section:
    rows = []
    for domain, parents in data.domains.items():
        for readout in ("whole", "local"):
            parts = [accuracy(data, parents, f"{readout}_{draft}", key=draft) for draft in ("correct", "error")]
            rows.append({"domain": domain, "readout": readout} | estimates.merged(*parts))
    columns = (
        Column("domain", "domain"),
        Column("readout", "readout"),
        Column("n", "n", "int"),
        Column("correct", "correct draft % [95 % CI]", "ci_rate"),
        Column("error", "one-error draft % [95 % CI]", "ci_rate"),
    )
    return Section("accuracy", "accuracy after a supplied draft", "A.4", columns, rows)


def interaction(data: PanelData) -> Section:
    """Loss from the error under the local readout minus the loss under the whole readout."""
    rows = []
    for domain, parents in data.domains.items():
        found = defined(parents, *(lambda r, arm=arm: r.value(arm) for arm in ARMS))
        values = np.array([(int(lc) - int(le)) - (int(wc) - int(we)) for _, wc, we, lc, le in found], dtype=int)
        rows.append(
            {"domain": domain, "family": "draft x readout", "n": len(found), "n_planned": len(parents)}
            | estimates.merged(
                estimates.mean("interaction", values, [r.stratum for r, *_ in found], data.panel), estimates.sign_flip(values, data.panel)
            )
        )
    columns = (
        Column("domain", "domain"),
        Column("n", "n", "int"),
        Column("interaction", "points [95 % CI]", "ci_points"),
        Column("p", "p", "p"),
        Column("p_holm", "p (Holm)", "p"),
        Column("m", "m", "int"),
    )
    return Section("interaction", "loss from the error, local minus whole", "A.4", columns, rows)
