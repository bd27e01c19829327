"""Pace and money of hosted models: absent and busy servers, caps, reservations, rates, and answers that cannot be taken in."""

from __future__ import annotations

import shutil

import pytest
from support.runs import count_of, drive, events, make_run, rows, server_model, spend_of, states
from support.server import Action, Server

from c2s.backends.base import Exchange
from c2s.runner.pace import Limits
from c2s.runner.policy import Policy
from c2s.spending.budget import Budget, Cap
from c2s.spending.prices import Price
from c2s.verification import verify

JEV = Price(0.042, 0)


def test_an_absent_server_stops_the_run_without_an_error_and_a_resume_completes_it(memory_path):
    with Server() as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "run", backend, limit=2)
        gone = server_model("http://127.0.0.1:9")
        gone_run = make_run(memory_path / "gone", gone, limit=2)
        runner = drive(gone_run, gone, limits=Limits(workers=8, first_contact=1.0))
        assert not runner.finished and "out of reach" in runner.reason and set(states(gone_run)) == {"planned"}
        assert set(count_of(gone_run, "state")) == {"not_processed"} and rows(gone_run, "SELECT count(*) FROM exchanges")[0][0] < 30
        assert drive(run, backend).finished
        backend.close()
        gone.close()


def test_an_outage_in_the_middle_is_waited_for(memory_path):
    with Server() as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "run", backend, limit=4)
        calls = {"n": 0}
        original = type(backend).call

        def flaky(self, batch):
            calls["n"] += 1
            if 20 < calls["n"] <= 32:
                yield Exchange("not_processed", message="no connection: ConnectError refused", cause="connect")
            else:
                yield from original(self, batch)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(backend), "call", flaky)
            assert drive(run, backend, policy=Policy(retries=2)).finished
        assert set(states(run)) == {"ok"} and count_of(run, "state")["not_processed"] == 12
        assert set(server.received.values()) == {1}
        backend.close()


def test_no_retries_means_that_each_request_is_attempted_once(memory_path):
    with Server(lambda n, body: Action(429, b"{}", {"retry-after": "0"}) if n % 4 == 0 else None) as server:
        backend = server_model(server.url, concurrency=2)
        run = make_run(memory_path / "run", backend, limit=4)
        drive(run, backend, policy=Policy(retries=0, stop_after_errors=0))
        assert set(server.received.values()) == {1} and states(run)["error"] > 3
        assert rows(run, "SELECT max(attempt) FROM exchanges") == [(1,)]
        backend.close()


def test_a_cap_stops_before_it_is_passed_and_a_higher_one_goes_on(memory_path):
    price = Price(1000.0, 0)
    with Server() as server:
        backend = server_model(server.url, concurrency=4)
        run = make_run(memory_path / "run", backend, limit=6)
        runner = drive(run, backend, budget=Budget(price, [Cap("on this run", 3.0, "--cap")]))
        assert not runner.finished and "the cap of $3 on this run leaves no room" in runner.reason and "--cap" in runner.reason
        spent = spend_of(run)
        assert spent.usd <= 3.0 and spent.usd > 2.5 and spent.held_nano == 0 and set(states(run)) == {"ok", "planned"}
        assert any("stopping: the cap" in event for event in events(run))
        assert not drive(run, backend, budget=Budget(price, [Cap("on this run", 4.0, "--cap")])).finished
        assert 3.5 < spend_of(run).usd <= 4.0
        assert drive(run, backend, budget=Budget(price, [Cap("on this run", 1e6, "--cap")])).finished
        assert set(server.received.values()) == {1} and verify(run.path).differences == []
        backend.close()


@pytest.mark.parametrize("usage", [None, {"input_tokens": 0, "output_tokens": 0}, {}, {"input_tokens": -5}, {"input_tokens": "many"}])
def test_usage_that_is_absent_or_zero_keeps_its_reservation(memory_path, usage):
    with Server(lambda n, body: Action(usage=usage)) as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "run", backend, limit=1)
        drive(run, backend, budget=Budget(Price(1.0, 0)))
        spent = spend_of(run)
        assert spent.settled_nano == 0 and spent.held_nano > 0 and spent.unreported == server.total
        assert rows(run, "SELECT DISTINCT input_tokens, cost_usd FROM exchanges") == [(None, None)]
        backend.close()


def test_the_providers_own_price_is_taken_where_it_names_one(memory_path):
    with Server(lambda n, body: Action(usage={"input_tokens": 100, "output_tokens": 2, "cost": 0.25})) as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "run", backend, limit=1)
        drive(run, backend)
        assert spend_of(run).settled_nano == server.total * 250_000_000
        backend.close()


def test_rates_hold_on_the_server_side(memory_path):
    with Server() as server:
        backend = server_model(server.url, concurrency=8)
        run = make_run(memory_path / "run", backend, limit=2)
        drive(run, backend, limits=Limits(workers=8, starts_per_second=25))
        window = max(sum(1 for t in server.times if start <= t < start + 0.5) for start in server.times)
        assert window <= 25 * 0.5 + 4  # threads may start a little late
        assert server.times[-1] - server.times[0] >= 0.9 * (server.total - 1) / 25
        backend.close()


def test_busy_answers_slow_the_endpoint_down(memory_path):
    """A server that takes two at once: the number under way falls to what it bears, and everything is answered."""
    now = {"n": 0}

    def behave(n, body):
        if server._now > 2:
            return Action(429, b"{}", {"retry-after-ms": "20"})
        now["n"] += 1
        return Action(seconds=0.005)

    server = Server(behave)
    with server:
        backend = server_model(server.url, concurrency=16)
        run = make_run(memory_path / "run", backend, limit=6)
        assert drive(run, backend, policy=Policy(retries=200)).finished
        assert set(states(run)) == {"ok"} and max(server.processed().values()) == 1
        assert server.most_at_once <= 16
        assert verify(run.path).differences == []
        backend.close()


def test_a_run_moved_to_another_folder_is_the_same_run(memory_path):
    with Server() as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "here", backend, limit=1)
        drive(run, backend)
        shutil.move(run.path, memory_path / "there")
        assert verify(memory_path / "there").differences == []
        backend.close()


def test_an_answer_that_cannot_be_taken_in_does_not_take_the_others_with_it(memory_path, monkeypatch):
    """The ledger refuses one settlement among many answers: the run ends with its error, and all the others are on the disk."""
    from c2s.errors import LedgerError
    from c2s.runner.parents import Parents

    calls = {"n": 0}
    original = Parents.answered

    def answered(self, waiting, reply):
        calls["n"] += 1
        if calls["n"] == 21:
            raise LedgerError("the disk is gone for a moment")
        original(self, waiting, reply)

    with Server(delay=0.02) as server:
        backend = server_model(server.url, concurrency=8)
        run = make_run(memory_path / "run", backend, limit=6)
        with monkeypatch.context() as patch:
            patch.setattr(Parents, "answered", answered)
            with pytest.raises(LedgerError, match="for a moment"):
                drive(run, backend)
        found = states(run)
        assert set(found) == {"ok", "planned"} and found["ok"] == server.total > 20
        assert drive(run, backend).finished and set(states(run)) == {"ok"}
        assert set(server.received.values()) == {1} and verify(run.path).differences == []
        backend.close()
