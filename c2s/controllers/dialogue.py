"""Arms of the dialogue panels (appendix C): field construction and prior-state access.

Construction, HistoryRecompute and Oracle have one instance per user turn, so that an error spoils its own turn alone; Rollout is one
trajectory and keeps its previous state to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from c2s.controllers.details import DialogueDetail, TurnRecord
from c2s.controllers.dialogue_requests import ORIGINAL, PARAPHRASE, PERMUTED, State, View, dialogue, view
from c2s.controllers.outcome import smallest, trace
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.presentation.encode import canonical_state
from c2s.records import INVALID, VALID_KINDS, Answer, Ask, Outcome, Parent


def joint(parent: Parent, ctx: Context) -> ArmGenerator:
    """All fields of one turn in one request, from the visible history."""
    seen, turn = view(parent, ctx.settings), ctx.turn
    answers = yield [seen.ask(1, {"dialogue_history": seen.history(turn)}, seen.fields, seen.gold(turn))]
    return _outcome(seen, [turn_record(seen, turn, answers)])


def independent(parent: Parent, ctx: Context) -> ArmGenerator:
    """Each field of one turn in its own request, all at once."""
    seen, turn = view(parent, ctx.settings), ctx.turn
    state = {"dialogue_history": seen.history(turn)}
    answers = yield [seen.ask(i, state, [name], seen.gold(turn)) for i, name in enumerate(seen.fields, start=1)]
    return _outcome(seen, [turn_record(seen, turn, answers)])


def serial(parent: Parent, ctx: Context) -> ArmGenerator:
    """Each field in turn, in the frozen order, with the fields that the arm itself has given for this turn."""
    seen, turn = view(parent, ctx.settings), ctx.turn
    answers: list[Answer] = []
    for i, name in enumerate(seen.fields, start=1):
        state = {"dialogue_history": seen.history(turn), "partial_current_state": seen.values(answers)}
        answers += yield [seen.ask(i, state, [name], seen.gold(turn))]
    return _outcome(seen, [turn_record(seen, turn, answers)])


def _access(seen: View, step: int, turn: int, previous: State) -> Ask:
    return seen.ask(step, {"previous_state": previous, "latest_exchange": seen.exchange(turn)}, seen.fields, seen.gold(turn))


def rollout(version: str) -> Callable[[Parent, Context], ArmGenerator]:
    """The arm that receives its own previous state and the latest exchange, turn after turn."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        seen = view(parent, ctx.settings, version)
        previous, records = seen.initial(), list[TurnRecord]()
        for turn in range(1, parent.length + 1):
            answers = yield [_access(seen, turn, turn, previous)]
            records.append(turn_record(seen, turn, answers))
            previous = records[-1]["state"]
        return _outcome(seen, records)

    return program


def oracle(version: str) -> Callable[[Parent, Context], ArmGenerator]:
    """The arm that receives the gold previous state and the latest exchange, one turn."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        seen, turn = view(parent, ctx.settings, version), ctx.turn
        answers = yield [_access(seen, 1, turn, seen.gold(turn - 1))]
        return _outcome(seen, [turn_record(seen, turn, answers)])

    return program


def turn_record(seen: View, turn: int, answers: Sequence[Answer]) -> TurnRecord:
    """What one turn leaves: its state, which fields are right, format validity by response, and what it cost.

    `p` and `top` are those of the fields in the order in which they were answered; tokens are None where any response reports none.
    """
    state, gold = seen.values(answers), seen.gold(turn)
    choices = [answer.choices[name] for answer in answers for name in answer.choices]
    traced = trace(choices)
    legal = [all(value != INVALID for value in seen.values([answer]).values()) for answer in answers]
    faults = [choice.fault for choice in choices if choice.fault is not None]
    return {
        "turn": turn,
        "state": state,
        "right": [state[name] == gold[name] for name in seen.fields],
        "kind": "strict_correct" if state == gold else "format_valid_wrong" if all(legal) else faults[0] if faults else "other_invalid",
        "calls": len(answers),
        "valid_calls": sum(legal),
        "input_tokens": _total(answer.input_tokens for answer in answers),
        "output_tokens": _total(answer.output_tokens for answer in answers),
        "p": traced["p"],
        "top": traced["top"],
    }


def _total(counts: Iterable[int | None]) -> int | None:
    """The sum; None where any count was not reported."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _outcome(seen: View, records: Sequence[TurnRecord]) -> Outcome:
    """One turn: right if its state is the gold state, `first_wrong` the first wrong field. A trajectory: right if every turn is,
    `first_wrong` the first wrong turn.
    """
    single = len(records) == 1
    marks = records[0]["right"] if single else [all(record["right"]) for record in records]
    kinds = {record["kind"] for record in records}
    tops = [top for record in records for top in record["top"]]
    output = records[0]["state"] if single else [record["state"] for record in records]
    return Outcome(
        arm="",
        output=canonical_state(output),
        correct=all(marks),
        kind=_worst(kinds),
        first_wrong=None if all(marks) else marks.index(False) + 1,
        min_confidence=smallest(tops),
        detail=DialogueDetail(turns=list(records)),
    )


def _worst(kinds: set[str]) -> str:
    """An invalid form before a wrong state before none; the first by name where several forms are invalid."""
    invalid = sorted(kinds - set(VALID_KINDS))
    return invalid[0] if invalid else "format_valid_wrong" if "format_valid_wrong" in kinds else "strict_correct"


def _turns(parent: Parent) -> int:
    return parent.length


def _one(parent: Parent) -> Sequence[int]:
    return (1,)


def _fields(parent: Parent) -> Sequence[int]:
    return range(1, len(dialogue(parent)["fields"]) + 1)


def _steps_by_turn(parent: Parent) -> Sequence[int]:
    return range(1, parent.length + 1)


def _paraphrased(parent: Parent) -> bool:
    return dialogue(parent)["paraphrase"] is not None


def _permuted(parent: Parent) -> bool:
    return dialogue(parent)["permuted"] is not None


def _rollout(name: str, version: str, only: Callable[[Parent], bool] | None = None) -> Arm:
    return Arm(name, rollout(version), _steps_by_turn, only=only, factors={"interface": "rollout", "version": version})


def _oracle(name: str, version: str, only: Callable[[Parent], bool] | None = None) -> Arm:
    return Arm(name, oracle(version), _one, only=only, turns=_turns, factors={"interface": "oracle", "version": version})


JOINT = Arm("joint", joint, _one, turns=_turns, factors={"interface": "joint", "version": ORIGINAL})
INDEPENDENT_FIELDS = Arm("independent", independent, _fields, turns=_turns, factors={"interface": "independent", "version": ORIGINAL})
SERIAL_FIELDS = Arm("serial", serial, _fields, turns=_turns, factors={"interface": "serial", "version": ORIGINAL})
HISTORY_RECOMPUTE = Arm("history_recompute", joint, _one, turns=_turns, factors={"interface": "history_recompute", "version": ORIGINAL})
"""Its request is Joint's; in its own panel it is asked on its own."""
ROLLOUT = _rollout("rollout", ORIGINAL)
ORACLE = _oracle("oracle", ORIGINAL)
PERTURBED = (
    _rollout("rollout_paraphrase", PARAPHRASE, _paraphrased),
    _oracle("oracle_paraphrase", PARAPHRASE, _paraphrased),
    _rollout("rollout_permuted", PERMUTED, _permuted),
    _oracle("oracle_permuted", PERMUTED, _permuted),
)
