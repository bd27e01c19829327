"""What a panel is: a declaration, no code of its own beyond choosing its parents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from c2s.controllers.program import Arm
from c2s.records import Outcome, Parent


@dataclass(frozen=True, slots=True)
class Panel:
    """Parents x arms, with the pair of arms whose joint table decides a parent's transition.

    `parents(settings)` returns the panel's frozen parents in plan order, cut to the settings' `domain` and `limit` (per domain).
    `check(frozen, settings)` says, in sentences, how parents read from a ledger differ from what they should be.
    `pair` is (the arm that conditions, the arm that retains): Native and Serial as a rule.
    `schedule` is the order in which its requests leave: "parent", "round" or "hash:SEED" (c2s/runner/schedule.py).
    """

    name: str
    what: str
    arms: tuple[Arm, ...]
    parents: Callable[[Mapping[str, Any]], Sequence[Parent]]
    check: Callable[[Sequence[Parent], Mapping[str, Any]], list[str]]
    pair: tuple[str, str] | None = ("native", "serial")
    schedule: str = "parent"
    data: str | None = None
    """The kind of data file (`c2s data`) that its parents come from; without one, they come from the set that ships."""

    def transition(self, outcomes: Sequence[Outcome]) -> str | None:
        """both, native_only, serial_only, neither or undefined; None where the panel has no pair."""
        if self.pair is None:
            return None
        found = {o.arm: o for o in outcomes if o.replicate == 0}
        first, second = found[self.pair[0]], found[self.pair[1]]
        if first.correct is None or second.correct is None:
            return "undefined"
        return {(True, True): "both", (True, False): "native_only", (False, True): "serial_only", (False, False): "neither"}[
            first.correct, second.correct
        ]
