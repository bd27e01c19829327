"""The one mechanism: a parent's arms as generators that yield rounds of asks and return an outcome.

The runner, resume and verify all drive the same `ParentProgram`; see docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from c2s.controllers.arm_factors import Factors
from c2s.errors import ArmError, C2SError, InputError, described
from c2s.records import Answer, Ask, Outcome, Parent, Slot
from c2s.settings import Settings

ArmGenerator = Generator[list[Ask], list[Answer], Outcome]


@dataclass(frozen=True, slots=True)
class Context:
    """What an arm may look at beside its parent: the run's frozen settings, the outcomes of the arms it needs, and which instance it is.

    `replicate` counts repeats from 0; `turn` is the turn to answer, from 1, or 0 for an arm without turns.
    """

    settings: Settings
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    replicate: int = 0
    turn: int = 0

    @property
    def seed(self) -> int:
        return self.settings.seed


@dataclass(frozen=True, slots=True)
class Arm:
    """One condition under which a parent is answered.

    `program(parent, context)` is the generator; `steps(parent)` the steps that it may ask, ascending; `needs` names
    arms of the same panel whose outcomes it reads; `replicates` repeats it with identical requests. `only(parent)`
    restricts it to some parents: the others have neither its slots nor its outcome. With `turns(parent)`, the number of turns, the arm
    has one instance per turn instead of repeats, and an error in one turn leaves the others as they are.
    `factors` are the facts that tell it from the panel's other arms (`c2s/controllers/arm_factors.py`); its name is only a label.
    """

    name: str
    program: Callable[[Parent, Context], ArmGenerator]
    steps: Callable[[Parent], Sequence[int]]
    needs: tuple[str, ...] = ()
    replicates: int = 1
    only: Callable[[Parent], bool] | None = None
    turns: Callable[[Parent], int] | None = None
    factors: Factors = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", MappingProxyType(dict(self.factors)))

    def instances(self, parent: Parent) -> list[tuple[int, int]]:
        """(replicate, turn) of each instance for this parent; none where `only` leaves the parent out."""
        if self.only is not None and not self.only(parent):
            return []
        if self.turns is not None:
            return [(0, turn) for turn in range(1, self.turns(parent) + 1)]
        return [(replicate, 0) for replicate in range(self.replicates)]


@dataclass(slots=True)
class _Run:
    """An arm on its way: its generator, the asks of the current round and the answers that have arrived."""

    arm: Arm
    replicate: int
    turn: int
    generator: ArmGenerator | None = None
    round: list[Ask] = field(default_factory=list)
    answers: dict[int, Answer] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)
    outcome: Outcome | None = None


class ParentProgram:
    """Runs the arms of one parent. Feed it answers in any order; equal answers give equal asks and outcomes."""

    def __init__(self, panel: str, arms: Sequence[Arm], parent: Parent, settings: Settings) -> None:
        self.panel = panel
        self.parent = parent
        self.settings = settings
        self.skipped: dict[Slot, str] = {}
        self._runs = {(arm.name, r, turn): _Run(arm, r, turn) for arm in arms for r, turn in arm.instances(parent)}

    @property
    def closed(self) -> bool:
        return all(run.outcome is not None for run in self._runs.values())

    @property
    def outcomes(self) -> list[Outcome]:
        """Outcomes of the arms that have closed, in the order the panel declares them."""
        return [run.outcome for run in self._runs.values() if run.outcome is not None]

    def start(self) -> list[tuple[Slot, Ask]]:
        """The first asks: those of every arm that needs no other."""
        return list(self._launch())

    def receive(self, slot: Slot, answer: Answer | None, reason: str | None = None) -> list[tuple[Slot, Ask]]:
        """Take the answer to one slot (None: error or unknown, with the reason) and return the asks it released."""
        run = self._runs[slot.outcome_key]
        if slot.step not in run.asked or slot.step in run.answers or slot.step in run.failed:
            raise RuntimeError(f"an answer to {slot} was not expected")
        if answer is None:
            run.failed[slot.step] = reason or "no answer"
        else:
            run.answers[slot.step] = answer
        if any(ask.step not in run.answers and ask.step not in run.failed for ask in run.round):
            return []
        if run.failed:
            step = min(run.failed)
            self._close(run, self._undefined(run, f"step {step}: {run.failed[step]}"), "blocked")
            return list(self._launch())
        return self._advance(run, [run.answers[ask.step] for ask in run.round])

    def _launch(self) -> Iterator[tuple[Slot, Ask]]:
        """Start every arm whose needs have closed; repeat, since one that needs nothing more may close at once."""
        progress = True
        while progress:
            progress = False
            for run in self._runs.values():
                if run.generator is not None or run.outcome is not None:
                    continue
                needed = {name: self._needed(name, run) for name in run.arm.needs}
                outcomes = {name: other.outcome for name, other in needed.items() if other.outcome is not None}
                if len(outcomes) < len(needed):
                    continue
                progress = True
                missing = [name for name, outcome in outcomes.items() if outcome.status != "ok"]
                if missing:
                    self._close(run, self._undefined(run, f"needs {missing[0]}, which is undefined"), "blocked")
                else:
                    with self._at_fault(run):
                        run.generator = run.arm.program(self.parent, Context(self.settings, outcomes, run.replicate, run.turn))
                    yield from self._step(run, run.generator, None)

    def _needed(self, name: str, run: _Run) -> _Run:
        """The instance of the needed arm with the same replicate and turn if it has one, else its first."""
        needed = self._runs.get((name, run.replicate, run.turn)) or self._runs.get((name, 0, 0))
        if needed is None:
            raise ArmError(f"{self._where(run)} needs {name}, which has no outcome for it: their turns differ")
        return needed

    def _advance(self, run: _Run, answers: list[Answer]) -> list[tuple[Slot, Ask]]:
        assert run.generator is not None
        asks = self._step(run, run.generator, answers)
        return asks + list(self._launch()) if run.outcome is not None else asks

    def _step(self, run: _Run, generator: ArmGenerator, answers: list[Answer] | None) -> list[tuple[Slot, Ask]]:
        """The next round of an arm; None as answers starts it. Raises ArmError where the arm's program is at fault."""
        with self._at_fault(run):
            return self._round(run, generator, answers)

    def _round(self, run: _Run, generator: ArmGenerator, answers: list[Answer] | None) -> list[tuple[Slot, Ask]]:
        try:
            run.round = next(generator) if answers is None else generator.send(answers)
        except StopIteration as stop:
            self._close(run, stop.value, "not_needed")
            return []
        slots = [Slot(self.panel, self.parent.id, run.arm.name, run.replicate, ask.step, run.turn) for ask in run.round]
        steps = {slot.step for slot in slots}
        planned = run.arm.steps(self.parent)
        if not steps or len(steps) != len(slots) or steps & run.asked or not steps <= set(planned):
            raise ArmError(f"{self._where(run)} asked for steps {sorted(steps)} (planned: {planned})")
        run.asked |= steps
        return list(zip(slots, run.round, strict=True))

    def _where(self, run: _Run) -> str:
        return f"panel {self.panel}, parent {self.parent.id}: the arm {run.arm.name}"

    @contextmanager
    def _at_fault(self, run: _Run) -> Iterator[None]:
        """Whatever an arm's program raises is an ArmError that names it, also sys.exit; Ctrl-C and our own errors stay what they are."""
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if isinstance(error, C2SError) and not isinstance(error, InputError):
                raise
            raise ArmError(f"{self._where(run)} failed: {described(error)}") from error

    def _undefined(self, run: _Run, reason: str) -> Outcome:
        return Outcome(run.arm.name, run.replicate, turn=run.turn, status="undefined", reason=reason)

    def _close(self, run: _Run, outcome: Outcome, rest: str) -> None:
        """Record the outcome; planned steps that were never asked become `rest`."""
        run.outcome = replace(outcome, arm=run.arm.name, replicate=run.replicate, turn=run.turn)
        for step in run.arm.steps(self.parent):
            if step not in run.asked:
                self.skipped[Slot(self.panel, self.parent.id, run.arm.name, run.replicate, step, run.turn)] = rest
