"""Run directories that commit eaca22a recorded with schema 1 stay readable, and can be finished (tests/data/schema1)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from c2s_tui import main as tui
from c2s_tui.data.compare import SideSpec, compare
from c2s_tui.data.filters import arm_pair
from c2s_tui.data.plan import read_plan
from c2s_tui.data.source import Source
from support import cli

from c2s.errors import LedgerError
from c2s.ledger import journal, migrations, reader, sqlite
from c2s.ledger.counters import counts
from c2s.ledger.directory import RunDirectory
from c2s.ledger.schema import VERSION
from c2s.ledger.writer import LedgerWriter
from c2s.reports.build import as_json, build

DATA = Path(__file__).parents[1] / "data" / "schema1"
RUNS = ("main", "studies", "interrupted")
WORDS = {"native_only": "lost", "serial_only": "gained"}
"""What two transitions are called since."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the runs with the file of their model, as the present folder."""
    copied = tmp_path / "schema1"
    shutil.copytree(DATA, copied)
    monkeypatch.chdir(copied)
    return copied


def expected_status(folder: Path, name: str) -> dict[str, Any]:
    """What `c2s status --json` of that commit printed, transitions in today's words."""
    found = json.loads((folder / f"{name}.expected-status.json").read_text())
    found["transitions"] = {domain: {WORDS.get(k, k): n for k, n in cell.items()} for domain, cell in found["transitions"].items()}
    return found


def c2s(*words: str) -> tuple[int, str, str]:
    done = cli.c2s(*words)
    return done.returncode, done.stdout, done.stderr


def version_of(path: Path) -> int:
    db = sqlite3.connect(path)
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.close()
    return version


def migrated(ledger: Path) -> None:
    """Bring a ledger to the present schema, as a resume does before anything else."""
    LedgerWriter(RunDirectory(ledger.parent), durable=True).close()


def everything(path: Path) -> dict[str, Any]:
    """All rows as a reader sees them."""
    with sqlite.reading(path) as db:
        found: dict[str, Any] = {"counts": counts(db), "values": journal.run_values(db)}
        panels = dict.fromkeys(count.panel for count in found["counts"])
        found["outcomes"] = {name: list(reader.outcomes(db, name)) for name in panels}
        found["shared"] = {name: reader.shared(db, name) for name in panels}
        rows = list(reader.parents(db))
        found["slots"] = [[(slot, row.state, row.exchange, row.attempts) for slot, row in reader.slots_of(db, p).items()] for p in rows]
        found["parents"] = rows
        for table in ("parents", "slots", "exchanges", "outcomes", "arms", "observations", "events", "items", "prepared"):
            cursor = db.execute(f"SELECT * FROM {table}")
            order = sorted(column[0] for column in cursor.description)
            names = [column[0] for column in cursor.description]
            found[table + " rows"] = sorted(repr([row[names.index(name)] for name in order]) for row in cursor)
    return found


@pytest.mark.parametrize("name", RUNS)
def test_status_and_verify_say_what_they_said(name: str, folder: Path):
    before = (folder / name / "ledger.sqlite").read_bytes()
    code, out, _ = c2s("status", "--json", name)
    later = {"missing": [], "manifest_altered": False}  # members that the earlier c2s did not have
    assert code == 0 and json.loads(out) == expected_status(folder, name) | later
    code, out, _err = c2s("verify", "--json", name)
    assert code == 0 and json.loads(out)["differences"] == []
    earlier = "report.json has an earlier format: each of its figures was compared with that of today's report"
    assert json.loads(out)["notes"] == ([earlier] if name != "interrupted" else [])
    assert (folder / name / "ledger.sqlite").read_bytes() == before, "readers never write"
    assert version_of(folder / name / "ledger.sqlite") == 1


def test_a_figure_of_an_earlier_report_that_was_changed_is_named(folder: Path):
    path = folder / "main" / "report.json"
    document = json.loads(path.read_text())
    document["panels"]["main"]["domains"]["math"]["joint"]["both"] += 1
    path.write_text(json.dumps(document))
    code, out, _ = c2s("verify", "--json", "main")
    (difference,) = json.loads(out)["differences"]
    assert code == 1 and difference.startswith("report.json: main, math: ")
    for damaged in ("[]", "{", '{"panels": {"main": 7}}'):
        path.write_text(damaged)
        code, out, err = c2s("verify", "main")
        assert code == 1 and "report.json" in err and "Traceback" not in err


@pytest.mark.parametrize("name", RUNS)
def test_every_screen_shows_them_as_it_shows_the_migrated_ledger(name: str, folder: Path, capsys: pytest.CaptureFixture[str]):
    path = folder / name / "ledger.sqlite"

    def shown() -> dict[str, str]:
        for other in RUNS:  # the list of runs shows all in the folder, with their ages
            os.utime(folder / other / "ledger.sqlite", (1_000_000_000, 1_000_000_000))
        screens = {}
        for screen in ("runs", "monitor", "items", "item", "compare", "report"):
            assert tui([name, "--once", "--screen", screen]) == 0
            screens[screen] = capsys.readouterr().out
        return screens

    before = shown()
    assert all("\x1b" not in text and len(text.splitlines()) > 2 for text in before.values())
    migrated(path)
    assert shown() == before


def test_a_run_of_schema_1_is_compared_with_a_migrated_copy(folder: Path):
    shutil.copytree("studies", "copy")
    path = folder / "copy" / "ledger.sqlite"
    migrated(path)
    sides = []
    for name in ("studies", "copy"):
        source = Source(folder / name)
        with source.read() as db:
            plan = read_plan(db, source.identity["panels"])
        sides.append(SideSpec(source, plan, arm_pair(plan, "history_recompute", "oracle")))
    for left, right in (sides, sides[::-1]):
        found = compare(left, right)
        assert (found.missing, found.differing, found.dropped) == (0, 0, 0) and len(found.codes) == 2
        assert found.matrix().sum() == found.matrix().trace() == 2


def test_turns_of_dialogues_are_turns(folder: Path):
    with sqlite.reading(folder / "studies" / "ledger.sqlite") as db:
        by_arm: dict[tuple[str, str], set[tuple[int, int]]] = {}
        for name in ("dialogue-construction", "dialogue-access", "judge-confirmation"):
            for _, outcome in reader.outcomes(db, name):
                by_arm.setdefault((name, outcome.arm), set()).add((outcome.replicate, outcome.turn))
    assert by_arm["dialogue-access", "oracle"] == {(0, turn) for turn in range(1, 7)}
    assert by_arm["dialogue-access", "rollout"] == {(0, 0)}
    assert by_arm["judge-confirmation", "final3.sorted.random_colon"] == {(0, 0), (1, 0)}


@pytest.mark.parametrize("name", RUNS)
def test_the_migrated_ledger_says_what_the_views_say(name: str, folder: Path):
    path = folder / name / "ledger.sqlite"
    before = everything(path)
    migrated(path)
    assert version_of(path) == VERSION and everything(path) == before
    code, out, _ = c2s("verify", "--json", name)
    assert code == 0 and json.loads(out)["differences"] == []


def test_a_migrated_ledger_has_the_columns_of_a_new_one(folder: Path, tmp_path: Path):
    old, new = folder / "studies" / "ledger.sqlite", tmp_path / "new.sqlite"
    migrated(old)
    sqlite.create(new).close()
    columns = []
    for path in (old, new):
        db = sqlite3.connect(path)
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        columns.append({table: db.execute(f"PRAGMA table_info({table})").fetchall() for table in tables})
        db.close()
    assert columns[0] == columns[1]


def test_a_migration_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    path = folder / "main" / "ledger.sqlite"
    before = everything(path)
    monkeypatch.setitem(migrations.MIGRATIONS, 1, migrations.MIGRATIONS[1] + "INSERT INTO no_such_table VALUES (1);")
    with pytest.raises(LedgerError, match="no such table"):
        LedgerWriter(RunDirectory(path.parent), durable=True)
    assert version_of(path) == 1 and everything(path) == before


KILLED_WHILE_MIGRATING = """
import os, signal, sys
from pathlib import Path
from c2s.ledger import sqlite

path, digest, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
migrate = sqlite.migrate

def killed(connection, version):
    seen = 0
    def trace(statement):
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
    connection.execute("PRAGMA cache_size=2")  # pages reach the disk before the transaction ends, as in a large ledger
    connection.set_trace_callback(trace)
    migrate(connection, version)

sqlite.migrate = killed
sqlite.open_writer(path, durable=False, manifest_sha256=digest).close()
"""


def test_a_kill_during_the_migration_leaves_the_old_ledger_or_the_new_one(folder: Path):
    """Before every statement of the migration: readers give the same report, and a migration afterwards is whole."""
    run = RunDirectory.open("main")
    digest, expected, killed = run.manifest()[1], as_json(build(["main"])), 0
    for number in range(1, 40):
        shutil.rmtree("main")
        shutil.copytree(DATA / "main", "main")
        done = subprocess.run([sys.executable, "-c", KILLED_WHILE_MIGRATING, "main/ledger.sqlite", digest, str(number)])
        assert as_json(build(["main"])) == expected, number
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        killed += 1
        sqlite.open_writer(run.ledger_path, durable=False, manifest_sha256=digest).close()
        assert as_json(build(["main"])) == expected, number
    assert killed > 10 and done.returncode == 0


def test_a_rollback_journal_that_a_killed_writer_left_is_read_through(folder: Path):
    """An earlier version migrated without a write-ahead log: what it had half written is rolled back in a reader's private copy."""
    digest, expected = RunDirectory.open("main").manifest()[1], as_json(build(["main"]))
    half = KILLED_WHILE_MIGRATING.replace("PRAGMA cache_size=2", "PRAGMA journal_mode=DELETE; PRAGMA cache_size=2").replace(
        "connection.execute(", "connection.executescript("
    )
    done = subprocess.run([sys.executable, "-c", half, "main/ledger.sqlite", digest, "12"])
    assert done.returncode == -signal.SIGKILL and Path("main/ledger.sqlite-journal").exists()
    assert as_json(build(["main"])) == expected


def test_a_ledger_that_is_held_locked_is_not_copied(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        sqlite, "_read_only", lambda path: sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, timeout=0.1)
    )
    holder = sqlite3.connect("main/ledger.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="is locked by another program"), sqlite.reading(Path("main/ledger.sqlite")):
        pass
    holder.close()


def test_a_ledger_beside_another_manifest_is_not_migrated(folder: Path):
    path = folder / "main" / "ledger.sqlite"
    before = path.read_bytes()
    shutil.copy(folder / "studies" / "manifest.json", folder / "main" / "manifest.json")
    code, _, err = c2s("resume", "main")
    assert code == 2 and "does not belong to the manifest beside it" in err and "nothing was changed" in err
    assert path.read_bytes() == before and version_of(path) == 1


def test_a_reader_that_is_overtaken_by_a_migration_gives_nothing(folder: Path):
    path = folder / "studies" / "ledger.sqlite"
    with pytest.raises(LedgerError, match="while it was read; read it again"), sqlite.reading(path) as db:
        assert len(list(reader.outcomes(db, "dialogue-access"))) > 0
        migrated(path)


def test_the_interrupted_run_is_finished(folder: Path):
    code, _, err = c2s("resume", "interrupted")
    assert code == 1, err  # records in error, as in the run that was not interrupted
    whole = expected_status(folder, "main")
    code, out, _ = c2s("status", "--json", "interrupted")
    finished = json.loads(out)
    for what in ("requests", "arms", "transitions", "models", "state"):
        assert finished[what] == whole[what]
    code, out, _ = c2s("verify", "--json", "interrupted")
    assert code == 0 and json.loads(out)["open"] == 0, out
    assert version_of(folder / "interrupted" / "ledger.sqlite") == VERSION


@pytest.mark.parametrize("number, said", [(0, "no c2s ever wrote one below 1"), (-3, "schema -3"), (99, "newer c2s")])
def test_a_schema_that_is_none_is_a_sentence(number: int, said: str, folder: Path):
    db = sqlite3.connect(folder / "main" / "ledger.sqlite")
    db.execute(f"PRAGMA user_version = {number}")
    db.close()
    for command in ("status", "report", "verify", "resume"):
        code, out, err = c2s(command, "main")
        assert code != 0 and out == "" and said in err and "Traceback" not in err
    with pytest.raises(LedgerError, match=said), sqlite.reading(RunDirectory("main").ledger_path):
        pass
