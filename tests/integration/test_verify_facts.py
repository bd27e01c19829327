"""What verify and the readers say of runs whose manifest, report or ledger was altered."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.runs import drive, make_run, server_model
from support.server import Server

from c2s.cli import main
from c2s.reports.build import as_json, build
from c2s.reports.earlier import differences
from c2s.verification import verify

SCHEMA_1 = Path(__file__).parents[1] / "data/schema1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Server() as server:
        backend = server_model(server.url)
        run = make_run(tmp_path_factory.mktemp("made") / "run", backend)
        drive(run, backend)
        backend.close()
    assert verify(run.path).differences == []
    return run.path


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "run")


def parts(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all keys and rows; not of reasons and notes, which are texts."""
    if isinstance(document, dict | list):
        for key, value in document.items() if isinstance(document, dict) else enumerate(document):
            if key == "undefined" and value and "by_length" not in path[-3:] and "domains" not in path[-2:]:
                continue
            yield (*path, key)
            if key not in ("undefined", "notes"):
                yield from parts(value, (*path, key))


@pytest.mark.parametrize("name", ["main", "studies"])
def test_no_part_of_an_earlier_report_can_be_deleted_unseen(name: str):
    old = orjson.loads((SCHEMA_1 / name / "report.json").read_bytes())
    new = orjson.loads(as_json(build([SCHEMA_1 / name])))
    assert differences(old, new) == []
    unseen = []
    for path in parts(old):
        changed: Any = copy.copy(old)
        at = changed
        for key in path[:-1]:
            at[key] = copy.copy(at[key])
            at = at[key]
        del at[path[-1]]
        try:
            if not differences(changed, new):
                unseen.append(path)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            pass  # verify names it as a report without the form of an earlier one
    assert unseen == []


@pytest.mark.parametrize("report", ['{"runs": []}', '{"panels": {}}', "{}"])
def test_a_report_that_contains_nothing_is_a_difference(report: str, run: Path, tmp_path: Path):
    old = shutil.copytree(SCHEMA_1 / "main", tmp_path / "old")
    for path in (run, old):
        (path / "report.json").write_text(report)
        assert verify(path).differences != []


def test_a_new_run_has_no_report_of_the_earlier_format(run: Path):
    found = json.loads((run / "report.json").read_bytes())
    del found["format"]
    (run / "report.json").write_text(json.dumps(found))
    assert verify(run).differences == ["report.json does not follow from the outcomes"]


@pytest.mark.parametrize(
    "change, said",
    [
        ("DELETE FROM arms WHERE arm = 'serial'", "stored arms"),
        ("INSERT INTO arms VALUES ('main', 'ghost', 99, '{}')", "stored arms"),
        ("UPDATE arms SET ordinal = -ordinal", "stored arms"),
        ("UPDATE arms SET factors = '{}'", "stored factors"),
        ("UPDATE arms SET factors = '{'", "stored factors"),
        ("INSERT INTO observations VALUES ('main', 'serial', 'odd', 3, NULL)", "1 observations"),
        ("UPDATE slots SET shard = 1 WHERE id = 1", "1 slots with a shard"),
        ("UPDATE exchanges SET endpoint = 'x' WHERE id = 1", "1 exchanges"),
        ("UPDATE exchanges SET shard = 0 WHERE id = 2", "1 exchanges"),
        ("UPDATE exchanges SET response_id = CASE WHEN response_id IS NULL THEN 'x' END", "id or fingerprint"),
        ("UPDATE exchanges SET system_fingerprint = 'x'", "id or fingerprint"),
    ],
)
def test_the_facts_of_schema_2_are_checked(change: str, said: str, run: Path):
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute(change)
    db.close()
    assert any(said in sentence for sentence in verify(run).differences)


MEMBERS = {
    "identity": ["panels", "asked", "model", "settings", "items_sha256", "dialect", "wire_model", "fingerprint", "contracts_sha256"],
    "provenance": ["run_id", "backend_options", "price", "reuse_from", "plugins", "versions"],
}


def write(run: Path, manifest: Any) -> None:
    """A manifest that the ledger knows, so that only its form can be refused."""
    data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    (run / "manifest.json").write_bytes(data)
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("UPDATE run SET value = ? WHERE key = 'manifest_sha256'", (hashlib.sha256(data).hexdigest(),))
    db.close()


def refused(run: Path, capsys: pytest.CaptureFixture[str], said: str) -> None:
    for command in ("status", "report", "verify"):
        assert main([command, str(run)]) != 0
        err = capsys.readouterr().err
        assert said in err and "unexpected" not in err and "Traceback" not in err, (command, err)


@pytest.mark.parametrize("value", [7, [3], True])
@pytest.mark.parametrize("part, member", [(part, member) for part, members in MEMBERS.items() for member in [None, *members]])
def test_a_member_of_the_wrong_type_is_named(part: str, member: str | None, value: Any, run: Path, capsys: pytest.CaptureFixture[str]):
    manifest = json.loads((run / "manifest.json").read_bytes())
    if member is None:
        manifest[part] = value
    else:
        manifest[part][member] = value
    write(run, manifest)
    refused(run, capsys, f"is damaged: {part if member is None else f'{part}.{member}'} is no ")


@pytest.mark.parametrize("depth", [200, 900, 100_000])
def test_a_very_deep_manifest_is_damaged(depth: int, run: Path, capsys: pytest.CaptureFixture[str]):
    text = (run / "manifest.json").read_text()
    assert text.startswith("{")
    write(run, ('{"more": ' + "[" * depth + "]" * depth + "," + text[1:]).encode())
    refused(run, capsys, "is damaged: it ")
