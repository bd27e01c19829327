"""One position of a supplied string: evidence x option names, and a true/false identity check (A.5, B.5, E.5, Figures 5 and 6).

A parent has one record, or several that share it as a cluster (a symbolic base in two encodings); a record is a step.
Choices are the argmax of the reported probabilities; the service's own are kept beside them (A.7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from c2s.controllers.details import RecordsDetail
from c2s.controllers.outcome import trace
from c2s.controllers.program import Arm, ArmGenerator, Context
from c2s.presentation.encode import canonical_state
from c2s.presentation.names import named
from c2s.presentation.option_order import keyed_order
from c2s.presentation.texts import contracts, ours
from c2s.records import Ask, Choice, Outcome, Parent, Question, Record, Request

EVIDENCE = ("raw", "indexed", "direct")


def records_of(parent: Parent) -> Sequence[int]:
    return range(1, len(parent.item["records"]) + 1)


def state_of(record: Record, evidence: str) -> dict[str, Any]:
    """Raw: the string and the position. Indexed adds the position table, Direct the queried character as well."""
    target, position = record["target"], record["position"]
    state: dict[str, Any] = {"copy_target": target, "indexing": "one-based", "query_position": position}
    if evidence != "raw":
        state["indexed_characters"] = [{"character": c, "position": i} for i, c in enumerate(target, start=1)]
    if evidence == "direct":
        state["query_character"] = target[position - 1]
    return state


def shown(parent: Parent, ctx: Context, record: Record, order: int = 0) -> list[str]:
    """The record's characters in displayed order; the shuffle is of places, so encodings of one base are shown in matched order."""
    return keyed_order(record["alphabet"], seed=ctx.seed, parent=parent.id, position=record["position"], order=order)


def readout(evidence: str, naming: str, *, replicates: int = 2) -> Arm:
    """Arm `evidence_naming`: pick the option whose description is the queried character."""

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        asks, options = [], []
        for step, record in enumerate(parent.item["records"], start=1):
            other = dict(zip(record["alphabet"], record["other"], strict=True))
            names = named(shown(parent, ctx, record), naming, other)
            right = next(name for name, c in names.items() if c == record["target"][record["position"] - 1])
            question = Question(contracts()["readout"]["question"], names)
            asks.append(
                Ask(step, Request(canonical_state(state_of(record, evidence)), {"answer": question}, strip=False), truth={"answer": right})
            )
            options.append((names, right))
        answers = yield asks
        choices = [answer.choice() for answer in answers]
        characters = [names.get(c.taken("argmax"), c.taken("argmax")) for c, (names, _) in zip(choices, options, strict=True)]
        return _scored(choices, characters, [c.taken("argmax") == right for c, (_, right) in zip(choices, options, strict=True)])

    factors = {"interface": "readout", "evidence": evidence, "names": naming}
    return Arm(f"{evidence}_{naming}", program, records_of, replicates=replicates, factors=factors)


def identity(name: str = "identity") -> Arm:
    """Whether a character is the one at the position: once the right one, once another. Two steps a record."""

    def steps(parent: Parent) -> Sequence[int]:
        return range(1, 2 * len(parent.item["records"]) + 1)

    def program(parent: Parent, ctx: Context) -> ArmGenerator:
        asks: list[Ask] = []
        for record in parent.item["records"]:
            right = record["target"][record["position"] - 1]
            other = dict(zip(record["alphabet"], record["other"], strict=True))[right]
            for character, truth in ((right, "true"), (other, "false")):
                state = canonical_state(state_of(record, "raw") | {"character": character})
                options = keyed_order(["true", "false"], seed=ctx.seed, parent=parent.id, position=record["position"])
                question = Question(ours("identity"), dict.fromkeys(options), "label")
                asks.append(Ask(len(asks) + 1, Request(state, {"answer": question}, strip=False), truth={"answer": truth}))
        answers = yield asks
        choices = [answer.choice() for answer in answers]
        labels = [choice.taken("argmax") for choice in choices]
        return _scored(choices, labels, [label == ask.truth["answer"] for label, ask in zip(labels, asks, strict=True)])

    return Arm(name, program, steps, factors={"interface": "identity", "evidence": "raw"})


def _scored(choices: Sequence[Choice], answers: Sequence[str], right: Sequence[bool]) -> Outcome:
    """`correct` if every record is; `right` per step for the record-level rates."""
    return Outcome(
        "",
        output=" ".join(answers),
        correct=all(right),
        kind="strict_correct" if all(right) else "format_valid_wrong",
        detail=RecordsDetail(**trace(choices, "argmax"), right=list(right)),
    )
