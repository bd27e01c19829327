"""Servers that others wrote: the jevcompat mock with each of its 47 faults, and Sparrow's own server."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest
from support.cli import c2s
from support.panels import Listed
from support.runs import drive, make_run, rows, server_model, states

from c2s.backends.registry import open_model
from c2s.controllers.program import Arm
from c2s.ledger import sqlite
from c2s.ledger.totals import read_spend
from c2s.panels.base import Panel
from c2s.panels.registry import PANELS
from c2s.records import Ask, Outcome, Parent, Question, Request
from c2s.spending.budget import Budget
from c2s.spending.prices import Price
from c2s.verification import verify

mock = pytest.importorskip("jevcompat.mock", reason="pip install jevcompat==0.1.1")

PARENTS = [Parent(f"p{n:02}", "math", 1, {"target": "a", "candidates": ["a"]}) for n in range(8)]


def _arm(name: str, state, questions: dict[str, Question]) -> Arm:
    """One request with these questions; the outcome says what was returned and offered."""

    def program(parent, ctx):
        (answer,) = yield [Ask(1, Request(state(parent), questions))]
        choices = {question: answer.choice(question) for question in questions}
        taken = [choice.taken() for choice in choices.values()]
        detail = {
            "invalid": taken.count("_"), "disagree": any(c.disagrees for c in choices.values()),
            "theirs": [c.reported_confidence for c in choices.values()], "ours": [c.confidence for c in choices.values()],
        }  # fmt: skip
        return Outcome("", output=" ".join(taken), correct=False, detail=detail)

    return Arm(name, program, lambda parent: (1,))


def question(*options: str, described: bool = False) -> Question:
    return Question("Which?", {option: f"It is {option}." if described else None for option in options})


ARMS = (
    _arm("plain", lambda p: f'{{"item":"{p.id}"}}', {"answer": question("a", "b", "c")}),
    _arm("described", lambda p: {"item": p.id}, {"answer": question("a", "b", described=True)}),
    _arm("array", lambda p: ["item", p.id], {"answer": question("a", "b")}),
    _arm("several", lambda p: p.id, {"first": question("a", "b"), "zweite Frage": question("c", "d")}),
    _arm("unicode", lambda p: p.id, {"answer": question("É", "Ü")}),
    _arm("many", lambda p: p.id, {"answer": question(*(f"o{n}" for n in range(80)))}),
)
PANEL = Panel("probe", "one arm for each thing that a request may hold", ARMS, Listed(PARENTS))
EVERY = tuple(arm.name for arm in ARMS)


@dataclass(frozen=True)
class Ends:
    """What a fault comes to: arms whose requests end in an error, arms whose answers are scored as invalid, why the run stopped."""

    outcome: str
    error: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()
    stopped: str | None = None
    said: str | None = None
    model: str = "jev-1.13.0"
    server_key: str | None = None
    client_key: str | None = None
    checks: dict[str, object] = field(default_factory=dict)


UNREACHED = "no effect: c2s sends choice questions alone"
FAULTS = {
    "wrong-route": Ends(
        "HTTP 404 is a final error; after 25 in a row the run stops, resumable",
        EVERY,
        stopped="25 requests in a row",
        said="HTTP 404: No route",
    ),
    "xssi-200": Ends(
        "malformed: not JSON; after 25 in a row the run stops, resumable", EVERY, stopped="25 requests in a row", said="not JSON"
    ),
    "plain-content-type": Ends("answered; the content type is kept in the ledger and decides nothing"),
    "text-errors": Ends(
        "the plain text is the error's message", EVERY, stopped="25 requests", said="HTTP 400: Unknown model: nope", model="nope"
    ),
    "models-404": Ends("answered; `c2s doctor` says that there is no list of models"),
    "auth-rejects-header": Ends(
        "HTTP 401 stops the run at once, resumable; nothing is an error", stopped="refuses the key", said="takes no key", client_key="k"
    ),
    "auth-x-api-key": Ends(
        "HTTP 403 before the first answer stops the run, resumable",
        stopped="refuses the key",
        said="Must supply",
        server_key="k",
        client_key="k",
    ),
    "auth-plain": Ends(
        "HTTP 401 in plain text stops the run, resumable", stopped="refuses the key", said="HTTP 401: Unauthorized", server_key="k"
    ),
    "auth-invalid-403-text": Ends(
        "HTTP 401 stops the run, resumable, with the server's words",
        stopped="refuses the key",
        said="bad key",
        server_key="k",
        client_key="wrong",
    ),
    "reject-array-state": Ends(
        "requests with an array state end in error with the server's words; the others are answered",
        ("array",),
        said="Input should be a valid string",
    ),
    "reject-jev-latest": Ends(
        "HTTP 404 is a final error; after 25 in a row the run stops",
        EVERY,
        stopped="25 requests",
        said="Model not served",
        model="jev-latest",
    ),
    "first-question-only": Ends(
        "a response that lacks one question is malformed as a whole", ("several",), said="no answer to question 'zweite Frage'"
    ),
    "strict-ids": Ends("requests with such a question name end in error", ("several",), said="Question id must match"),
    "nfd-keys": Ends("an option in another Unicode form is not the option: scored as invalid, never repaired", invalid=("unicode",)),
    "forbid-extra": Ends("answered: c2s sends no field beyond the protocol's"),
    "string-only-text": Ends("answered: instructions and descriptions are strings"),
    "noul-two-sided": Ends(UNREACHED),
    "noul-needs-instructions": Ends(UNREACHED),
    "no-null-description": Ends(
        "requests with null descriptions end in error; those with descriptions are answered",
        ("plain", "array", "several", "unicode", "many"),
        said="valid string",
    ),
    "cap-64": Ends("requests above the server's 64 options end in error", ("many",), said="at most 64 items"),
    "cap-5-levels": Ends(UNREACHED),
    "accept-map-score": Ends(UNREACHED),
    "no-usage": Ends("answered; usage is not reported, its reservation is held, never free", checks={"unreported": True}),
    "float-usage": Ends("answered; 37.0 tokens are 37", checks={"unreported": False}),
    "extra-answer": Ends("answered; what nobody asked for is ignored and stays in the raw body"),
    "boolean-type": Ends(UNREACHED),
    "nan": Ends("malformed: NaN is not JSON, also in a field that nobody reads", EVERY, stopped="25 requests", said="not JSON"),
    "unprefixed-extra": Ends("answered; the extra field stays in the raw body"),
    "noul-range": Ends(UNREACHED),
    "choice-no-confidence": Ends("answered; their confidence is absent, ours is computed", checks={"theirs": None}),
    "choice-key-case": Ends("an option in another case is not the option: scored as invalid", invalid=("unicode",)),
    "choice-sum": Ends("answered; probabilities are kept as reported, not renormalised"),
    "choice-second": Ends(
        "answered; the returned choice is the outcome, and the disagreement with the argmax is flagged", checks={"disagree": True}
    ),
    "score-no-legend": Ends(UNREACHED),
    "legend-1-based": Ends(UNREACHED),
    "score-keys-1-based": Ends(UNREACHED),
    "score-sum": Ends(UNREACHED),
    "score-argmax": Ends(UNREACHED),
    "confidence-over": Ends("answered; their confidence is kept as it is, ours stands beside it", checks={"theirs": 1.5}),
    "confidence-margin": Ends("answered; their confidence is kept, ours follows the formula", checks={"differ": True}),
    "500-on-unknown-type": Ends(UNREACHED),
    "accept-boolean": Ends(UNREACHED),
    "validation-400": Ends(
        "the flat message is found", ("many",), said="HTTP 400: Dictionary should have at most 64 items", checks={"also": "cap-64"}
    ),
    "error-flat": Ends("the flat message is found", EVERY, stopped="25 requests", said="HTTP 400: Unknown model: nope", model="nope"),
    "id-leaks": Ends("answered; one response cannot show it: another question name is another request"),
    "batch-leaks": Ends("answered; one response cannot show it: c2s never merges two asks into one request"),
    "order-leaks": Ends("answered; one response cannot show it: the order of questions is part of the bytes"),
}


class Mock:
    """The mock in a thread, its answers counted by exact body."""

    def __init__(self, *faults: str, key: str | None = None) -> None:
        self.received: Counter[bytes] = Counter()
        self.server = mock.make_server(mock.MockConfig(key=key, faults=frozenset(faults)))
        handler = self.server.RequestHandlerClass
        outer = self

        class Counting(handler):
            def do_POST(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                outer.received[body] += 1
                self.rfile = io.BytesIO(body)
                super().do_POST()

        self.server.RequestHandlerClass = Counting
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> Mock:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def test_the_table_names_every_fault_and_the_documentation_holds_it():
    assert set(FAULTS) == set(mock.FAULTS) and len(FAULTS) == 47
    text = (Path(__file__).parents[2] / "docs" / "hosted.md").read_text()
    for fault, ends in FAULTS.items():
        assert f"| `{fault}` | {ends.outcome} |" in text, fault


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_ends_as_the_table_says(fault, memory_path, monkeypatch):
    ends = FAULTS[fault]
    monkeypatch.setenv("SOME_KEY", ends.client_key or "")
    faults = [fault, *([ends.checks["also"]] if "also" in ends.checks else [])]
    with Mock(*faults, key=ends.server_key) as server:
        backend = server_model(server.url, concurrency=4, key_env="SOME_KEY", model=f"systemone:{ends.model}")
        run = make_run(memory_path / "run", backend, panels=(PANEL,), settings={"domain": None, "limit": None})
        runner = drive(run, backend, panels=(PANEL,), report=False, budget=Budget(Price(1.0, 0)))
        backend.close()
    sent = dict(rows(run, "SELECT request, count(*) FROM exchanges GROUP BY 1"))
    assert sent == dict(server.received)
    assert max(sent.values()) == 1 or ends.stopped == "refuses the key"
    messages = [m for (m,) in rows(run, "SELECT message FROM exchanges WHERE state NOT IN ('ok', 'sent')")]
    assert bool(messages) == (ends.said is not None) and all(ends.said in message for message in messages), set(messages)
    if ends.stopped:
        assert not runner.finished and ends.stopped in runner.reason
        assert set(states(run)) <= ({"planned"} if "key" in ends.stopped else {"planned", "error"})
    else:
        assert runner.finished
        by_arm = rows(run, "SELECT DISTINCT arm, state FROM slots")
        assert set(by_arm) == {(arm, "error" if arm in ends.error else "ok") for arm in EVERY}
        check_answers(run, ends)
    monkeypatch.setitem(PANELS.declared, "probe", PANEL)
    assert verify(run.path).differences == []


def check_answers(run, ends: Ends) -> None:
    details = {
        arm: orjson.loads(detail) for arm, detail in rows(run, "SELECT arm, detail FROM outcomes WHERE status = 'ok' ORDER BY parent")
    }
    for arm, detail in details.items():
        assert (detail["invalid"] > 0) == (arm in ends.invalid), arm
        assert detail["disagree"] == ends.checks.get("disagree", False)
        if "theirs" in ends.checks:
            assert set(detail["theirs"]) == {ends.checks["theirs"]} and None not in detail["ours"]
        elif "differ" in ends.checks:
            assert detail["theirs"] != pytest.approx(detail["ours"]) or len(detail["ours"]) > 1 or arm in ("described", "array", "unicode")
    with sqlite.reading(run.ledger_path) as db:
        spend = read_spend(db)
    answered = states(run)["ok"]
    if ends.checks.get("unreported"):
        assert spend.unreported == answered and spend.settled_nano == 0 and spend.held_nano > 0
    else:
        assert spend.unreported == 0 and spend.settled_nano > 0


def test_the_mock_as_a_process_of_its_own_without_a_fault(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "jevcompat.cli", "mock", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    url = None
    try:
        line = process.stdout.readline()
        url = next((word.removesuffix("/v1/systemone") for word in line.split() if word.startswith("http")), None)
        if url is None or url.endswith(":0"):
            pytest.skip(f"the mock does not say its port: {line!r}")
        done = c2s("run", "--model", "systemone:jev-latest", "--base-url", url, "--domain", "math", "--limit", 3, "--out", tmp_path / "run")
        assert done.returncode == 0, done.stderr
        assert verify(tmp_path / "run").differences == []
        found = c2s("doctor", "--model", "systemone:jev-latest", "--base-url", url)
        assert found.returncode == 0 and "lists jev-latest" in found.stdout and "an offered option, with probabilities" in found.stdout
        assert "server's clock: " in found.stdout
    finally:
        process.terminate()
        process.communicate(timeout=10)


@pytest.fixture(scope="module")
def sparrow_server():
    import socket

    pytest.importorskip("sparrow_decider", reason="pip install -e '.[demo]'")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("sparrow-decider")
    process = subprocess.Popen([program, "serve", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
            break
        except OSError:
            time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(10)


def test_sparrow_over_http_answers_as_sparrow_in_process(sparrow_server, memory_path):
    """A real model behind a real server: HTTP/1.0, no request id, usage always zero; the same outcomes as in process."""
    over_http = server_model(sparrow_server, model="systemone:sparrow", concurrency=4)
    here = open_model("sparrow", {})
    far, near = make_run(memory_path / "far", over_http, limit=4), make_run(memory_path / "near", here, limit=4)
    assert drive(far, over_http, budget=Budget(Price(1.0, 0))).finished and drive(near, here).finished
    query = (
        "SELECT p.parent, arm, output, correct, round(min_confidence, 4) FROM outcomes o JOIN parents p ON p.id = o.parent ORDER BY 1, 2"
    )
    assert rows(far, query) == rows(near, query)
    with sqlite.reading(far.ledger_path) as db:
        spend = read_spend(db)
    assert spend.unreported == spend.sends and spend.settled_nano == 0 and spend.held_nano > 0
    assert rows(far, "SELECT DISTINCT headers ->> '$.x-typesafe-request-id' FROM exchanges") == [(None,)]
    assert verify(far.path).differences == [] == verify(near.path).differences
    over_http.close()
    here.close()


def test_doctor_names_what_a_server_lacks(sparrow_server):
    found = c2s("doctor", "--model", "systemone:sparrow", "--base-url", sparrow_server)
    assert found.returncode == 0 and "probe decision" in found.stdout and "usage not reported" in found.stdout
    absent = c2s("doctor", "--model", "systemone:sparrow", "--base-url", "http://127.0.0.1:9", "--timeout", 2)
    assert absent.returncode == 1 and "no connection" in absent.stdout
