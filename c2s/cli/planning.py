"""From options to a plan, for every command that runs one or says what it would cost."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from c2s.backends.abilities import Tokenizing
from c2s.backends.base import Backend
from c2s.cli.output import say
from c2s.cli.wordnet_place import named_wordnet
from c2s.dialects import Dialect, dialect
from c2s.errors import UsageError, nearest
from c2s.panels.dialogue.states import ACCESS, CONSTRUCTION
from c2s.panels.judge.study import JUDGE_PANELS
from c2s.panels.registry import panel, select
from c2s.planning.observed import wrong_selections
from c2s.planning.plan import Plan, make_plan
from c2s.records import Ask, Request
from c2s.settings import Inputs, Settings


def panel_names(options: argparse.Namespace) -> list[str]:
    """The names in --panel. A misspelt name is refused before a model is loaded."""
    names = list(dict.fromkeys(name.strip() for name in options.panel.split(",")))
    for name in names:
        if not name:
            raise UsageError("--panel takes names with commas between them; `c2s panels` lists them")
        name == "all" or panel(name)
    if options.limit is not None and not 1 <= options.limit <= 10**9:
        raise UsageError("--limit is the number of parents per domain, at least 1 and at most a billion")
    if options.seed is not None and not -(2**63) <= options.seed < 2**63:
        raise UsageError("--seed is a whole number of at most 64 bits")
    return names


def planned(names: Sequence[str], options: argparse.Namespace, backend: Backend) -> Plan:
    """The plan of these panels and of those that they use, with what the model cannot do left out."""
    selection = select(names, backend.lacks)
    _refuse_unused(options, [p.name for p in selection.panels])
    settings = replace(
        Settings(limit=options.limit, domain=options.domain, field_options=options.field_options or "ids"),
        **({} if options.seed is None else {"seed": options.seed}),
        **grading(options, backend),
    )
    for name, reason in selection.skipped.items():
        say(f"c2s: {name} is skipped: {reason}")
    if selection.added:
        say(f"c2s: {', '.join(selection.added)} is added, because other panels use it")
    inputs = Inputs(wordnet=named_wordnet(options.wordnet))
    if getattr(options, "observed", None):
        copying = panel("copying")
        if copying not in selection.panels:
            raise UsageError("--observed is for the copying panel, which this run does not have")
        wanted = {parent.id for parent in copying.source.outline(settings)}
        observed = wrong_selections(options.observed, wanted)
        settings = replace(settings, observed=observed)
        say(f"c2s: {len(observed)} of {len(wanted)} wrong targets are observed ones")
    asked = [p.name for p in selection.panels if p.name not in selection.added]
    if any("tokenizer" in p.requires for p in selection.panels):
        if not isinstance(backend, Tokenizing):
            raise UsageError(f"the model {backend.name} has no tokenizer at hand, which a panel of this run needs")
        settings = replace(settings, tokenizer=backend.tokenizer)
        inputs = replace(inputs, rendered_tokens=_rendered_tokens(backend, dialect(backend.dialect), backend.model))
    return make_plan(selection.panels, settings, options.data or (), inputs=inputs, asked=asked)


def _rendered_tokens(backend: Tokenizing, wire: Dialect, model: str) -> Callable[[Request], int]:
    """How many tokens a request has, as the model's tokenizer and chat template render it."""
    return lambda request: backend.rendered_tokens(wire.encode(Ask(1, request), model))


def _refuse_unused(options: argparse.Namespace, names: Sequence[str]) -> None:
    """An option that no panel of the run reads is a mistake, not a wish."""
    judges, dialogues = {p.name for p in JUDGE_PANELS}, {ACCESS.name, CONSTRUCTION.name}
    for flag, value, readers in (
        ("--rubric", options.rubric, judges),
        ("--contracts", options.contracts, judges),
        ("--field-options", options.field_options, dialogues),
    ):
        if value and not readers & set(names):
            raise UsageError(f"{flag} is for the panels {', '.join(sorted(readers))}; this run has {', '.join(names)}")


def grading(options: argparse.Namespace, backend: Backend) -> dict[str, Any]:
    """Grading rules of the judge panels: those given, a user's rubric, or the study's (three labels for a text model)."""
    from c2s.controllers.judge import PUBLISHED, RUBRIC

    if options.rubric:
        if options.contracts:
            raise UsageError("give --contracts or --rubric, not both")
        from c2s.banks.judge_items import read_rubric

        rules: dict[str, Any] = {"contracts": (RUBRIC,), "rubric": read_rubric(options.rubric)}
    elif options.contracts:
        names = list(dict.fromkeys(name.strip() for name in options.contracts.split(",")))
        for name in names:
            if name not in PUBLISHED:
                raise UsageError(f"unknown grading rule {name!r}{nearest(name, list(PUBLISHED))}; known: {', '.join(PUBLISHED)}")
        rules = {"contracts": tuple(names)}
    else:
        rules = {} if backend.dialect == "systemone" else {"contracts": ("FINAL3",)}
    # A text model has no typed question and no criteria object: there, only the outer request and the embedded state have an order.
    return rules if backend.dialect == "systemone" else rules | {"components": ("outer", "state")}
