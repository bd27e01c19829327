"""Real SIGKILLs at requests drawn at random, 312 requests, then resumes until the end (CASES.md 1 and 6)."""

from __future__ import annotations

import random
import signal
import threading
import time

import pytest
from support.cli import c2s, run_words, start
from support.runs import rows, states
from support.server import Action, Server

from c2s.verification import verify


class Killer:
    """Kills the client at the n-th request that the server sees: before its answer leaves, or a little after."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.client = None
        self.at = 0

    def arm(self, client, seen: int) -> None:
        self.client = client
        self.at = seen + self.random.randrange(1, 40)

    def __call__(self, n: int, body: bytes) -> Action | None:
        client = self.client
        if client is not None and n >= self.at:
            self.client = None
            if self.random.random() < 0.5:
                client.send_signal(signal.SIGKILL)
            else:
                threading.Timer(self.random.random() * 0.02, client.send_signal, (signal.SIGKILL,)).start()
        return None


def many_kills(path, server, seed: int, kills: int, model: str) -> int:
    """Run and resume under fire; returns how many sittings were killed before the run was done."""
    killer = Killer(seed)
    server.behave = killer
    out, done = path / "killed", 0
    words = run_words(server.url, out, model=model)
    for _ in range(kills):
        client = start(*words)
        killer.arm(client, server.total)
        client.communicate(timeout=60)
        if client.returncode != -signal.SIGKILL:
            break
        done += 1
        if (out / "ledger.sqlite").exists():
            words = ["resume", out]
    killer.client = None
    last = c2s("resume", out)
    assert last.returncode in (0, 1), last.stderr
    return done


def check(path, server, model: str) -> None:
    out = path / "killed"
    from c2s.ledger.directory import RunDirectory

    run = RunDirectory.open(out)
    assert verify(out).differences == []
    assert not set(states(run)) - {"ok", "unknown", "blocked"}
    if "safe" in model:
        assert set(states(run)) == {"ok"}
        lost = set()
    else:
        assert max(server.processed().values()) == 1, "a request was sent twice"
        sent = dict(rows(run, "SELECT body_sha256, count(*) FROM exchanges GROUP BY 1"))
        assert set(server.received) <= set(sent) and max(sent.values()) == 1
        lost = {body for (body,) in rows(run, "SELECT request FROM exchanges WHERE state = 'unknown'")}
        assert len(sent) - len(server.received) <= len(lost)  # what was noted and never left is unknown too
    server.behave = lambda n, body: Action(kind="reset") if body in lost else None
    living = c2s(*run_words(server.url, path / "living", "--stop-after-errors", 0, model=model))
    assert living.returncode in (0, 1), living.stderr
    assert (path / "living" / "report.json").read_bytes() == (out / "report.json").read_bytes()


@pytest.mark.parametrize(
    ("seed", "model"), [(1, "systemone:jev-1.13.0"), (2, "systemone:jev-1.13.0"), (3, "systemone:jev-1.13.0?resend=safe")]
)
def test_twenty_kills(memory_path, seed, model):
    with Server(delay=0.001) as server:
        kills = many_kills(memory_path, server, seed, 7, model)
        assert kills == 7
        check(memory_path, server, model)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 30))
def test_two_hundred_kills(memory_path, seed):
    model = "systemone:jev-1.13.0" + ("?resend=safe" if seed % 4 == 0 else "")
    with Server(delay=0.001) as server:
        assert many_kills(memory_path, server, seed, 10, model) >= 5
        check(memory_path, server, model)


def test_an_interrupted_simulation_gives_the_same_report_byte_for_byte(tmp_path):
    """CASES.md 1, for a model in process: killed at random times, three times, then resumed."""
    model, rng = "sim:positions?p=0.7&seed=5&delay_ms=3", random.Random(7)
    whole = c2s("run", "--model", model, "--domain", "math", "--limit", 47, "--out", tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    words = ["run", "--model", model, "--domain", "math", "--limit", 47, "--out", tmp_path / "killed"]
    for _ in range(3):
        client = start(*words)
        while not (tmp_path / "killed" / "ledger.sqlite").exists():
            time.sleep(0.01)
        time.sleep(0.05 + rng.random() * 0.15)
        client.send_signal(signal.SIGKILL)
        client.communicate(timeout=60)
        words = ["resume", tmp_path / "killed"]
    assert c2s(*words).returncode == 0
    assert (tmp_path / "killed" / "report.json").read_bytes() == (tmp_path / "whole" / "report.json").read_bytes()
    assert verify(tmp_path / "killed").differences == []
