"""One parent, several presentations of it: the same arms asked about each, resampled together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from c2s.controllers.arm_factors import Factor
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.records import Parent


def view(parent: Parent, presentation: str) -> Parent:
    """The parent as one of its presentations shows it: that presentation's payload, under the parent's own id.

    Displayed orders are keyed by the id and shuffle places, so presentations with matched stored orders are shown in matched order.
    """
    return replace(parent, payload=parent.presentations[presentation])


def presented(arm: Arm, presentation: str, name: str | None = None, **factors: Factor) -> Arm:
    """The arm asked about one presentation, of the parents that have it; named `arm_presentation` by default.

    The presentation becomes the factor `variant`; `factors` says more about it.
    """

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        return (yield from arm.program(view(parent, presentation), ctx))

    def steps(parent: Parent) -> Sequence[int]:
        return arm.steps(view(parent, presentation))

    def only(parent: Parent) -> bool:
        return presentation in parent.presentations

    known = {**arm.factors, "variant": presentation, **factors}
    return replace(arm, name=name or f"{arm.name}_{presentation}", program=program, steps=steps, only=only, factors=known)
