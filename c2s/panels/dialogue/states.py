"""Dialogue states: field construction and prior-state access (section 6.2, appendix C)."""

from __future__ import annotations

from c2s.banks.dialogue import FIELD_SEED, KIND
from c2s.controllers.dialogue import HISTORY_RECOMPUTE, INDEPENDENT_FIELDS, JOINT, ORACLE, PERTURBED, ROLLOUT, SERIAL_FIELDS
from c2s.panels.base import Endpoint, Panel
from c2s.sources.dialogues import DIALOGUES, DOMAIN

CONSTRUCTION = Panel(
    name="dialogue-construction",
    what="Joint, Independent and Serial fields of every turn's state from the same visible history; Serial minus Joint by sign test",
    arms=(JOINT, INDEPENDENT_FIELDS, SERIAL_FIELDS),
    pair=("joint", "serial"),
    source=DIALOGUES,
    domains=(DOMAIN,),
    data=KIND,
    requires=("batch", "symbols"),
    endpoints=(
        Endpoint("c2s.reports.dialogue.construction:accuracy"),
        Endpoint("c2s.reports.dialogue.construction:contrasts"),
        Endpoint("c2s.reports.dialogue.construction:retention"),
        Endpoint("c2s.reports.dialogue.construction:cost"),
        Endpoint(
            "c2s.reports.dialogue.access:recovery", {"arms": ("joint", "independent", "serial"), "source": "not printed for these arms"}
        ),
        Endpoint("c2s.reports.dialogue.access:until_error", {"arms": ("joint", "independent", "serial")}),
    ),
    seed=FIELD_SEED,
)

ACCESS = Panel(
    name="dialogue-access",
    what="HistoryRecompute, Rollout, Oracle: the transcript, the model's own or the gold previous state; equal requests share a response",
    arms=(HISTORY_RECOMPUTE, ROLLOUT, ORACLE, *PERTURBED),
    pair=("oracle", "rollout"),
    source=DIALOGUES,
    domains=(DOMAIN,),
    share=True,
    data=KIND,
    requires=("batch", "symbols"),
    endpoints=(
        Endpoint("c2s.reports.dialogue.access:accuracy"),
        Endpoint("c2s.reports.dialogue.access:gold_minus_predicted"),
        Endpoint("c2s.reports.dialogue.access:recovery"),
        Endpoint("c2s.reports.dialogue.access:until_error"),
        Endpoint("c2s.reports.dialogue.construction:cost", {"arms": ("history_recompute", "oracle", "rollout")}),
        Endpoint("c2s.reports.dialogue.access:sharing"),
        Endpoint("c2s.reports.dialogue.access:perturbations"),
    ),
    seed=FIELD_SEED,
)
