"""What a panel is: a declaration, no code of its own beyond choosing its parents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from c2s.controllers.arm_factors import Factor, has_factors
from c2s.controllers.program import Arm
from c2s.records import Outcome, Parent, Slot, Transition, transition
from c2s.settings import Settings
from c2s.sources.base import NoParents, Source

Outcomes = Mapping[str, Mapping[str, Sequence[Outcome]]]
"""{panel: {parent: outcomes of that parent}}."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One table of a panel's report: `function` is "module:name", loaded only when a report is made.

    It is called with the panel's outcomes (`c2s.reports.data.PanelData`) and `options` and returns a section.
    """

    function: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Panel:
    """Parents x arms, with what is computed from their outcomes.

    `source` gives the panel's frozen parents in plan order, and checks those that were read from a ledger.
    `pair` is (the arm that conditions, the arm that retains): its joint table decides a parent's transition.
    `uses` names panels of the same run whose outcomes this one reads. With `prepare`, its parents open only when all of those
    have closed, and `prepare(parents, outcomes, settings)` gives what is added to each parent's payload, where `outcomes` is
    {panel: {parent: [outcomes]}}; it is frozen in the ledger and derived again by verify. Where it decides that an arm is not asked, the
    payload has the reason (`skip`, `no_plan`), and the arm returns an undefined outcome with it.
    `also` names panels whose outcomes it reads where the run has them; they are not added to a run for it.
    A panel without arms is an analysis of other panels' outcomes. `endpoints` make the report of one run, `across` what
    several runs have in common. `draws` and `seed` are those of its bootstrap, as the paper states them. `requires`
    names what a model must offer: "probabilities", "batch" (several questions in a request), "singletons" (a question with one
    option), "wide" (51 options), "descriptions" (options are more than their names), "symbols" (other alphabets than the natural items'),
    "text" (it writes, under the contract that a request demands), "continuation" (it goes on from a prefill), "tokenizer" (at hand).
    `schedule` is the order in which its requests leave: "parent", "round", "round:SEED" or "hash:SEED" (c2s/runner/schedule.py).
    """

    name: str
    what: str
    arms: tuple[Arm, ...] = ()
    source: Source = field(default_factory=NoParents)
    domains: tuple[str, ...] = ("math", "lexical")
    pair: tuple[str, str] | None = None
    compliance: bool = True
    """Whether the report ends with the outcomes of every arm by kind; judges and single answers have endpoints that say it."""
    uses: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    prepare: Callable[[Sequence[Parent], Outcomes, Settings], Mapping[str, Mapping[str, Any]]] | None = None
    endpoints: tuple[Endpoint, ...] = ()
    across: tuple[Endpoint, ...] = ()
    exploratory: tuple[Endpoint, ...] = ()
    """What only `c2s report --exploratory` shows: it may need packages that are not there, so no stored report depends on it."""
    draws: int = 99_999
    seed: int = 20261005
    requires: tuple[str, ...] = ()
    same_content: tuple[str, ...] = ()
    """Factors: the requests of arms that agree in all of them have the same content in another member order. Checked before anything is
    sent, and by verify."""
    schedule: str = "parent"
    share: bool = False
    """Whether first-round asks with equal bytes share one response: the first in the plan sends it, the others receive it."""
    data: str | None = None
    """The kind of data file (`c2s data`) that its parents come from; without one, they come from the set that ships."""

    def arm(self, name: str) -> Arm:
        """The arm with this name. Raises KeyError where the panel has none."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise KeyError(f"panel {self.name} has no arm {name!r}")

    def arms_where(self, **factors: Factor) -> tuple[Arm, ...]:
        """The arms that have all of these factors, in the panel's order."""
        return tuple(arm for arm in self.arms if has_factors(arm.factors, factors))

    def content_group(self, arm: str) -> tuple[Factor | None, ...] | None:
        """The values of the `same_content` factors of an arm; None where the panel compares no contents."""
        return tuple(self.arm(arm).factors.get(name) for name in self.same_content) or None

    def count(self, settings: Settings) -> tuple[int, int]:
        """(parents, requests at most) under these settings, without any text of the machine."""
        parents = self.source.outline(settings)
        return len(parents), sum(len(self.slots(parent)) for parent in parents)

    def slots(self, parent: Parent) -> list[Slot]:
        """Everything that may be asked about this parent."""
        return [
            Slot(self.name, parent.id, arm.name, replicate, step, turn)
            for arm in self.arms
            for replicate, turn in arm.instances(parent)
            for step in arm.steps(parent)
        ]

    def additions(self, parents: Sequence[Parent], outcomes: Outcomes, settings: Settings) -> dict[str, dict[str, Any]]:
        """{parent: what `prepare` adds to its payload} for every parent; an empty addition says that it was prepared and needs nothing."""
        assert self.prepare is not None
        added = self.prepare(parents, outcomes, settings)
        return {parent.id: dict(added.get(parent.id, {})) for parent in parents}

    def transition(self, outcomes: Sequence[Outcome]) -> Transition | None:
        """The transition of a parent with these outcomes: of its primary ones (replicate 0), all turns together.

        None where the panel has no pair, or the parent has no outcome of one of its arms.
        """
        if self.pair is None:
            return None
        first, second = ([o.correct for o in outcomes if o.arm == name and o.replicate == 0] for name in self.pair)
        if not first or not second:
            return None
        return transition(*(None if None in marks else all(marks) for marks in (first, second)))
