"""CASES.md, identity, resume and cost: each fault that a peer had, as a run of ours."""

from __future__ import annotations

import contextlib
import gc
import time
from dataclasses import replace

import orjson
import pytest
from support.panels import Listed
from support.runs import Stopping, count_of, drive, events, make_run, rows, server_model, spend_of, states
from support.server import Action, Server

from c2s.backends.scripted import Scripted
from c2s.controllers.program import Arm
from c2s.errors import UsageError
from c2s.ledger.writer import LedgerWriter
from c2s.panels.base import Panel
from c2s.panels.choice.main import MAIN
from c2s.presentation.encode import body_hash, content_hash, encode
from c2s.records import Ask, Outcome, Parent, Question, Request
from c2s.reports.build import build
from c2s.runner.policy import Policy
from c2s.runner.reuse import Reuse
from c2s.settings import Inputs, Settings
from c2s.spending.budget import Budget
from c2s.spending.prices import Price
from c2s.verification import verify

JEV = Price(0.042, 0)


class Killed(BaseException):
    pass


def test_case_1_killed_after_36_then_2_more_then_resumed(memory_path, monkeypatch):
    """The last leg sends exactly the requests of the nine parents left; statistics, tokens and cost equal an uninterrupted run's."""

    def leg(run, backend, closed: int | None) -> None:
        original = LedgerWriter.commit

        def commit(self):
            original(self)
            if closed is not None and self.connection.execute("SELECT sum(closed) FROM parents").fetchone()[0] == closed:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(LedgerWriter, "commit", commit)
            with contextlib.suppress(Killed):
                drive(run, backend, budget=Budget(JEV), report=closed is None)
        gc.collect()

    with Server() as server:
        backend = server_model(server.url, concurrency=1)
        run = make_run(memory_path / "killed", backend, limit=47)
        leg(run, backend, 36)
        leg(run, backend, 38)
        assert [n for (n,) in rows(run, "SELECT sum(closed) FROM parents")] == [38]
        kept = dict(rows(run, "SELECT id, request FROM exchanges WHERE state = 'ok'"))
        left = rows(run, "SELECT count(*) FROM slots s JOIN parents p ON p.id = s.parent WHERE closed = 0")[0][0]
        before = server.total
        leg(run, backend, None)
        assert (
            server.total - before
            == left
            == rows(run, "SELECT count(*) FROM slots s JOIN parents p ON p.id = s.parent WHERE p.id > 38")[0][0]
        )
        assert set(server.received.values()) == {1}
        assert kept.items() <= dict(rows(run, "SELECT id, request FROM exchanges")).items()
        whole = make_run(memory_path / "whole", backend, limit=47)
        drive(whole, backend, budget=Budget(JEV))
        assert whole.report_path.read_bytes() == run.report_path.read_bytes()
        assert spend_of(whole) == spend_of(run) and spend_of(run).settled_nano > 0
        assert verify(run.path).differences == [] == verify(whole.path).differences
        backend.close()


def test_case_2_reuse_copies_answers_with_provenance_whatever_the_order(memory_path):
    with Server() as server:
        backend = server_model(server.url)
        ten = make_run(memory_path / "ten", backend, limit=10)
        drive(ten, backend, budget=Budget(JEV))
        first = server.total
        more = make_run(memory_path / "more", backend, limit=14)
        with Reuse(str(ten.path), backend) as reuse:
            drive(more, backend, reuse=reuse, budget=Budget(JEV))
            assert reuse.copied == first
        run_id = ten.manifest()[0]["provenance"]["run_id"]
        origins = {o for (o,) in rows(more, "SELECT origin FROM exchanges WHERE origin IS NOT NULL")}
        assert len(origins) == first and all(origin.startswith(f"{run_id}/") for origin in origins)
        assert set(server.received.values()) == {1}
        there, here = spend_of(ten), spend_of(more)
        assert here.reused == first and here.sends == server.total - first and there.sends == first  # paid once, counted once
        backwards = replace(MAIN, source=Listed(reversed(MAIN.source.parents(Settings(domain="math", limit=14), Inputs()))))
        other = make_run(memory_path / "backwards", backend, limit=14, panels=(backwards,))
        before = server.total
        with Reuse(str(more.path), backend) as reuse:
            drive(other, backend, panels=(backwards,), reuse=reuse, report=False)
        assert server.total == before  # another order of parents changes no identity
        by_slot = (
            "SELECT p.parent, arm, replicate, step, body_sha256, response FROM slots s"
            " JOIN exchanges e ON e.id = s.exchange JOIN parents p ON p.id = s.parent ORDER BY 1, 2, 3, 4"
        )
        assert rows(other, by_slot) == rows(more, by_slot)
        backend.close()


def test_case_2_one_id_in_two_domains_is_refused(memory_path):
    twice = replace(
        MAIN,
        source=Listed([Parent("x", d, 3, {"target": "585", "candidates": ["585"], "problem": ""}) for d in ("math", "lexical")]),
    )
    backend = Scripted("script:x", lambda call: "585")
    with pytest.raises(UsageError, match="panel main has two parents named 'x', in math and lexical"):
        make_run(memory_path / "run", backend, panels=(twice,))


def test_case_3_nothing_is_reused_from_another_model_or_setting(memory_path):
    with Server() as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "first", backend, limit=2)
        drive(run, backend)
        for other in (
            server_model(server.url, model="systemone:jev-1.14.0"),
            server_model(server.url + "/elsewhere"),
            server_model(server.url, model="chat:jev-1.13.0"),
            server_model(server.url, model="chat:jev-1.13.0?thinking=off"),
        ):
            with pytest.raises(UsageError, match="nothing can be reused"):
                Reuse(str(run.path), other)
            other.close()
        backend.close()


def test_case_4_two_identical_requests_are_two_calls_and_two_records(memory_path):
    def once(parent, ctx):
        (answer,) = yield [Ask(1, Request(parent.id, {"answer": Question("q", {"a": None, "b": None})}))]
        return Outcome("", output=answer.choice().taken(), correct=True)

    arms = (Arm("random", once, lambda p: (1,), replicates=2),)
    made = [Parent(f"s{n}", "math", 1, {"target": "a", "candidates": ["a"]}) for n in range(6)]
    panel = Panel("pairs", "pairs", arms, Listed(made), schedule="hash:20261007154")
    with Server() as server:
        backend = server_model(server.url, concurrency=1)
        run = make_run(memory_path / "run", backend, panels=(panel,), settings={"domain": None, "limit": None})
        drive(run, backend, panels=(panel,), report=False)
        assert server.total == 12 and set(server.received.values()) == {2}
        assert rows(run, "SELECT count(*), count(DISTINCT slot), count(DISTINCT body_sha256) FROM exchanges") == [(12, 12, 6)]
        first = rows(run, "SELECT replicate FROM slots s JOIN exchanges e ON e.slot = s.id GROUP BY s.parent HAVING e.id = min(e.id)")
        assert {replicate for (replicate,) in first} == {0, 1}  # some repeats left first; replicate 0 stays the primary
        backend.close()


def test_case_5_another_key_order_is_another_request_with_the_same_content():
    one, other = (
        encode({"state": {"a": 1, "b": 2}, "questions": {"y": 1, "x": 2}}),
        encode({"state": {"b": 2, "a": 1}, "questions": {"x": 2, "y": 1}}),
    )
    assert body_hash(one) != body_hash(other) and content_hash(one) == content_hash(other)
    assert content_hash(one) != content_hash(encode({"state": {"a": 1, "b": 3}, "questions": {"y": 1, "x": 2}}))


def test_case_6_an_answer_after_our_time_out_is_unknown_and_never_sent_again_by_itself(memory_path):
    late = {5, 11}
    with Server(lambda n, body: Action(seconds=1.0) if n in late else None) as server:
        backend = server_model(server.url, timeout=0.4)
        run = make_run(memory_path / "run", backend, limit=3)
        drive(run, backend, budget=Budget(JEV))
        assert states(run)["unknown"] == 2 and count_of(run, "state")["unknown"] == 2
        sent = server.total
        time.sleep(1.0)  # the server has answered them all by now
        drive(run, backend)
        assert server.total == sent and set(server.received.values()) == {1}
        held = rows(run, "SELECT reserved_usd, cost_usd FROM exchanges WHERE state = 'unknown'")
        assert all(reserved > 0 and cost is None for reserved, cost in held) and spend_of(run).held_nano > 0
        report = build([run.path]).as_dict()
        assert report["requests"]["unknown"] == 2
        assert verify(run.path).differences == []
        backend.close()


def test_case_7_a_refusal_or_a_transport_failure_is_never_scored(memory_path):
    def behave(n, body):
        if n % 7 == 0:
            return Action(500, b'{"error":"internal"}')
        return Action(kind="reset") if n % 11 == 0 else Action(429, b"{}", {"retry-after": "0"}) if n % 5 == 0 else None

    with Server(behave) as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "run", backend, limit=12)
        drive(run, backend)
        kept = states(run)
        assert kept["error"] > 5 and kept["unknown"] > 3 and kept["blocked"] > 0 and "planned" not in kept
        scored = rows(
            run,
            "SELECT count(*) FROM outcomes o WHERE status = 'ok' AND EXISTS (SELECT 1 FROM slots s WHERE s.parent = o.parent AND s.arm = "
            "o.arm AND s.state <> 'ok')",
        )
        assert scored == [(0,)]
        undefined = rows(run, "SELECT correct, output FROM outcomes WHERE status = 'undefined'")
        assert undefined and set(undefined) == {(None, None)}
        report = build([run.path]).as_dict()
        for state in ("error", "unknown", "blocked"):
            assert report["requests"][state] == kept[state]
        transitions = dict(rows(run, "SELECT transition, count(*) FROM parents GROUP BY 1"))
        assert transitions["undefined"] > 0 and sum(transitions.values()) == 12  # pairs drop as pairs
        assert verify(run.path).differences == []
        backend.close()


def test_case_8_malformed_is_final_unless_asked_and_every_attempt_is_counted_once(memory_path):
    bad = Action(body=orjson.dumps({"model": "jev-1.13.0", "answers": {}, "usage": {"input_tokens": 70, "output_tokens": 1}}))
    with Server(lambda n, body: bad if n == 3 else None) as server:
        backend = server_model(server.url, concurrency=1)
        run = make_run(memory_path / "final", backend, limit=1)
        drive(run, backend, budget=Budget(JEV))
        assert states(run)["error"] == 1 and count_of(run, "state")["malformed"] == 1 and set(server.received.values()) == {1}
        assert spend_of(run).input_tokens == 70 + 100 * (server.total - 1)  # what it used is counted all the same
        server.behave = lambda n, body: None
        drive(run, backend, errors=True, budget=Budget(JEV))  # a stated act
        assert set(states(run)) == {"ok"} and verify(run.path).differences == []
        backend.close()
    chosen = []

    def twice(n, body):
        if n == 3:
            chosen.append(body)
        return bad if [body] == chosen and server.received[body_hash(body)] <= 2 else None

    with Server(twice) as server:
        backend = server_model(server.url, concurrency=1)
        run = make_run(memory_path / "again", backend, limit=2)

        stop = Stopping(lambda tally: sum(tally.transitions.values()) > 0)  # after one parent
        first = drive(run, backend, policy=Policy(retry_malformed=2), budget=Budget(JEV), watch=stop)
        assert not first.finished
        spent_first = spend_of(run)
        attempts = rows(
            run, "SELECT attempt, state FROM exchanges WHERE slot = (SELECT slot FROM exchanges WHERE attempt = 3) ORDER BY attempt"
        )
        assert attempts == [(1, "malformed"), (2, "malformed"), (3, "ok")]
        assert spent_first.input_tokens == 2 * 70 + 100 * (spent_first.sends - 2)
        drive(run, backend, budget=Budget(JEV))
        spent = spend_of(run)
        assert spent.sends == server.total and spent.input_tokens == 2 * 70 + 100 * (spent.sends - 2)
        assert spent.sends > spent_first.sends  # spent in the first sitting and spent in all differ
        assert spent.settled_nano == sum(round(c * 1e9) for (c,) in rows(run, "SELECT cost_usd FROM exchanges"))
        assert verify(run.path).differences == []
        backend.close()


@pytest.mark.parametrize(
    ("header", "at_least", "at_most"), [("1", 1.0, 3.0), ("0", 0.0, 1.0), ("abc", 0.2, 2.0), ("-1", 0.2, 2.0), ("1e400", 0.2, 2.0)]
)
def test_case_9_never_sooner_than_asked(memory_path, header, at_least, at_most):
    refused = []

    def behave(n, body):
        if n == 4:
            refused.append(time.monotonic())
            return Action(429, b"{}", {"retry-after": header})
        return None

    with Server(behave) as server:
        backend = server_model(server.url, concurrency=1)
        run = make_run(memory_path / "run", backend, limit=1)
        assert drive(run, backend).finished
        following = min(t for t in server.times if t > refused[0])
        assert at_least <= following - refused[0] <= at_most
        assert max(server.received.values()) == 2 and count_of(run, "state")["not_processed"] == 1
        assert verify(run.path).differences == []
        backend.close()


def test_case_9_a_wait_above_the_cap_pauses_the_whole_endpoint_and_says_so(memory_path):
    with Server(lambda n, body: Action(429, b"{}", {"retry-after": "600"}) if n == 4 else None) as server:
        backend = server_model(server.url, concurrency=4)
        run = make_run(memory_path / "run", backend, limit=4)
        seen = []

        def waits(tally):
            seen.extend([tally.phase] if tally.phase.startswith("waiting") else [])
            return bool(seen)

        assert not drive(run, backend, watch=Stopping(waits)).finished
        assert seen and server.total <= 8
        assert any("asks for a pause of 600 s: nothing leaves before that" in event for event in events(run))
        assert "unknown" not in states(run)
        backend.close()


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (
            Action(429, b'{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}'),
            "the provider's quota is used up",
        ),
        (Action(402, b'{"error":"pay first"}'), "the provider's quota is used up"),
        (Action(401, b'{"detail":{"error_type":"authentication_error","message":"bad key"}}'), "the server refuses the key or its use"),
        (Action(429, b"{}", {"retry-after": "100000"}), "the server asks for a pause of 100000 s"),
    ],
)
def test_case_9_exhausted_quota_and_a_refused_key_stop_the_run_resumably(memory_path, action, said):
    with Server(lambda n, body: action if n > 20 else None) as server:
        backend = server_model(server.url)
        run = make_run(memory_path / "run", backend, limit=4)
        runner = drive(run, backend)
        assert not runner.finished and said in runner.reason
        kept = states(run)
        assert set(kept) == {"ok", "planned"} and kept["ok"] == 20  # not one error: the fault is none of the requests'
        assert server.total <= 20 + 8
        server.behave = None
        assert drive(run, backend).finished and set(states(run)) == {"ok"}
        assert max(server.processed().values()) == 1 and verify(run.path).differences == []
        backend.close()
