"""`openai:` and `chat:` end to end: a local server that answers in their protocols, a run, and a ledger that verifies."""

from __future__ import annotations

import hashlib
import math

import orjson
import pytest
from support.panels import Listed
from support.runs import drive, make_run, rows, states
from support.server import Action, Server

from c2s.backends.registry import open_model
from c2s.controllers.program import Arm
from c2s.errors import ArmError, InputError
from c2s.panels.base import Panel
from c2s.records import Ask, Outcome, Parent, Question, Request
from c2s.spending.budget import Budget
from c2s.spending.prices import Price
from c2s.verification import verify


def pick(options: list[str], key: bytes) -> str:
    return options[hashlib.sha256(key).digest()[0] % len(options)]


def chat(n: int, body: bytes) -> Action:
    """Direct text: mostly right in form, sometimes with whitespace, a sentence, nothing, or cut."""
    request = orjson.loads(body)
    user = orjson.loads(request["messages"][-1]["content"])
    if "choices" in user:
        codes = list(user["choices"])
        best = pick(codes, body)
        tokens = [{"token": c, "logprob": math.log(0.7 if c == best else 0.2 / len(codes))} for c in codes]
        choice = {
            "message": {"content": best},
            "finish_reason": "length",
            "logprobs": {"content": [{"token": best, "top_logprobs": tokens[:20]}]},
        }
    else:
        value = pick(user["allowed_values"], body)
        style = hashlib.sha256(body).digest()[1] % 8
        text = {0: value + "\n", 1: f"The answer is {value}.", 2: "", 3: "Well,"}.get(style, value)
        choice = {"message": {"content": text}, "finish_reason": "length" if style == 3 else "stop"}
    usage = {"prompt_tokens": 90, "completion_tokens": 2}
    named = {"id": f"chatcmpl-{n}", "model": "qwen", "system_fingerprint": "fp_7"}
    return Action(body=orjson.dumps(named | {"choices": [choice], "usage": usage}))


def verdicts(n: int, body: bytes) -> Action:
    request = orjson.loads(body)
    schema = request["text"]["format"]["schema"]
    values = {name: pick(field["enum"], body) for name, field in schema["properties"].items()}
    content = (
        [{"type": "refusal", "refusal": "no"}]
        if hashlib.sha256(body).digest()[1] % 10 == 0
        else [{"type": "output_text", "text": orjson.dumps(values).decode()}]
    )
    usage = {"input_tokens": 200, "input_tokens_details": {"cached_tokens": 50, "cache_write_tokens": 0}, "output_tokens": 40}
    return Action(
        body=orjson.dumps(
            {
                "id": f"resp_{n}",
                "model": "gpt-6-sol",
                "status": "completed",
                "output": [{"type": "message", "content": content}],
                "usage": usage,
            }
        ),
        headers={"x-request-id": f"req_{n}"},
    )


@pytest.mark.parametrize(
    ("model", "behave", "path"),
    [
        ("chat:qwen", chat, b"POST /v1/chat/completions HTTP/1.1"),
        ("chat:qwen?contract=code&thinking=off", chat, b"POST /v1/chat/completions HTTP/1.1"),
        ("openai:gpt-6-sol", verdicts, b"POST /v1/responses HTTP/1.1"),
    ],
)
def test_a_run_over_each_protocol_verifies(memory_path, model, behave, path):
    with Server(behave) as server:
        backend = open_model(model, {"base_url": server.url, "concurrency": 4})
        run = make_run(memory_path / "run", backend, limit=6)
        assert drive(run, backend, budget=Budget(Price(2, 10, cached=0.2, output_reserve=2048))).finished
        assert set(states(run)) == {"ok"} and set(server.received.values()) == {1}
        assert all(head.startswith(path) for head in server.heads)
        assert verify(run.path).differences == []
        assert rows(run, "SELECT count(*) FROM exchanges WHERE cost_usd IS NULL OR cost_usd <= 0 OR reserved_usd <= cost_usd") == [(0,)]
        assert rows(run, "SELECT count(DISTINCT response_id) FROM exchanges") == [(server.total,)]
        fingerprint = "fp_7" if model.startswith("chat") else None
        assert rows(run, "SELECT DISTINCT system_fingerprint, endpoint, shard FROM exchanges") == [(fingerprint, None, None)]
        kinds = {kind for (kind,) in rows(run, "SELECT DISTINCT kind FROM outcomes")}
        if model == "chat:qwen":
            assert kinds >= {"extra_text", "format_valid_wrong"} and kinds <= {
                "strict_correct",
                "truncated",
                "empty",
                "format_valid_wrong",
                "extra_text",
                "other_invalid",
            }
            details = [orjson.loads(d) for (d,) in rows(run, "SELECT detail FROM outcomes")]
            assert any(d["whitespace"] for d in details) and any(d["truncated"] for d in details)
        elif model.startswith("chat"):
            assert all(orjson.loads(d)["top"][0] > 0.5 for (d,) in rows(run, "SELECT detail FROM outcomes WHERE arm = 'native'"))
        else:
            assert rows(run, "SELECT count(DISTINCT headers ->> '$.x-request-id') FROM exchanges") == [(server.total,)]
        backend.close()


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        ("request", InputError, "1 to 26 options, not 27"),
        ("arm", ArmError, "panel many, parent s3: the arm x failed: ValueError: at fault"),
        ("exit", ArmError, "panel many, parent s3: the arm x failed: SystemExit: 0"),
    ],
)
def test_a_fault_in_the_middle_of_a_run_ends_it_and_loses_nothing_that_is_under_way(memory_path, fault, error, said):
    """A request that cannot be made (code readout takes 26 options at most), or an arm of another package that raises."""

    def program(parent, ctx):
        options = 27 if (parent.id, fault) == ("s6", "request") else 3
        (answer,) = yield [Ask(1, Request(parent.id, {"answer": Question("q", {f"o{n}": None for n in range(options)})}))]
        if (parent.id, fault) == ("s3", "arm"):
            raise ValueError("at fault")
        if (parent.id, fault) == ("s3", "exit"):
            raise SystemExit(0)
        return Outcome("", output=answer.choice().taken(), correct=True)

    made = [Parent(f"s{n}", "math", 1, {"target": "a", "candidates": ["a"]}) for n in range(9)]
    panel = Panel("many", "many", (Arm("x", program, lambda parent: (1,)),), Listed(made))
    with Server(chat, delay=0.2) as server:
        backend = open_model("chat:qwen?contract=code", {"base_url": server.url, "concurrency": 4})
        run = make_run(memory_path / "run", backend, panels=(panel,), settings={"domain": None, "limit": None})
        with pytest.raises(error, match=said):
            drive(run, backend, panels=(panel,), report=False)
        found = states(run)
        assert set(found) == {"ok", "planned"} and found["ok"] == server.total > 0 and set(server.received.values()) == {1}
        backend.close()


def test_both_presentations_reach_the_wire(memory_path):
    """The same judge question in two member orders: two requests, one content."""

    def arm(presentation):
        def program(parent, ctx):
            question = Question("Judge.", {"correct": "It matches.", "incorrect": "It differs."}, unit="label")
            state = {"question": "q", "trusted_reference": parent.id, "model_reply": "r"}
            (answer,) = yield [Ask(1, Request(state, {"verdict": question}), presentation=presentation)]
            return Outcome("", output=answer.choice("verdict").taken(), correct=True)

        return Arm(presentation, program, lambda parent: (1,))

    made = [Parent(f"s{n}", "math", 1, {"target": "a", "candidates": ["a"]}) for n in range(5)]
    panel = Panel(
        "judge",
        "judge",
        (arm("insertion"), arm("sorted")),
        Listed(made),
        schedule="hash:20261007154",
    )
    with Server() as server:
        backend = open_model("systemone:jev-1.13.0", {"base_url": server.url, "concurrency": 2})
        run = make_run(memory_path / "run", backend, panels=(panel,), settings={"domain": None, "limit": None})
        assert drive(run, backend, panels=(panel,), report=False).finished
        assert rows(run, "SELECT count(*), count(DISTINCT body_sha256), count(DISTINCT content_sha256) FROM exchanges") == [(10, 10, 5)]
        sorted_bodies = rows(run, "SELECT request FROM exchanges e JOIN slots s ON s.id = e.slot WHERE s.arm = 'sorted'")
        assert all(body.startswith(b'{"model":"jev-1.13.0","questions":{"verdict":{"criteria":{"correct"') for (body,) in sorted_bodies)
        assert all(b'"state":{"model_reply":"r","question":"q","trusted_reference"' in body for (body,) in sorted_bodies)
        backend.close()
