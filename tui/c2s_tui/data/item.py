"""Everything about one parent: its item, its arms, every step with what was offered and what came back.

What was asked is derived again by the parent's own program, fed with the recorded answers, as verify does; the recorded bytes
are shown as they are, and a request that is not the derived one is said to differ.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from c2s.controllers.arm_factors import Factors
from c2s.controllers.continuous import first_character
from c2s.controllers.program import ParentProgram
from c2s.controllers.replay import Reply, drive
from c2s.controllers.requests import alphabet
from c2s.dialects import Malformed, dialect
from c2s.errors import C2SError, LedgerError, UsageError
from c2s.ledger import exchanges, reader
from c2s.ledger.rows import ExchangeRow, ParentRow, SlotRow
from c2s.panels.registry import PANELS, panel
from c2s.records import Ask, Choice, Outcome, Question, Slot
from c2s.settings import Settings
from c2s_tui.data.items import text_of
from c2s_tui.data.source import Source


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of an arm: a position, or one question of a request that asks several (`question` names it).

    `state` is the slot's, or `filled` for a position that needed no request. `options`, `truth` and `choice` come from the derived request
    and the recorded response; None where either cannot be had.
    `values` says what options stand for, where they are ids. `prefix` is the output before this step where it is made up of
    characters, `taken` what the step added to it. `same` is False where the recorded request is
    not the one that follows from the item. `text` is the answer as written, where a model wrote one. A step that goes on from the
    beginning of an answer takes the first character of what was written and has no options to take: `options` is empty.
    """

    step: int
    question: str | None
    state: str
    slot: int | None
    exchange: int | None
    attempts: int
    options: tuple[str, ...] | None
    truth: str | None
    choice: Choice | None
    prefix: str
    taken: str | None
    message: str | None
    same: bool | None
    values: Mapping[str, str] | None = None
    text: str | None = None

    def shown(self, option: str | None) -> str:
        """An option as its value."""
        return "" if option is None else self.values.get(option, option) if self.values else option


@dataclass(frozen=True, slots=True)
class ArmView:
    """One instance of an arm: a repeat, or with `turn` (from 1) the turn that it answers."""

    name: str
    replicate: int
    outcome: Outcome | None
    steps: tuple[Step, ...]
    turn: int = 0
    factors: Factors = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int, int]:
        return self.name, self.replicate, self.turn


@dataclass(frozen=True, slots=True)
class Geometry:
    """K(0..L), the characters at every position over all candidates, and whether the gold's own is forced there."""

    k: tuple[int, ...]
    unions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemView:
    """One parent, whole. `note` says why steps could not be derived, if so; `compared`: its panel's pair of arms, if it has one."""

    id: int
    panel: str
    name: str
    domain: str
    length: int
    pair: str | None
    transition: str | None
    closed: bool
    payload: Mapping[str, Any]
    problem: str | None
    target: str | None
    candidates: tuple[str, ...]
    geometry: Geometry | None
    arms: tuple[ArmView, ...]
    note: str | None
    compared: tuple[str, str] | None = ("native", "serial")

    def arm(self, key: tuple[str, int, int]) -> ArmView | None:
        return next((arm for arm in self.arms if arm.key == key), None)


def item_view(source: Source, number: int) -> ItemView:
    """Raises LedgerError where there is no such parent."""
    manifest, _ = source.run.manifest()
    with source.read() as db:
        replay = _Replay(db, manifest, number)
        row = replay.row
        payload = row.parent.payload if isinstance(row.parent.payload, Mapping) else {}
        target, candidates = text_of(payload, "target"), payload.get("candidates")
        candidates = tuple(c for c in candidates if isinstance(c, str)) if isinstance(candidates, list) else ()
        return ItemView(
            number, row.panel, row.parent.id, row.parent.domain, row.parent.length, row.parent.pair, row.transition, row.closed, payload,
            text_of(payload, "problem"), target, candidates, _geometry(candidates, target), replay.arms(), replay.note, replay.compared,
        )  # fmt: skip


def _geometry(candidates: tuple[str, ...], target: str | None) -> Geometry | None:
    if target is None or target not in candidates or any(len(c) != len(target) for c in candidates):
        return None
    k = tuple(sum(c[:n] == target[:n] for c in candidates) for n in range(len(target) + 1))
    return Geometry(k, tuple("".join(sorted({c[n] for c in candidates})) for n in range(len(target))))


class _Replay:
    """The parent's program fed with the recorded answers, as far as they go."""

    def __init__(self, db: sqlite3.Connection, manifest: Mapping[str, Any], number: int) -> None:
        identity = manifest["identity"]
        self.note: str | None = None
        self.compared: tuple[str, str] | None = ("native", "serial")
        self._asks: dict[Slot, Ask] = {}
        self._choices: dict[Slot, Mapping[str, Choice]] = {}
        self._same: dict[Slot, bool] = {}
        self._db = db
        self._exchanges: dict[Slot, ExchangeRow] = {}
        try:
            self.row: ParentRow = reader.parent(db, number)
        except (ValueError, TypeError) as error:
            raise LedgerError(f"item {number} is damaged: its frozen item is not JSON") from error
        self.slots = reader.slots_of(db, self.row)
        self.outcomes = {o.key: o for o in reader.outcomes_of(db, number)}
        self._factors = {arm: factors for (name, arm), factors in reader.arms(db).items() if name == self.row.panel}
        try:
            self._wire, self._model = dialect(identity["dialect"]), identity["wire_model"]
            if (absent := PANELS.missing(self.row.panel, manifest.get("provenance", {}))) is not None:
                raise UsageError(absent)
            self._run(identity)
        except (C2SError, KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
            said = str(error) if isinstance(error, C2SError) else f"{type(error).__name__}: {error}"
            self.note = f"its requests cannot be derived here: {said}"

    def _run(self, identity: Mapping[str, Any]) -> None:
        declared = panel(self.row.panel)
        self.compared = declared.pair
        self._factors |= {arm.name: arm.factors for arm in declared.arms}  # a ledger of schema 1 stores none
        if declared.prepare is not None and self.row.frozen is None:
            return  # its requests follow from earlier panels, which have not closed yet
        present = {slot.arm for slot in self.slots}
        arms = [arm for arm in declared.arms if arm.name in present]
        drive(ParentProgram(declared.name, arms, self.row.parent, Settings.from_dict(identity["settings"])), self._recorded)

    def _recorded(self, slot: Slot, ask: Ask) -> Reply | None:
        """Keep what was derived and what was recorded; returns how the slot ended, None while it is open."""
        self._asks[slot] = ask
        row = self.slots.get(slot)
        if row is None or row.exchange is None or row.state not in ("ok", "error", "unknown"):
            return None
        sent = self._exchanges[slot] = exchanges.exchange(self._db, row.exchange)
        self._same[slot] = sent.request == self._wire.encode(ask, self._model)
        if row.state == "ok" and sent.response is not None:
            try:
                answer = self._wire.decode(ask, sent.response)
                self._choices[slot] = answer.choices
                return Reply(answer)
            except Malformed as error:
                self.note = f"{slot}: the recorded response cannot be read: {error}"
        return Reply.failed(row.state, sent.message)

    def arms(self) -> tuple[ArmView, ...]:
        keys = dict.fromkeys(slot.outcome_key for slot in self.slots)
        return tuple(
            ArmView(arm, replicate, self.outcomes.get(key), tuple(self._steps(key)), turn, self._factors.get(arm, {}))
            for key in keys
            for arm, replicate, turn in (key,)
        )

    def _steps(self, key: tuple[str, int, int]) -> list[Step]:
        rows = {slot.step: row for slot, row in self.slots.items() if slot.outcome_key == key}
        outcome = self.outcomes.get(key)
        filled = outcome.detail.get("filled", ()) if outcome is not None else ()
        last = max([*rows, *(n for n in filled if isinstance(n, int))], default=0)
        output = outcome.output if outcome is not None else None
        select = "argmax" if outcome is not None and "returned" in outcome.detail else "returned"
        steps, prefix = [], ""
        for number in range(1, last + 1):
            if number in rows:
                found = self._queried(rows[number], prefix, select)
            elif number in filled and output is not None:
                found = [
                    Step(
                        number,
                        None,
                        "filled",
                        None,
                        None,
                        0,
                        None,
                        self._gold(number),
                        None,
                        prefix,
                        output[number - 1 : number],
                        None,
                        None,
                    )
                ]
            else:
                continue
            steps += found
            prefix = found[-1].prefix + (found[-1].taken or "")
        return steps

    def _gold(self, number: int) -> str | None:
        target = text_of(self.row.parent.payload, "target")
        return None if target is None else target[number - 1 : number] or None

    def _queried(self, row: SlotRow, prefix: str, select: str) -> list[Step]:
        """One step a question; one with nothing derived where the request cannot be had."""
        slot = row.slot
        ask, choices, sent = self._asks.get(slot), self._choices.get(slot, {}), self._exchanges.get(slot)
        message = sent.message if sent is not None else self._message(row.exchange)
        base = (row.id, row.exchange, row.attempts)
        if ask is None or not ask.request.questions:
            return [Step(slot.step, None, row.state, *base, None, None, None, prefix, None, message, None)]
        steps = []
        going_on = ask.request.prefill is not None
        questions = ask.request.questions
        for name, question in questions.items():
            choice, options, truth = choices.get(name), tuple(question.options), ask.truth.get(name)
            text = None if choice is None else choice.text
            if going_on:
                choice = None if choice is None else first_character(choice, alphabet(self.row.parent))
                options, truth = (), truth and truth[:1]
            taken = None if choice is None else choice.taken(select)
            label = name if len(questions) > 1 or question.unit == "field" else None
            same, before = self._same.get(slot), prefix if going_on or question.unit == "character" else ""
            steps.append(
                Step(slot.step, label, row.state, *base, options, truth, choice, before, taken, message, same, _meaning(question), text)
            )
            prefix += taken or ""
        return steps

    def _message(self, exchange: int | None) -> str | None:
        return None if exchange is None else exchanges.message_of(self._db, exchange)


def _meaning(question: Question) -> Mapping[str, str] | None:
    """What the options stand for, where they are ids: values, or characters that only their descriptions name."""
    if question.values:
        return question.values
    described = {option: text for option, text in question.options.items() if text is not None and len(text) == 1}
    return described if len(described) == len(question.options) else None


@dataclass(frozen=True, slots=True)
class Send:
    """One send of a slot with its exact bytes."""

    slot: str
    row: ExchangeRow


def sends(source: Source, slot: int) -> list[Send]:
    """All sends of a slot, first to last; those of the slot whose response it receives, where it sends none itself."""
    with source.read() as db:
        named = reader.slot(db, slot)
        if named is None:
            raise LedgerError(f"{source.path} has no slot {slot}")
        return [Send(str(named), row) for row in exchanges.sends_for(db, slot)]
