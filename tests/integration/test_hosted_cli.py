"""`c2s plan`, `c2s doctor`, caps and prices on the command line."""

from __future__ import annotations

import json

from support.cli import c2s, run_words
from support.runs import rows
from support.server import Action, Server

from c2s.ledger.directory import RunDirectory

PRICES = '["jev-1.13.0"]\ninput = 1000\noutput = 0\n'


def test_plan_says_requests_tokens_and_money_and_sends_nothing(tmp_path):
    with Server() as server:
        words = ["plan", "--model", "systemone:jev-1.13.0", "--base-url", server.url, "--domain", "math", "--limit", 6, "--rate", 2]
        text, found = c2s(*words), c2s(*words, "--json")
        assert text.returncode == 0, text.stderr
        document = json.loads(found.stdout)
        out = tmp_path / "run"
        assert c2s(*run_words(server.url, out, limit=6)).returncode == 0
        size, count = rows(RunDirectory.open(out), "SELECT sum(length(request)), count(*) FROM exchanges")[0]
        assert document["requests"] == count and document["seconds_at_least"] == count / 2
        (panel,) = document["panels"]
        assert panel["panel"] == "main" and panel["sampled"] == count and abs(panel["request_bytes"] - size) < 0.01 * size
        assert abs(document["usd_expected"] - size / 4 * 0.042e-6) < 0.02 * document["usd_expected"] < document["usd_reserved"]
        assert f"at most {count} requests" in text.stdout and "USD 0.0" in text.stdout and "one token for every 4 bytes" in text.stdout
        assert server.total == count  # planning sent nothing


def test_plan_without_a_price_says_how_to_give_one():
    found = c2s("plan", "--model", "systemone:nameless", "--base-url", "http://127.0.0.1:9", "--domain", "math", "--limit", 1)
    assert found.returncode == 0 and "no price is known for nameless: give one with --prices FILE" in found.stdout
    refused = c2s(
        "run",
        "--model",
        "systemone:nameless",
        "--base-url",
        "http://127.0.0.1:9",
        "--domain",
        "math",
        "--limit",
        1,
        "--cap",
        1,
        "--out",
        "/nowhere",
    )
    assert refused.returncode == 2 and "no price is known for 'nameless'" in refused.stderr


def test_a_cap_stops_with_130_and_resume_with_a_higher_cap_goes_on(tmp_path):
    prices, out = tmp_path / "prices.toml", tmp_path / "run"
    prices.write_text(PRICES)
    with Server() as server:
        first = c2s(*run_words(server.url, out, "--prices", prices, "--cap", 2, limit=4))
        assert first.returncode == 130 and "interrupted: the cap of $2 on this run" in first.stderr
        status = json.loads(c2s("status", out, "--json").stdout)
        assert status["state"] == "interrupted" and "the cap of $2" in status["stopped"] and 1 < status["spend"]["settled_usd"] <= 2
        again = c2s("resume", out)
        assert again.returncode == 130 and server.total == status["spend"]["sends"]  # not one more
        prices.write_text(PRICES.replace("1000", "1"))  # the tables may change; the run keeps its rate
        last = c2s("resume", out, "--cap", 1000)
        assert last.returncode == 0, last.stderr
        assert {cost for (cost,) in rows(RunDirectory.open(out), "SELECT DISTINCT cost_usd FROM exchanges")} == {0.1}
        assert set(server.received.values()) == {1}


def test_the_providers_cap_counts_the_other_runs_in_the_folder(tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    with Server() as server:
        first = c2s(*run_words(server.url, tmp_path / "runs" / "one", "--prices", prices, limit=1))
        assert first.returncode == 0
        spent = 0.1 * server.total
        words = run_words(server.url, tmp_path / "runs" / "two", "--prices", prices, "--provider-cap", spent + 1.0, limit=3)
        second = c2s(*words)
        assert second.returncode == 130 and "on this provider leaves no room" in second.stderr
        total = sum(json.loads(c2s("status", tmp_path / "runs" / name, "--json").stdout)["spend"]["settled_usd"] for name in ("one", "two"))
        assert spent + 0.5 < total <= spent + 1.0
        elsewhere = c2s(*run_words(server.url, tmp_path / "elsewhere", "--prices", prices, "--provider-cap", 100, limit=1))
        assert elsewhere.returncode == 0


def test_doctor_checks_this_machine():
    found = json.loads(c2s("doctor", "--json").stdout)
    states_of = {f["what"]: f["state"] for f in found["findings"]}
    assert found["sound"] and states_of["c2s"] == states_of["kernels"] == states_of["bank"] == "ok"
    assert {"torch", "sparrow_decider", "WordNet 3.0 (lexical items)"} <= set(states_of)


def test_doctor_takes_an_unknown_model_for_wrong_usage():
    found = c2s("doctor", "--model", "sparow")
    assert found.returncode == 2 and "did you mean sparrow" in found.stderr and found.stdout == ""


def test_doctor_reads_clock_and_retry_after():
    with Server(lambda n, body: Action(429, b"{}", {"retry-after": "7", "date": "Mon, 01 Jan 2001 00:00:00 GMT"})) as server:
        found = c2s("doctor", "--model", "systemone:jev-1.13.0", "--base-url", server.url, "--timeout", 5)
        assert found.returncode == 1
        assert "'7' is read as 7 s" in found.stdout and "set this machine's clock" in found.stdout and "lists jev-1.13.0" in found.stdout


def test_a_planning_that_was_interrupted_is_named(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text("{}")
    found = c2s("resume", tmp_path / "run")
    assert found.returncode == 2 and "before anything was sent" in found.stderr
