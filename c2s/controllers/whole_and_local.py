"""Arms that answer a problem with eight candidates: whole, by position, and one position after another.

Choice2Seq, sections 3.1 and 3.3, A.4, D.5, D.6, E.1, E.2 and Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import compress

from c2s.controllers.arm_factors import Factor
from c2s.controllers.details import Extra
from c2s.controllers.outcome import distribution, scored
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.controllers.requests import alphabet, displayed, local_state, one_step, positions, single, text, whole_state
from c2s.records import Answer, Ask, Choice, Contract, Parent

Steps = Callable[[Parent], Sequence[int]]


def whole(
    name: str = "native",
    *,
    problem: bool = True,
    template: str | None = None,
    order: int = 0,
    replicates: int = 1,
    select: str = "returned",
    contract: Contract | None = None,
) -> Arm:
    """One request with eight candidates: Native, and CandidatesOnly where the problem is withheld.

    `template` None is the run's, `contract` None the model's. `order` names another displayed order. The outcome keeps the whole
    distribution over the candidates.
    """

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        shown = displayed(ctx, parent, parent.candidates, position=0, order=order)
        request = single(whole_state(parent, problem=problem), text(ctx, "native", template), shown, "whole", contract)
        (answer,) = yield [Ask(1, request, truth={"answer": parent.target})]
        choice = answer.choice()
        extra: Extra = {"distribution": [distribution(choice, parent.candidates)]}
        return scored(parent, choice.taken(select), [choice], select=select, extra=extra)

    interface = "native" if problem else "candidates_only"
    return Arm(
        name, program, one_step, replicates=replicates, factors={"interface": interface, "template": template or "run", "order": order}
    )


def _local(
    parent: Parent,
    ctx: Context,
    position: int,
    prefix: str | None,
    instructions: str,
    options: Sequence[str],
    contract: Contract | None = None,
) -> Ask:
    request = single(local_state(parent, position, prefix), instructions, options, "character", contract)
    return Ask(position, request, truth={"answer": parent.target[position - 1]})


def independent(name: str = "independent", *, template: str | None = None) -> Arm:
    """All L positions at once, each without a prefix. The outcome keeps the distribution at every position."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        symbols, instructions = alphabet(parent), text(ctx, "independent", template)
        answers = yield [_local(parent, ctx, t, None, instructions, displayed(ctx, parent, symbols, position=t)) for t in positions(parent)]
        choices = [answer.choice() for answer in answers]
        extra: Extra = {"distribution": [distribution(choice, symbols) for choice in choices]}
        return scored(parent, "".join(choice.taken() for choice in choices), choices, extra=extra)

    return Arm(name, program, positions, factors={"interface": "independent", "template": template or "run"})


def teacher_forced(name: str = "teacher_forced") -> Arm:
    """Serial's request after the gold prefix, all positions at once; right if every decision is. Keeps the gold path's probabilities."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        instructions = text(ctx, "teacher_forced")
        answers = yield [
            _local(parent, ctx, t, parent.target[: t - 1], instructions, displayed(ctx, parent, alphabet(parent), position=t))
            for t in positions(parent)
        ]
        choices = [answer.choice() for answer in answers]
        return scored(parent, "".join(choice.taken() for choice in choices), choices, extra=gold_path(parent.target, choices))

    return Arm(name, program, positions, factors={"interface": "teacher_forced"})


def gold_path(target: str, choices: Sequence[Choice]) -> Extra:
    """`gold_p`: the probability of the right character at every step, None where none was reported."""
    return {"gold_p": [None if not c.probabilities else c.probabilities.get(right, 0.0) for c, right in zip(choices, target, strict=True)]}


def serial(
    name: str = "serial",
    *,
    support: str = "full",
    fill: str | None = None,
    template: str | None = None,
    order: int = 0,
    replicates: int = 1,
    symbols: str | None = None,
    query: Sequence[int] | None = None,
    contract: Contract | None = None,
) -> Arm:
    """One position after another with the arm's own prefix, invalid markers included (Algorithm 1).

    `support`: which characters are offered, of the seeded alphabet in its order: "full", "union" or "trie". `fill`: the
    support whose singletons are supplied without a request, or None to ask everything. A trie whose prefix matches no candidate ends the
    output there, and the later positions are not asked. `symbols` restricts the offered characters; `query` names the
    positions to ask, all others being supplied from singleton position unions (D.7).
    """

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        known, instructions = alphabet(parent), text(ctx, "serial", template)
        prefix = ""
        taken: list[Choice | None] = []
        for t in positions(parent):
            offered = supported(parent.candidates, prefix, support, known)
            if not offered:
                return scored(parent, prefix, taken, extra={"aborted": t})
            supply = "union" if query is not None and t not in query else fill
            sole = supported(parent.candidates, prefix, supply, known) if supply else ()
            if len(sole) == 1:
                taken.append(None)
                prefix += sole[0]
                continue
            shown = [c for c in displayed(ctx, parent, known, position=t, order=order) if c in offered and c in (symbols or c)]
            answers: list[Answer] = yield [_local(parent, ctx, t, prefix, instructions, shown, contract)]
            taken.append(answers[0].choice())
            prefix += answers[0].choice().taken()
        return scored(parent, prefix, taken)

    factors: dict[str, Factor] = {
        "interface": "serial",
        "template": template or "run",
        "order": order,
        "support": support,
        "fill": fill or "none",
    }
    if symbols is not None:
        factors["choices"] = len(symbols)
    steps: Steps = positions if fill is None else ambiguous_steps(fill)
    if query is not None:
        factors["queries"] = len(query)
        steps = fixed_steps(query)
    return Arm(name, program, steps, replicates=replicates, factors=factors)


def supported(candidates: Sequence[str], prefix: str, kind: str, symbols: Sequence[str]) -> Sequence[str]:
    """The characters of `symbols` that a support offers after `prefix`, in their order."""
    if kind == "full":
        return symbols
    from c2s.kernels.support import support  # numpy is not wanted where panels are only listed

    return tuple(compress(symbols, support(candidates, prefix, kind, "".join(symbols))))


def fixed_steps(query: Sequence[int]) -> Steps:
    """The same steps for every parent."""
    return lambda parent: query


def ambiguous_steps(fill: str) -> Steps:
    """Steps that can be asked where the singletons of "union" or "trie" are supplied, whatever the answers."""

    def steps(parent: Parent) -> Sequence[int]:
        return _ambiguous(parent.candidates, fill)

    return steps


@lru_cache(maxsize=4096)
def _ambiguous(candidates: tuple[str, ...], fill: str) -> tuple[int, ...]:
    """Positions with more than one continuation after some prefix of a candidate (trie), or over all candidates (union)."""
    ambiguous = []
    for t in range(len(candidates[0])):
        after = {(c[:t] if fill == "trie" else "", c[t]) for c in candidates}
        if len(after) > len({prefix for prefix, _ in after}):
            ambiguous.append(t + 1)
    return tuple(ambiguous)


NATIVE = whole()
CANDIDATES_ONLY = whole("candidates_only", problem=False)
INDEPENDENT = independent()
SERIAL = serial()
