"""Death at every state transition, in process: what was sent is never sent again, and the end is that of a run that lived."""

from __future__ import annotations

import contextlib
import gc
from collections import Counter

import pytest
from support.runs import drive, make_run, rows, server_model, states
from support.server import Action, Server

from c2s.ledger.writer import LedgerWriter
from c2s.runner.workers import Threads
from c2s.verification import verify


class Killed(BaseException):
    """Stands for the end of the process: nothing in c2s may catch it and go on."""


POINTS = {
    "before a send is noted": (LedgerWriter, "begin_exchange", "before"),
    "after a send is noted": (LedgerWriter, "begin_exchange", "after"),
    "before a commit": (LedgerWriter, "commit", "before"),
    "after a commit": (LedgerWriter, "commit", "after"),
    "before a batch leaves": (Threads, "submit", "before"),
    "after a batch left": (Threads, "submit", "after"),
    "before answers are taken in": (Threads, "results", "before"),
    "after answers are taken in": (Threads, "results", "after"),
    "before a send is ended": (LedgerWriter, "end_exchange", "before"),
    "after a send is ended": (LedgerWriter, "end_exchange", "after"),
    "before a slot's state": (LedgerWriter, "set_state", "before"),
    "after a slot's state": (LedgerWriter, "set_state", "after"),
    "before an outcome": (LedgerWriter, "add_outcome", "before"),
    "after an outcome": (LedgerWriter, "add_outcome", "after"),
    "before a parent closes": (LedgerWriter, "close_parent", "before"),
    "after a parent closes": (LedgerWriter, "close_parent", "after"),
}


def die_at(monkeypatch, point: str, nth: int) -> None:
    owner, name, when = POINTS[point]
    original = getattr(owner, name)
    calls = Counter()

    def patched(self, *args, **named):
        calls["n"] += 1
        if when == "before" and calls["n"] == nth:
            raise Killed
        result = original(self, *args, **named)
        if when == "after" and calls["n"] == nth:
            raise Killed
        return result

    monkeypatch.setattr(owner, name, patched)


def die_inside_commit(monkeypatch, nth: int) -> None:
    """Between the statements of one transaction."""
    import c2s.ledger.writer as module

    calls = Counter()
    original = module.write_counters

    def patched(db, deltas):
        calls["n"] += 1
        original(db, deltas)
        if calls["n"] == nth:
            raise Killed

    monkeypatch.setattr(module, "write_counters", patched)


def killed_run(path, server, monkeypatch, point, nth, *, resend):
    model = "systemone:jev-1.13.0" + ("?resend=safe" if resend == "safe" else "")
    backend = server_model(server.url, concurrency=4, model=model)
    run = make_run(path / "killed", backend)
    with monkeypatch.context() as patch:
        if point == "inside a commit":
            die_inside_commit(patch, nth)
        else:
            die_at(patch, point, nth)
        with contextlib.suppress(Killed):
            drive(run, backend)
        gc.collect()
    drive(run, backend, report=True)
    backend.close()
    return run


def lost_bodies(run) -> set[bytes]:
    """Requests of slots that ended unknown, by their exact bytes."""
    return {body for (body,) in rows(run, "SELECT request FROM exchanges e JOIN slots s ON s.exchange = e.id WHERE s.state = 'unknown'")}


def living_run(tmp_path, server, lost: set[bytes], *, resend):
    """An uninterrupted run in which exactly these requests get no answer."""
    server.behave = lambda n, body: Action(kind="reset") if body in lost else None
    model = "systemone:jev-1.13.0" + ("?resend=safe" if resend == "safe" else "")
    backend = server_model(server.url, concurrency=4, model=model)
    run = make_run(tmp_path / "living", backend)
    drive(run, backend)
    backend.close()
    return run


def check(tmp_path, server, run, *, resend) -> None:
    assert set(states(run)) <= {"ok", "unknown", "blocked"}
    sent = dict(rows(run, "SELECT body_sha256, count(*) FROM exchanges GROUP BY body_sha256"))
    if resend == "paid":
        assert max(server.processed().values()) == 1, "a request was sent twice"
        assert all(server.received[body] <= n for body, n in sent.items()) and set(server.received) <= set(sent)
    found = verify(run.path)
    assert found.differences == []
    living = living_run(tmp_path, server, lost_bodies(run), resend=resend)
    assert living.report_path.read_bytes() == run.report_path.read_bytes()
    assert states(living) == states(run)


@pytest.mark.parametrize("nth", [1, 9, 23])
@pytest.mark.parametrize("point", [*POINTS, "inside a commit"])
def test_a_paid_run_that_dies_anywhere_sends_nothing_twice(memory_path, monkeypatch, point, nth):
    with Server() as server:
        run = killed_run(memory_path, server, monkeypatch, point, nth, resend="paid")
        assert len(lost_bodies(run)) <= 4  # no more than were under way
        check(memory_path, server, run, resend="paid")


@pytest.mark.parametrize("nth", [17])
@pytest.mark.parametrize("point", [*POINTS, "inside a commit"])
def test_a_safe_run_that_dies_anywhere_ends_with_the_same_report(memory_path, monkeypatch, point, nth):
    with Server() as server:
        run = killed_run(memory_path, server, monkeypatch, point, nth, resend="safe")
        assert lost_bodies(run) == set()
        check(memory_path, server, run, resend="safe")


def test_a_refusal_that_was_not_yet_written_down_is_unknown_and_a_written_one_goes_out_again(memory_path, monkeypatch):
    """A 429 says that the request was not processed; only a recorded one may be acted on."""
    busy = {3, 4, 5, 20}
    with Server(lambda n, body: Action(429, b"{}", {"retry-after": "0"}) if n in busy else None) as server:
        run = killed_run(memory_path, server, monkeypatch, "before a send is ended", 12, resend="paid")
        check(memory_path, server, run, resend="paid")
        assert dict(rows(run, "SELECT state, count(*) FROM exchanges GROUP BY state"))["not_processed"] >= 3
