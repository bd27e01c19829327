"""Derive everything in a run directory again, from the frozen items and the recorded bytes, and compare.

What is checked: the manifest's hash, every frozen item, the plan, every request byte for byte, every reading of a
response, every outcome, transition and counter, and the stored report.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from c2s.controllers.program import ParentProgram
from c2s.dialects import Dialect, Malformed, dialect
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.ledger.schema import TERMINAL
from c2s.ledger.totals import Sent, Spend, from_run, weigh
from c2s.ledger.writer import ExchangeRow, ParentRow, SlotRow, outcome_key
from c2s.panels.base import Panel
from c2s.panels.registry import PANELS, panel
from c2s.planning.member_order import problems
from c2s.planning.plan import items_digest, shared_slots
from c2s.presentation.encode import body_hash, content_hash
from c2s.presentation.texts import contracts_sha256
from c2s.records import Answer, Ask, Slot
from c2s.reports import earlier
from c2s.reports.build import as_json, build
from c2s.settings import Settings


@dataclass(slots=True)
class Verification:
    """What was checked, how many requests are still open, every difference as a sentence, and `notes`: what could not be compared."""

    checked: Counter[str] = field(default_factory=Counter)
    open: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def expect(self, same: bool, message: str) -> None:
        if not same:
            self.differences.append(message)


def verify(path: Path | str) -> Verification:
    """Verify a run directory, finished or not. Raises LedgerError if it cannot be read at all."""
    run = RunDirectory.open(path)
    manifest, digest = run.manifest()
    identity = manifest["identity"]
    found = Verification()
    with sqlite.reading(run.ledger_path) as db:
        (sound,) = db.execute("PRAGMA quick_check(1)").fetchone()
        found.expect(sound == "ok", f"the database file is damaged: {sound}")
        found.expect(reader.run_values(db).get("manifest_sha256") == digest, "the manifest is not the one that the ledger was planned with")
        found.expect(identity["contracts_sha256"] == contracts_sha256(), "the run was planned with other request texts than this c2s has")
        absent = {name: why for name in identity["panels"] if (why := PANELS.missing(name, manifest["provenance"])) is not None}
        if found.differences or not _items(db, identity, absent, found):
            return found  # nothing can be derived from a plan that is not the one that was run
        wire = dialect(identity["dialect"])
        counters: Counter[tuple[str, str, int, str, str]] = Counter()
        for name in (name for name in identity["panels"] if name not in absent):
            _additions(db, panel(name), Settings.from_dict(identity["settings"]), found)
            _shares(db, wire, panel(name), identity, found)
            for parent in reader.parents(db, name):
                try:
                    _Replay(db, wire, panel(name), identity, found, counters).parent(parent)
                except Exception as error:  # altered data can be anything; what an arm cannot work with does not follow from the plan
                    found.differences.append(f"{name}/{parent.parent.id}: cannot be derived: {type(error).__name__}: {error}")
        stored = Counter({(c.panel, c.domain, c.length, c.arm, c.key): c.n for c in reader.counts(db) if c.panel not in absent})
        for key in sorted(set(stored) | set(counters)):
            found.expect(
                stored[key] == counters[key], f"counter {' '.join(map(str, key))} says {stored[key]}, the rows say {counters[key]}"
            )
        _exchanges(db, found)
        found.open = reader.requests_by_state(reader.counts(db))["open"]
    found.differences += [f"a panel was not checked: {why}" for why in absent.values()]
    if run.report_path.exists() and absent:
        found.notes.append("report.json was not compared: it holds a panel that is missing here")
    elif run.report_path.exists():
        _report(run, found)
    return found


def _report(run: RunDirectory, found: Verification) -> None:
    """The stored report must be the one that follows; one of the earlier format must have the same figures."""
    found.checked["report"] += 1
    stored, derived = run.report_path.read_bytes(), as_json(build([run.path]))
    if stored == derived:
        return
    try:
        document = orjson.loads(stored)
        if not isinstance(document, dict) or "format" in document:
            raise ValueError
        found.differences += [
            f"report.json (earlier format): {sentence}" for sentence in earlier.differences(document, orjson.loads(derived))
        ]
    except (ValueError, LookupError, TypeError, AttributeError):  # anything may stand in a file
        found.differences.append("report.json does not follow from the outcomes")


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
        except Exception as error:  # the source of a package may fail in any way
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


def _shares(db: sqlite3.Connection, wire: Dialect, panel: Panel, identity: Mapping[str, Any], found: Verification) -> None:
    """Who receives whose response must follow from the first-round requests."""
    stored, derived = dict(reader.shared(db, panel.name)), {}
    if panel.share:
        parents = [row.planned for row in reader.parents(db, panel.name)]
        derived = shared_slots(
            panel, parents, Settings.from_dict(identity["settings"]), lambda ask: wire.encode(ask, identity["wire_model"])
        )
        found.checked["shared slots"] += len(stored)
    for slot in sorted(set(stored) | set(derived)):
        found.expect(
            stored.get(slot) == derived.get(slot),
            f"{slot}: is planned to share the response to {stored.get(slot)}, but {derived.get(slot)} follows",
        )


def _exchanges(db: sqlite3.Connection, found: Verification) -> None:
    orphans = db.execute("SELECT count(*) FROM exchanges e LEFT JOIN slots s ON s.id = e.slot WHERE s.id IS NULL").fetchone()[0]
    found.expect(orphans == 0, f"{orphans} exchanges belong to no slot")
    twice = db.execute("SELECT count(*) FROM (SELECT 1 FROM exchanges GROUP BY slot, attempt HAVING count(*) > 1)").fetchone()[0]
    found.expect(twice == 0, f"{twice} attempts are recorded twice")
    total, models = Spend(), Counter()
    columns = "state, origin, input_tokens, output_tokens, reserved_usd, cost_usd, model"
    for state, origin, input_tokens, output_tokens, reserved_usd, cost_usd, model in db.execute(f"SELECT {columns} FROM exchanges"):
        found.checked["exchanges"] += 1
        total.add(weigh(Sent(state, origin, input_tokens, output_tokens, reserved_usd, cost_usd)))
        models[model] += origin is None and state == "ok"
    del models[None]
    values = reader.run_values(db)
    found.expect(
        total == from_run(values), f"the stored totals of requests, tokens and money are {from_run(values)}, the exchanges say {total}"
    )
    stored = Counter(orjson.loads(values.get("models") or "{}"))
    found.expect(stored == +models, f"the stored counts of returned models are {dict(stored)}, the exchanges say {dict(+models)}")


@dataclass(slots=True)
class _Replay:
    """One parent's program fed with the recorded answers."""

    db: sqlite3.Connection
    dialect: Dialect
    panel: Panel
    identity: Mapping[str, Any]
    found: Verification
    counters: Counter[tuple[str, str, int, str, str]]

    def parent(self, row: ParentRow) -> None:
        program = ParentProgram(self.panel.name, self.panel.arms, row.parent, Settings.from_dict(self.identity["settings"]))
        slots = reader.slots_of(self.db, row)
        self.found.expect(
            set(self.panel.slots(row.planned)) == set(slots),
            f"{self.panel.name}/{row.parent.id}: the planned slots are not those of the panel",
        )
        asked: dict[Slot, bytes] = {}
        unprepared = self.panel.prepare is not None and row.frozen is None
        waiting = [] if unprepared else program.start()
        while waiting:
            slot, ask = waiting.pop()
            asked[slot] = self.dialect.encode(ask, self.identity["wire_model"])
            if slot in slots:
                waiting += self._answer(program, slots[slot], ask, asked[slot])
        for problem in problems(self.panel, asked):
            self.found.differences.append(f"{self.panel.name}/{row.parent.id}: {problem}")
        self._states(program, slots, asked)
        self._outcomes(program, row, slots)

    def _answer(self, program: ParentProgram, row: SlotRow, ask: Ask, body: bytes) -> list[tuple[Slot, Ask]]:
        """Check every send of this slot against the derived request; give the deciding answer to the program."""
        own = [n for (n,) in self.db.execute("SELECT id FROM exchanges WHERE slot = ? ORDER BY attempt", (row.id,))]
        if row.share_of is not None:
            self.found.expect(not own, f"{row.slot}: was sent, though it receives the response to another request")
            own = self._owners(row)
        sends = [reader.exchange(self.db, n) for n in own]
        for sent in sends:
            self.found.checked["requests"] += 1
            self.found.expect(
                sent.request == body, f"{row.slot}: the request that was sent (attempt {sent.attempt}) is not the one that follows"
            )
            self.found.expect(
                sent.body_sha256 == body_hash(sent.request) and sent.content_sha256 == content_hash(sent.request),
                f"{row.slot}: a stored hash is not that of the stored request",
            )
        deciding = next((sent for sent in sends if sent.id == row.exchange), None)
        if row.state not in ("ok", "error", "unknown"):
            self.found.expect(row.state in ("planned", "sent", "reserved"), f"{row.slot}: is {row.state}, but its arm asks for it")
            return []
        if deciding is None:
            self.found.differences.append(f"{row.slot}: is {row.state} without an exchange")
            return []
        answer = self._read(row, deciding, ask)
        if answer is not None:
            return program.receive(row.slot, answer)
        return program.receive(row.slot, None, f"{row.state}: {deciding.message}")

    def _owners(self, row: SlotRow) -> list[int]:
        """The deciding exchange of the slot whose response this one receives: both must have ended alike."""
        state, exchange = self.db.execute("SELECT state, exchange FROM slots WHERE id = ?", (row.share_of,)).fetchone()
        if row.state in TERMINAL:
            self.found.expect(
                (row.state, row.exchange) == (state, exchange), f"{row.slot}: did not end like the slot whose response it receives"
            )
        return [exchange] if row.exchange == exchange and exchange is not None else []

    def _read(self, row: SlotRow, sent: ExchangeRow, ask: Ask) -> Answer | None:
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
        if row.state == "ok":
            self.found.expect(answer is not None and sent.state == "ok", f"{row.slot}: is ok, but its response does not read: {reason}")
            if answer is not None:
                recorded = (sent.model, sent.input_tokens, sent.output_tokens)
                derived = (answer.model, answer.input_tokens, answer.output_tokens)
                self.found.expect(recorded == derived, f"{row.slot}: the stored model or usage is not that of the response")
            return answer
        self.found.expect(answer is None, f"{row.slot}: is an error, but its response reads")
        return None

    def _states(self, program: ParentProgram, slots: dict[Slot, SlotRow], asked: Mapping[Slot, bytes]) -> None:
        for slot, row in slots.items():
            if slot not in asked:
                expected = program.skipped.get(slot, "planned")
                self.found.expect(row.state == expected, f"{slot}: is {row.state}, but {expected} follows")
        for row in slots.values():
            self.counters[row.slot.panel, row.parent.parent.domain, row.parent.parent.length, row.slot.arm, row.state] += 1

    def _outcomes(self, program: ParentProgram, row: ParentRow, slots: dict[Slot, SlotRow]) -> None:
        stored = {o.key: o for o in reader.outcomes_of(self.db, row.id)}
        derived = {o.key: o for o in program.outcomes}
        place = (self.panel.name, row.parent.domain, row.parent.length)
        name = f"{self.panel.name}/{row.parent.id}"
        for key in sorted(set(stored) | set(derived)):
            self.found.checked["outcomes"] += 1
            self.found.expect(stored.get(key) == derived.get(key), f"{name}/{key[0]}: the stored outcome does not follow from its answers")
            if key in stored:
                self.counters[*place, key[0], f"outcome:{outcome_key(stored[key])}"] += 1
        self.found.expect(row.closed == program.closed, f"{name}: is marked {'closed' if row.closed else 'open'}, which does not follow")
        (transition,) = self.db.execute("SELECT transition FROM parents WHERE id = ?", (row.id,)).fetchone()
        expected = self.panel.transition(program.outcomes) if program.closed else None
        self.found.expect(transition == expected, f"{name}: transition {transition}, but {expected} follows")
        if transition is not None:
            self.counters[*place, "", f"transition:{transition}"] += 1
