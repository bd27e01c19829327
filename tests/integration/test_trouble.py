"""What the machine and the person do to a run: a full disk, a folder that cannot be written, two runners, Ctrl-C, control.json."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.cli import c2s, run_words, start
from support.runs import rows, states
from support.server import Action, Server

from c2s.ledger import sqlite
from c2s.ledger.directory import RunDirectory
from c2s.runner.control import write_command
from c2s.verification import verify


def one_line(text: str) -> str:
    """The last line of talk, which must be a message of c2s and no traceback."""
    assert "Traceback" not in text
    line = text.strip().splitlines()[-1]
    assert line.startswith("c2s: "), text
    return line


def wait_for(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 600 KB."""
    path = tmp_path / "disk"
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(path)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def settled(server, out: Path) -> None:
    """Nothing was sent twice, and what is recorded follows."""
    assert max(server.processed().values(), default=1) == 1
    assert verify(out).differences == []


def test_a_full_disk_ends_with_one_line_and_an_intact_ledger(small_disk):
    out = small_disk / "run"
    with Server() as server:
        first = c2s(*run_words(server.url, out, limit=40))
        assert first.returncode == 2, first.stderr
        assert "the disk is full" in one_line(first.stderr) and f"c2s resume {out}" in one_line(first.stderr)
        found = verify(out)
        assert found.differences == [] and found.checked["requests"] > 0
        kept = dict(rows(RunDirectory.open(out), "SELECT state, count(*) FROM exchanges GROUP BY state"))
        subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
        last = c2s("resume", out)
        assert last.returncode in (0, 1), last.stderr
        settled(server, out)
        assert states(RunDirectory.open(out)).get("unknown", 0) <= 8 and kept["ok"] > 0


def test_a_file_that_may_not_grow_ends_with_one_line_and_an_intact_ledger(tmp_path):
    out = tmp_path / "run"
    with Server() as server:
        limit = 400_000
        first = c2s(*run_words(server.url, out, limit=40), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert first.returncode == 2, first.stderr
        assert "c2s resume" in one_line(first.stderr)
        assert verify(out).differences == []
        assert c2s("resume", out).returncode in (0, 1)
        settled(server, out)


def test_a_folder_that_cannot_be_written_is_refused(small_disk):
    made = small_disk / "run"
    with Server(lambda n, body: Action(429, b"quota_exceeded") if n > 5 else None) as server:
        assert c2s(*run_words(server.url, made, limit=2)).returncode == 130
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        new = c2s(*run_words(server.url, small_disk / "other", limit=2))
        assert new.returncode == 2 and "cannot create" in one_line(new.stderr)
        again = c2s("resume", made)
        assert again.returncode == 2 and "cannot write in" in one_line(again.stderr)
        status = c2s("status", made)
        assert status.returncode == 0 and "interrupted" in status.stdout
        assert verify(made).differences == []


def test_the_second_runner_is_refused_by_name(tmp_path):
    out = tmp_path / "run"
    with Server(delay=0.4) as server:
        first = start(*run_words(server.url, out, limit=8))
        wait_for(lambda: server.total > 3)
        second = c2s("resume", out)
        assert second.returncode == 2 and f"is being run by pid {first.pid}" in one_line(second.stderr)
        assert c2s("status", out).stdout.startswith(f"running by pid {first.pid}")
        first.communicate(timeout=60)
        assert first.returncode == 0
        settled(server, out)


def test_a_reader_that_holds_on_never_blocks_the_writer(tmp_path):
    """CASES.md 10: a terminal UI beside the runner, with a transaction that stays open."""
    out = tmp_path / "run"
    with Server(delay=0.1) as server:
        client = start(*run_words(server.url, out, limit=8))
        wait_for(lambda: server.total > 3)
        with sqlite.reading(out / "ledger.sqlite") as db:
            db.execute("BEGIN")
            before = db.execute("SELECT count(*) FROM exchanges").fetchone()
            client.communicate(timeout=60)
            assert client.returncode == 0
            assert db.execute("SELECT count(*) FROM exchanges").fetchone() == before  # its own moment, still
        settled(server, out)


def test_ctrl_c_once_waits_for_what_is_under_way_and_a_resume_completes(tmp_path):
    out = tmp_path / "run"
    with Server(delay=0.3) as server:
        client = start(*run_words(server.url, out, limit=8))
        wait_for(lambda: server.total >= 12)
        client.send_signal(signal.SIGINT)
        _, said = client.communicate(timeout=30)
        assert client.returncode == 130 and "c2s resume" in one_line(said) and "once more gives them up" in said
        run = RunDirectory.open(out)
        kept = states(run)
        assert set(kept) == {"ok", "planned"} and kept["ok"] == server.total
        server.delay = 0
        assert c2s("resume", out).returncode == 0
        assert set(server.received.values()) == {1}
        settled(server, out)


def test_ctrl_c_twice_gives_up_what_is_under_way_and_names_it_unknown(tmp_path):
    out = tmp_path / "run"
    with Server(lambda n, body: Action(kind="stall", seconds=30) if n > 10 else None) as server:
        client = start(*run_words(server.url, out, limit=8))
        wait_for(lambda: server.total >= 18)
        began = time.monotonic()
        client.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert client.poll() is None
        client.send_signal(signal.SIGINT)
        _, said = client.communicate(timeout=30)
        assert client.returncode == 130 and time.monotonic() - began < 5
        assert "c2s resume" in one_line(said)
        run = RunDirectory.open(out)
        assert states(run)["unknown"] == 8 and states(run)["ok"] == 10
        messages = {m for (m,) in rows(run, "SELECT message FROM exchanges WHERE state = 'unknown'")}
        assert messages == {"given up when the run was stopped"}
        server.behave = None
        assert c2s("resume", out).returncode == 1
        assert set(server.received.values()) == {1}
        settled(server, out)
        assert c2s("resume", out, "--replay-unknown").returncode == 0  # a stated act: those eight go out again
        assert sum(server.received.values()) == len(server.received) + 8
        assert verify(out).differences == []
        assert any("put back to be sent again" in m for (m,) in rows(run, "SELECT message FROM events"))


def test_another_process_pauses_continues_and_stops_a_run(tmp_path):
    out = tmp_path / "run"
    with Server(delay=0.2) as server:
        client = start(*run_words(server.url, out, limit=30))
        wait_for(lambda: server.total > 5)
        assert c2s("pause", out).returncode == 0
        wait_for(lambda: "phase: paused" in c2s("status", out).stdout)
        seen = server.total
        time.sleep(0.6)
        assert server.total == seen
        write_command(out, "go")
        wait_for(lambda: server.total > seen)
        (out / "control.json").write_text('{"command": "rm -rf"}')
        time.sleep(0.5)
        assert c2s("stop", out).returncode == 0
        _, said = client.communicate(timeout=30)
        assert client.returncode == 130 and "stopped by c2s stop" in said
        messages = [m for (m,) in rows(RunDirectory.open(out), "SELECT message FROM events ORDER BY id")]
        assert "paused by c2s pause" in messages and "continued by c2s go" in messages
        assert any("holds none of the commands" in m for m in messages)
        assert c2s("pause", out).returncode == 2
        server.delay = 0
        assert c2s("resume", out).returncode == 0  # the old command is dropped
        settled(server, out)


def test_a_control_file_that_is_no_file_does_not_hold_the_runner(tmp_path):
    out = tmp_path / "run"
    with Server(delay=0.01) as server:
        client = start(*run_words(server.url, out, limit=10))
        wait_for(lambda: server.total > 5)
        os.mkfifo(out / "control.json")
        client.communicate(timeout=60)
        assert client.returncode == 0
        settled(server, out)


def test_a_killed_run_counts_what_was_sent_and_a_stopped_free_run_gives_it_up(tmp_path):
    """A killed runner has nothing under way. A model that is free to ask is not waited for, and the message says so."""
    out = tmp_path / "run"
    slow = ("--model", "sim:positions?delay_ms=20000", "--concurrency", "1", "--domain", "math", "--limit", "2", "--out", str(out))
    client = start("run", *slow)
    wait_for(lambda: out.exists() and "under way, without an answer yet" in c2s("status", out).stdout)
    wait_for(lambda: states(RunDirectory.open(out)).get("sent") == 1)
    client.kill()
    client.communicate(timeout=30)
    told = c2s("status", out).stdout
    assert "out: sent, without an answer;" in told and "under way" not in told.split("out:")[1].splitlines()[0]
    client = start("resume", out)
    wait_for(lambda: "running" in c2s("status", out).stdout)
    wait_for(lambda: states(RunDirectory.open(out)).get("sent") == 1)
    time.sleep(0.5)
    began = time.monotonic()
    client.send_signal(signal.SIGINT)
    _, said = client.communicate(timeout=30)
    assert client.returncode == 130 and time.monotonic() - began < 5
    assert "free ones are asked again on resume" in said
    assert set(states(RunDirectory.open(out))) == {"planned"}
