"""Derive everything in a run directory again, from the frozen items and the recorded bytes, and compare.

What is checked: the manifest's hash, every frozen item, the plan, every request byte for byte, every reading of a
response, every outcome, transition and counter, and the stored report.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from c2s.controllers.program import ParentProgram
from c2s.controllers.replay import Reply, drive
from c2s.dialects import Dialect, Malformed, dialect
from c2s.ledger import exchanges, journal, reader, sqlite
from c2s.ledger.counters import CounterKey, counts, outcome_counter, requests_by_state, transition_counter
from c2s.ledger.directory import RunDirectory
from c2s.ledger.rows import ExchangeRow, ParentRow, SlotRow
from c2s.ledger.schema import TERMINAL
from c2s.ledger.totals import Spend, from_run, weigh
from c2s.panels.base import Panel
from c2s.panels.registry import PANELS, panel
from c2s.planning.member_order import problems
from c2s.planning.plan import items_digest, shared_slots
from c2s.presentation.encode import body_hash, content_hash
from c2s.presentation.texts import contracts_sha256
from c2s.records import Answer, Ask, Slot
from c2s.reports import earlier
from c2s.reports.build import as_json, build
from c2s.reports.formats import counted
from c2s.settings import Settings


@dataclass(slots=True)
class Verification:
    """What was checked, how many requests are still open, and every difference as a sentence.

    `notes` tell how something was compared; `report_not_compared` says why the stored report was not.
    """

    checked: Counter[str] = field(default_factory=Counter)
    open: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    report_not_compared: str | None = None

    def __repr__(self) -> str:
        result = f"NOT verified, {counted(len(self.differences), 'difference')}" if self.differences else "verified"
        return f"<Verification: {result}; {self.summary()}>"

    def summary(self) -> str:
        """What was checked, and what was not, in one line."""
        parts = [", ".join(f"{n} {what}" for what, n in self.checked.items() if n) or "nothing could be derived"]
        if self.report_not_compared is not None:
            parts.append(self.report_not_compared)
        if self.open:
            parts.append(f"unfinished: {counted(self.open, 'request')} {'is' if self.open == 1 else 'are'} still open")
        return "; ".join(parts)

    def expect(self, same: bool, message: str) -> None:
        if not same:
            self.differences.append(message)


def verify(path: Path | str) -> Verification:
    """Verify a run directory, finished or not. Raises LedgerError if it cannot be read at all."""
    run = RunDirectory.open(path)
    found, why_not = _ledger(run)
    if not run.report_path.exists():
        found.report_not_compared = "report.json is absent, so no stored numbers were compared"
    elif why_not is not None:
        found.report_not_compared = f"report.json was not compared: {why_not}"
    else:
        _report(run, earlier_version(run.facts()), found)
    return found


def _ledger(run: RunDirectory) -> tuple[Verification, str | None]:
    """Everything but the stored report, with the reason why that one cannot be compared, if there is one."""
    manifest, digest = run.manifest()
    identity = manifest["identity"]
    found = Verification()
    with sqlite.reading(run.ledger_path) as db:
        damage = exchanges.damage(db)
        found.expect(damage is None, f"the database file is damaged: {damage}")
        found.expect(journal.planned_with(journal.run_values(db), digest), journal.ALTERED)
        found.expect(identity["contracts_sha256"] == contracts_sha256(), "the run was planned with other request texts than this c2s has")
        absent = {name: why for name in identity["panels"] if (why := PANELS.missing(name, manifest["provenance"])) is not None}
        if found.differences or not _items(db, identity, absent, found):
            return found, found.differences[-1]  # nothing can be derived from a plan that is not the one that was run
        wire, settings = dialect(identity["dialect"]), Settings.from_dict(identity["settings"])
        counters: Counter[CounterKey] = Counter()
        _arms(db, [panel(name) for name in identity["panels"] if name not in absent], absent, earlier_version(manifest), found)
        for name in (name for name in identity["panels"] if name not in absent):
            _additions(db, panel(name), settings, found)
            _shares(db, wire, identity["wire_model"], panel(name), settings, found)
            replay = _Replay(db, wire, identity["wire_model"], panel(name), settings, found, counters, earlier_version(manifest))
            for parent in reader.parents(db, name):
                try:
                    replay.parent(parent)
                except (Exception, SystemExit) as error:  # altered data can be anything, and an arm may not bear it
                    found.differences.append(f"{name}/{parent.parent.id}: cannot be derived: {type(error).__name__}: {error}")
        stored = Counter({(c.panel, c.domain, c.length, c.arm, c.key): c.n for c in counts(db) if c.panel not in absent})
        for key in sorted(set(stored) | set(counters)):
            found.expect(
                stored[key] == counters[key], f"counter {' '.join(map(str, key))} says {stored[key]}, the rows say {counters[key]}"
            )
        _exchanges(db, found)
        found.open = requests_by_state(counts(db))["open"]
    found.differences += [f"a panel was not checked: {why}" for why in absent.values()]
    return found, "it holds a panel that is missing here" if absent else None


def earlier_version(manifest: Mapping[str, Any]) -> bool:
    """Whether a c2s planned the run that wrote schema 1 and reports of the first format: every later one names the plugins."""
    return "plugins" not in manifest["provenance"]


def _report(run: RunDirectory, earlier_version: bool, found: Verification) -> None:
    """The stored report must be the one that follows; one of the earlier format must have the same figures."""
    found.checked["report"] += 1
    stored, derived = run.report_path.read_bytes(), as_json(build([run.path]))
    if stored == derived:
        return
    document = _object(stored)
    if document is None or "format" in document or not earlier_version:
        found.differences.append("report.json does not follow from the outcomes")
        return
    found.notes.append("report.json has an earlier format: each of its figures was compared with that of today's report")
    try:
        found.differences += [f"report.json: {difference}" for difference in earlier.differences(document, orjson.loads(derived))]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:  # an altered document can be anything
        found.differences.append(f"report.json does not have the form of an earlier report ({type(error).__name__}: {error})")


def _object(data: bytes) -> dict[str, Any] | None:
    """The JSON object in a file; None where it holds anything else."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _items(db: sqlite3.Connection, identity: Mapping[str, Any], absent: Container[str], found: Verification) -> bool:
    """Whether the frozen items are those of the manifest. That they are not the shipped ones is a difference of its own."""
    rows = [(row.panel, row.planned) for name in identity["panels"] for row in reader.parents(db, name)]
    found.checked["items"] += len(rows)
    if items_digest(iter(rows)) != identity["items_sha256"]:
        found.differences.append("the frozen items are not those of the manifest")
        return False
    for name in identity["panels"]:
        frozen = [parent for other, parent in rows if other == name]
        if name in absent:
            continue
        try:
            differences = panel(name).source.check(frozen, Settings.from_dict(identity["settings"]))
        except (Exception, SystemExit) as error:  # the source of a package may fail in any way
            differences = [f"{name}: its frozen items cannot be checked: {type(error).__name__}: {error}"]
        if len(differences) > 3:
            differences = [
                f"{name}: {differences[0]}; {len(differences) - 1} more like it: the run was made with other items than this c2s ships"
            ]
        found.differences += differences
    return True


def _additions(db: sqlite3.Connection, panel: Panel, settings: Settings, found: Verification) -> None:
    """What was added to the parents of a panel that comes after others must follow from the others' outcomes."""
    stored = reader.additions(db, panel.name)
    if not stored:
        return
    found.checked["additions"] += len(stored)
    if panel.prepare is None:
        found.differences.append(f"{panel.name}: parents were prepared, but the panel prepares none")
        return
    outcomes = {name: reader.outcomes_by_parent(db, name) for name in panel.uses}
    derived = panel.additions([row.planned for row in reader.parents(db, panel.name)], outcomes, settings)
    for name in sorted(set(stored) | set(derived)):
        found.expect(
            stored.get(name) == derived.get(name), f"{panel.name}/{name}: what was prepared does not follow from the earlier panels"
        )


def _arms(db: sqlite3.Connection, panels: Sequence[Panel], absent: Container[str], earlier_version: bool, found: Verification) -> None:
    """The stored arms must be those that the panels declare, in that order, with their factors; schema 1 stored none and knew only
    the arms that have slots."""
    try:
        stored = {key: factors for key, factors in reader.arms(db).items() if key[0] not in absent}
    except ValueError as error:
        found.differences.append(f"the stored factors of the arms cannot be read: {error}")
        return
    declared = {(panel.name, arm.name): dict(arm.factors) for panel in panels for arm in panel.arms}
    expected = list(declared)
    if earlier_version:
        expected = list(
            dict.fromkeys((p.name, slot.arm) for p in panels for row in reader.parents(db, p.name) for slot in p.slots(row.planned))
        )
    found.expect(list(stored) == expected, "the stored arms are not those of the panels, in their order")
    for key in (key for key in stored if key in declared):
        same = stored[key] == declared[key] or (earlier_version and stored[key] == {})
        found.expect(same, f"{'/'.join(key)}: the stored factors are not those of the panel")


def _shares(db: sqlite3.Connection, wire: Dialect, model: str, panel: Panel, settings: Settings, found: Verification) -> None:
    """Who receives whose response must follow from the first-round requests."""
    stored, derived = dict(reader.shared(db, panel.name)), {}
    if panel.share:
        parents = [row.planned for row in reader.parents(db, panel.name)]
        derived = shared_slots(panel, parents, settings, lambda ask: wire.encode(ask, model))
        found.checked["shared slots"] += len(stored)
    for slot in sorted(set(stored) | set(derived)):
        found.expect(
            stored.get(slot) == derived.get(slot),
            f"{slot}: is planned to share the response to {stored.get(slot)}, but {derived.get(slot)} follows",
        )


def _exchanges(db: sqlite3.Connection, found: Verification) -> None:
    """Sends belong to slots, are recorded once, and add up to the stored totals."""
    found.differences += exchanges.unexplained(db)
    orphans, twice = exchanges.orphans(db), exchanges.repeated_attempts(db)
    found.expect(orphans == 0, f"{orphans} exchanges belong to no slot")
    found.expect(twice == 0, f"{twice} attempts are recorded twice")
    total, models = Spend(), Counter[str]()
    for sent, model in exchanges.weights(db):
        found.checked["exchanges"] += 1
        total.add(weigh(sent))
        if model is not None and sent.origin is None and sent.state == "ok":
            models[model] += 1
    values = journal.run_values(db)
    stored = from_run(values)
    found.expect(total == stored, f"the stored totals of requests, tokens and money are {stored}, the exchanges say {total}")
    counted = Counter[str](orjson.loads(values.get("models") or "{}"))
    found.expect(counted == models, f"the stored counts of returned models are {dict(counted)}, the exchanges say {dict(models)}")


@dataclass(slots=True)
class _Replay:
    """The parents of one panel, each program fed with the recorded answers."""

    db: sqlite3.Connection
    dialect: Dialect
    model: str
    panel: Panel
    settings: Settings
    found: Verification
    counters: Counter[CounterKey]
    earlier_version: bool

    def parent(self, row: ParentRow) -> None:
        """Derive one parent's requests, answers and outcomes, and compare them with what is stored."""
        program = ParentProgram(self.panel.name, self.panel.arms, row.parent, self.settings)
        slots = reader.slots_of(self.db, row)
        name = f"{self.panel.name}/{row.parent.id}"
        self.found.expect(set(self.panel.slots(row.planned)) == set(slots), f"{name}: the planned slots are not those of the panel")
        asked: dict[Slot, bytes] = {}

        def recorded(slot: Slot, ask: Ask) -> Reply | None:
            asked[slot] = self.dialect.encode(ask, self.model)
            return self._recorded(slots[slot], ask, asked[slot]) if slot in slots else None

        if self.panel.prepare is None or row.frozen is not None:
            drive(program, recorded)
        for problem in problems(self.panel, asked):
            self.found.differences.append(f"{name}: {problem}")
        self._states(program, slots, asked)
        self._outcomes(program, row)

    def _recorded(self, row: SlotRow, ask: Ask, body: bytes) -> Reply | None:
        """Check every send of this slot against the derived request; returns how the slot ended, None while it is open."""
        sends = exchanges.sends_of(self.db, row.id)
        if row.share_of is not None:
            self.found.expect(not sends, f"{row.slot}: was sent, though it receives the response to another request")
            sends = self._received(row, row.share_of)
        for sent in sends:
            self.found.checked["requests"] += 1
            self.found.expect(
                sent.request == body, f"{row.slot}: the request that was sent (attempt {sent.attempt}) is not the one that follows"
            )
            self.found.expect(
                sent.body_sha256 == body_hash(sent.request) and sent.content_sha256 == content_hash(sent.request),
                f"{row.slot}: a stored hash is not that of the stored request",
            )
        if row.state not in ("ok", "error", "unknown"):
            self.found.expect(row.state in ("planned", "sent", "reserved"), f"{row.slot}: is {row.state}, but its arm asks for it")
            return None
        deciding = next((sent for sent in sends if sent.id == row.exchange), None)
        if deciding is None:
            self.found.differences.append(f"{row.slot}: is {row.state} without an exchange")
            return None
        answer = self._answer(row, deciding, ask)
        return Reply(answer) if answer is not None else Reply.failed(row.state, deciding.message)

    def _received(self, row: SlotRow, owner: int) -> list[ExchangeRow]:
        """The deciding exchange of the slot whose response this one receives: both must have ended alike."""
        state, number = reader.end_of(self.db, owner)
        if row.state in TERMINAL:
            self.found.expect(
                (row.state, row.exchange) == (state, number), f"{row.slot}: did not end like the slot whose response it receives"
            )
        return [exchanges.exchange(self.db, number)] if number is not None and row.exchange == number else []

    def _answer(self, row: SlotRow, sent: ExchangeRow, ask: Ask) -> Answer | None:
        """The recorded response, read again; None where the slot rightly has no answer."""
        if row.state == "unknown":
            self.found.expect(sent.state == "unknown", f"{row.slot}: is unknown, but its exchange is {sent.state}")
            return None
        answer = reason = None
        if sent.response is not None and sent.state in ("ok", "malformed"):
            self.found.checked["responses"] += 1
            try:
                answer = self.dialect.decode(ask, sent.response)
            except Malformed as malformed:
                reason = str(malformed)
        if row.state != "ok":
            self.found.expect(answer is None, f"{row.slot}: is an error, but its response can be read")
            return None
        self.found.expect(answer is not None and sent.state == "ok", f"{row.slot}: is ok, but its response cannot be read: {reason}")
        if answer is not None:
            recorded = (sent.model, sent.input_tokens, sent.output_tokens)
            derived = (answer.model, answer.input_tokens, answer.output_tokens)
            self.found.expect(recorded == derived, f"{row.slot}: the stored model or usage is not that of the response")
            for stored, derived_name in ((sent.response_id, answer.response_id), (sent.system_fingerprint, answer.system_fingerprint)):
                # schema 1 did not keep them
                self.found.expect(
                    stored == derived_name or (self.earlier_version and stored is None),
                    f"{row.slot}: the stored id or fingerprint is not that of the response",
                )
        return answer

    def _states(self, program: ParentProgram, slots: Mapping[Slot, SlotRow], asked: Mapping[Slot, bytes]) -> None:
        for slot, row in slots.items():
            if slot not in asked:
                expected = program.skipped.get(slot, "planned")
                self.found.expect(row.state == expected, f"{slot}: is {row.state}, but {expected} follows")
        for row in slots.values():
            self.counters[row.slot.panel, row.parent.parent.domain, row.parent.parent.length, row.slot.arm, row.state] += 1

    def _outcomes(self, program: ParentProgram, row: ParentRow) -> None:
        stored = {o.key: o for o in reader.outcomes_of(self.db, row.id)}
        derived = {o.key: o for o in program.outcomes}
        place = (self.panel.name, row.parent.domain, row.parent.length)
        name = f"{self.panel.name}/{row.parent.id}"
        for key in sorted(set(stored) | set(derived)):
            self.found.checked["outcomes"] += 1
            self.found.expect(stored.get(key) == derived.get(key), f"{name}/{key[0]}: the stored outcome does not follow from its answers")
            if key in stored:
                self.counters[*place, key[0], outcome_counter(stored[key])] += 1
        self.found.expect(row.closed == program.closed, f"{name}: is marked {'closed' if row.closed else 'open'}, which does not follow")
        expected = self.panel.transition(program.outcomes) if program.closed else None
        self.found.expect(row.transition == expected, f"{name}: transition {row.transition}, but {expected} follows")
        if row.transition is not None:
            self.counters[*place, "", transition_counter(row.transition)] += 1
