"""Run directories for the tests of the terminal UI, and an app over them with a clock that stands still."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from c2s_tui.app import TuiApp
from support.synthetic import EPOCH, Shape, synthesise

from c2s.cli import main
from c2s.ledger.directory import RunDirectory

NOW = EPOCH + 80.0


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`good`: a real run by the runner, arithmetic items only. `part`: a generated one with errors and requests under way.

    `other`: the items of `part` answered otherwise.
    """
    root = tmp_path_factory.mktemp("made")
    model = "sim:positions?p=0.85&seed=5"
    assert main(["run", "--model", model, "--domain", "math", "--limit", "30", "--out", str(root / "good"), "--json"]) == 0
    _fix_run_id(root / "good")
    synthesise(root / "part", Shape(400, undefined=0.05, settled=0.6, in_flight=4, rate=20.0))
    synthesise(root / "other", Shape(400, settled=1.0, rate=20.0, answers=1, model="sim:random"))
    return root


def _fix_run_id(path: Path) -> None:
    """Reports name the run's id, which is drawn anew for every run; here it is always the same."""
    run = RunDirectory(path)
    manifest, _ = run.manifest()
    manifest["provenance"]["run_id"] = "0123456789abcdef"
    digest = run.write_manifest(manifest)
    db = sqlite3.connect(run.ledger_path)
    db.execute("UPDATE run SET value = ? WHERE key = 'manifest_sha256'", (digest,))
    db.commit()
    db.close()


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the runs at `runs` of the working directory, with fixed times, in a zone without summer."""
    shutil.copytree(made, tmp_path / "runs")
    _fix_times(tmp_path / "runs/good/ledger.sqlite")
    for age, name in ((1800, "good"), (1200, "other"), (600, "part")):
        for file in (tmp_path / "runs" / name).iterdir():
            os.utime(file, (NOW - age, NOW - age))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    return Path("runs")


def _fix_times(ledger: Path) -> None:
    """The runner's own times, replaced: a tenth of a second between sends."""
    db = sqlite3.connect(ledger)
    db.execute("UPDATE exchanges SET sent_at = ? + id / 10.0, done_at = ? + id / 10.0 + 0.05", (EPOCH, EPOCH))
    db.commit()
    db.close()


@pytest.fixture
def app_of(root: Path) -> Callable[..., TuiApp]:
    """Makes an app over the runs; `run` names the one that is opened."""

    def make(run: str | None = None, **named) -> TuiApp:
        path = None if run is None else root / run
        return TuiApp(root, path, clock=lambda: NOW, export_folder=Path("."), **named)

    return make


@pytest.fixture
def runner_of(root: Path) -> Iterator[Callable[[str], None]]:
    """Holds a run's lock, as a runner with a pid and a host of its own would."""
    held = []

    def hold(run: str) -> None:
        file = open(root / run / "runner.lock", "w")  # noqa: SIM115  the lock lasts as long as the file is open
        fcntl.flock(file, fcntl.LOCK_EX)
        json.dump({"pid": 4242, "host": "node"}, file)
        file.flush()
        held.append(file)

    yield hold
    for file in held:
        file.close()
