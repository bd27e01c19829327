"""From options to a plan, and what the plan would send and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from c2s.api import service
from c2s.api.wordnet_place import named_wordnet
from c2s.backends.abilities import Tokenizing
from c2s.backends.base import Backend
from c2s.backends.registry import default_model, find_installed
from c2s.banks.datafile import load_data
from c2s.controllers.judge import PUBLISHED, RUBRIC
from c2s.dialects import Dialect, dialect
from c2s.errors import UsageError, nearest
from c2s.ledger.directory import RunDirectory
from c2s.options import PlanOptions
from c2s.panels.dialogue.states import ACCESS, CONSTRUCTION
from c2s.panels.judge.study import JUDGE_PANELS
from c2s.panels.registry import panel, select
from c2s.planning.estimate import Estimate, estimate
from c2s.planning.observed import wrong_selections
from c2s.planning.plan import Plan, check_domains, make_plan
from c2s.records import Ask, Request
from c2s.settings import Inputs, Settings
from c2s.spending.prices import EXPECTED_BYTES_PER_TOKEN, RESERVED_BYTES_PER_TOKEN

HEURISTIC = (
    f"tokens are estimated from the length of the requests: one token for every {EXPECTED_BYTES_PER_TOKEN} bytes is expected, and money is "
    f"set aside for one token for every {RESERVED_BYTES_PER_TOKEN} bytes; an answer is taken to be as long as it may become, or as long as "
    "the price table says"
)
"""How tokens are estimated, in plain words."""
Note = Callable[[str], None]
"""Takes a sentence about something that happens once."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """What a run would send, as `c2s.plan` gives it; nothing was sent.

    `panels` has an estimate for every panel. `cap` and `rate` (starts per second) are those of the options or of the provider's profile.
    Money is in USD, None where no price is known.
    """

    model: str
    wire_model: str
    panels: tuple[Estimate, ...]
    priced: bool
    cap: float | None = None
    rate: float | None = None

    @property
    def requests(self) -> int:
        return sum(e.requests for e in self.panels)

    @property
    def sent(self) -> int:
        """Requests that are sent; the others receive the response to an equal one."""
        return sum(e.sent for e in self.panels)

    @property
    def input_tokens(self) -> int:
        return sum(e.input_tokens for e in self.panels)

    @property
    def output_tokens(self) -> int:
        return sum(e.output_tokens for e in self.panels)

    @property
    def usd_expected(self) -> float | None:
        return _sum(e.usd_expected for e in self.panels)

    @property
    def usd_reserved(self) -> float | None:
        """What caps would see if every reservation were used."""
        return _sum(e.usd_reserved for e in self.panels)

    @property
    def seconds_at_least(self) -> float | None:
        """The time that the rate alone takes; None without a rate."""
        return self.sent / self.rate if self.rate else None

    def as_dict(self) -> dict[str, Any]:
        """The document that `c2s plan --json` prints."""
        return {
            "model": self.model,
            "panels": [{name: getattr(e, name) for name in Estimate.__slots__} for e in self.panels],
            "requests": self.requests,
            "sent": self.sent,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd_expected": self.usd_expected,
            "usd_reserved": self.usd_reserved,
            "seconds_at_least": self.seconds_at_least,
            "heuristic": HEURISTIC,
        }


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def check_before(options: PlanOptions) -> None:
    """Refuse wrong names of panels, domains and the model, and wrong folders and files, before anything is loaded or planned."""
    selection = select(options.panels)
    check_domains(options.domains, selection.panels)
    find_installed((options.model or default_model()).partition("?")[0])
    named_wordnet(options.wordnet)
    for folder in options.observed:
        RunDirectory.open(folder)
    for file in options.data:
        load_data(file)


def estimated(plan: Plan, backend: Backend, options: PlanOptions) -> PlannedRun:
    """What this plan would send to this model."""
    price = service.price_of(backend, options)
    estimates = estimate(plan, dialect(backend.dialect), backend.model, price)
    rate = service.limits(backend, options).starts_per_second
    return PlannedRun(backend.name, backend.model, tuple(estimates), price is not None, options.cap, rate)


def planned(options: PlanOptions, backend: Backend, note: Note) -> Plan:
    """The plan of the panels that were named and of those that they use, with what the model cannot do left out."""
    selection = select(options.panels, backend.lacks)
    _refuse_unused(options, [p.name for p in selection.panels])
    settings = replace(
        Settings(limit=options.limit, domain=_domain(options.domains), field_options=options.field_options or "ids"),
        **_grading(options, backend),
    )
    if options.seed is not None:
        settings = replace(settings, seed=options.seed)
    for name, reason in selection.skipped.items():
        note(f"{name} is skipped: {reason}")
    if selection.added:
        note(f"{', '.join(selection.added)} is added, because other panels use it")
    inputs = Inputs(wordnet=named_wordnet(options.wordnet))
    if options.observed:
        copying = panel("copying")
        if copying not in selection.panels:
            raise UsageError("--observed is for the copying panel, which this run does not have")
        wanted = {parent.id for parent in copying.source.outline(settings)}
        observed = wrong_selections(options.observed, wanted)
        settings = replace(settings, observed=observed)
        note(f"{len(observed)} of {len(wanted)} wrong targets are observed ones")
    asked = [p.name for p in selection.panels if p.name not in selection.added]
    if any("tokenizer" in p.requires for p in selection.panels):
        if not isinstance(backend, Tokenizing):
            raise UsageError(f"the model {backend.name} has no tokenizer at hand, which a panel of this run needs")
        settings = replace(settings, tokenizer=backend.tokenizer)
        inputs = replace(inputs, rendered_tokens=_rendered_tokens(backend, dialect(backend.dialect), backend.model))
    return make_plan(selection.panels, settings, options.data, inputs=inputs, asked=asked)


def _domain(domains: tuple[str, ...]) -> str | tuple[str, ...] | None:
    """As a manifest has it: one name, several, or none for all."""
    return None if not domains else domains[0] if len(domains) == 1 else domains


def _rendered_tokens(backend: Tokenizing, wire: Dialect, model: str) -> Callable[[Request], int]:
    """How many tokens a request has, as the model's tokenizer and chat template render it."""
    return lambda request: backend.rendered_tokens(wire.encode(Ask(1, request), model))


def _refuse_unused(options: PlanOptions, names: Sequence[str]) -> None:
    """An option that no panel of the run reads is a mistake, not a wish."""
    judges, dialogues = {p.name for p in JUDGE_PANELS}, {ACCESS.name, CONSTRUCTION.name}
    for flag, value, readers in (
        ("--rubric", options.rubric, judges),
        ("--contracts", options.contracts, judges),
        ("--field-options", options.field_options, dialogues),
    ):
        if value and not readers & set(names):
            raise UsageError(f"{flag} is for the panels {', '.join(sorted(readers))}; this run has {', '.join(names)}")


def _grading(options: PlanOptions, backend: Backend) -> dict[str, Any]:
    """Grading rules of the judge panels: those given, a user's rubric, or the study's (three labels for a text model)."""
    rules: dict[str, Any] = {}
    if options.rubric:
        from c2s.banks.judge_items import read_rubric

        rules = {"contracts": (RUBRIC,), "rubric": read_rubric(options.rubric)}
    elif options.contracts:
        for name in options.contracts:
            if name not in PUBLISHED:
                raise UsageError(f"unknown grading rule {name!r}{nearest(name, list(PUBLISHED))}; known: {', '.join(PUBLISHED)}")
        rules = {"contracts": options.contracts}
    elif backend.dialect != "systemone":
        rules = {"contracts": ("FINAL3",)}
    # A text model has no typed question and no criteria object: there, only the outer request and the embedded state have an order.
    return rules if backend.dialect == "systemone" else rules | {"components": ("outer", "state")}
