"""`script:FILE.py`: the examples of docs/script-models.md as they are printed, and what a file can do wrong."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from c2s.backends.base import Call
from c2s.backends.registry import open_model
from c2s.backends.scripted import Scripted
from c2s.errors import UsageError
from c2s.records import Ask, Parent, Question, Request, Slot

TEXT = (Path(__file__).parents[2] / "docs/script-models.md").read_text()
EXAMPLES = dict(
    re.findall(r"`(\w+\.py)`[^\n]*:\n\n```python\n(.*?)```", TEXT, re.DOTALL)
    + re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)```", TEXT, re.DOTALL)
)
MAIN = 78
"""Requests of the panel main over six items of 3 to 8 characters: 2 x 6 whole answers, 2 x 33 characters."""


def opened(folder: Path, source: str, **common: object) -> Scripted:
    (folder / "model.py").write_text(source)
    model = open_model(f"script:{folder / 'model.py'}", common)
    assert isinstance(model, Scripted)
    return model


def call_of(*options: str) -> Call:
    ask = Ask(1, Request("state", {"answer": Question("which?", dict.fromkeys(options))}), truth={"answer": options[-1]})
    return Call(Slot("main", "p1", "serial", 0, 1), Parent("p1", "math", 3, {"target": "abc"}), ask, b"{}")


def run(c2s, folder: Path, name: str, *more: object) -> dict:
    (folder / name).write_text(EXAMPLES[name])
    arguments = ("--model", f"script:{folder / name}", "--domain", "math", "--limit", 6, "--out", folder / "run", "--json")
    code, out, err = c2s("run", *arguments, *more)
    assert code in (0, 1), err
    assert c2s("verify", folder / "run")[0] == 0
    return json.loads(out)


def query(folder: Path, text: str) -> list[tuple]:
    with sqlite3.connect(folder / "run" / "ledger.sqlite") as db:
        return db.execute(text).fetchall()


def test_every_example_is_run_by_a_test_below():
    assert sorted(EXAMPLES) == ["batch.py", "first.py", "probabilities.py", "raw.py", "service.py", "simulation.py", "writer.py"]


def test_the_first_example_runs_as_the_page_says(c2s, memory_path: Path, monkeypatch: pytest.MonkeyPatch):
    (command,) = re.findall(r"^    c2s (run .*script:first.py)$", TEXT, re.MULTILINE)
    monkeypatch.chdir(memory_path)
    Path("first.py").write_text(EXAMPLES["first.py"])
    code, _, err = c2s(*command.split(), "--out", "run")
    assert code == 0, err


def test_probabilities_are_kept_and_the_most_probable_option_is_taken(c2s, memory_path: Path):
    document = run(c2s, memory_path, "probabilities.py", "--panel", "confidence")
    assert document["requests"]["error"] == 0
    for request, response in query(memory_path, "SELECT request, response FROM exchanges WHERE state = 'ok'"):
        first = next(iter(json.loads(request)["questions"]["answer"]["criteria"]))
        answer = json.loads(response)["answers"]["answer"]
        assert answer["choice"] == first and answer["probabilities"][first] == 0.5
    manifest = json.loads((memory_path / "run" / "manifest.json").read_bytes())
    assert manifest["identity"]["exact"] is True and manifest["identity"]["resend"] == "safe"


def test_a_batch_is_handed_over_together_and_answered_in_order(c2s, memory_path: Path):
    document = run(c2s, memory_path, "batch.py")
    assert document["requests"]["ok"] == MAIN
    model = open_model(f"script:{memory_path / 'batch.py'}")
    assert model.max_batch == 32 and model.workers == 0
    (first, second) = model.call([call_of("b", "a"), call_of("d", "c")])
    assert json.loads(first.raw)["answers"]["answer"]["choice"] == "a" and json.loads(second.raw)["answers"]["answer"]["choice"] == "c"


def test_a_service_is_called_from_as_many_threads_as_it_declares_or_as_the_command_says(c2s, memory_path: Path):
    document = run(c2s, memory_path, "service.py")
    assert document["requests"]["ok"] == MAIN
    manifest = json.loads((memory_path / "run" / "manifest.json").read_bytes())["identity"]
    assert manifest["resend"] == "paid" and manifest["exact"] is False
    name = f"script:{memory_path / 'service.py'}"
    assert (open_model(name).workers, open_model(name).max_batch) == (8, 1)
    assert open_model(name, {"concurrency": 3}).workers == 3 and open_model(name, {"concurrency": 1}).workers == 0


def test_concurrency_is_obeyed(c2s, memory_path: Path):
    (memory_path / "slow.py").write_text(
        "import pathlib, threading, time\nnow, most, lock = 0, 0, threading.Lock()\n"
        "def answer(call):\n    global now, most\n    with lock:\n        now += 1; most = max(most, now)\n"
        f"        pathlib.Path({str(memory_path / 'most')!r}).write_text(str(most))\n"
        "    time.sleep(0.01)\n    with lock:\n        now -= 1\n    return '1'\n"
    )
    arguments = ("run", "--model", f"script:{memory_path / 'slow.py'}", "--domain", "math", "--limit", 12)
    for concurrency in (1, 4):
        assert c2s(*arguments, "--concurrency", concurrency, "--out", memory_path / f"run{concurrency}")[0] == 0
        assert (memory_path / "most").read_text() == str(concurrency)


def test_a_model_that_writes_text(c2s, memory_path: Path):
    document = run(c2s, memory_path, "writer.py")
    assert document["requests"]["ok"] == MAIN
    (row,) = {row["valid"] for row in document["sections"]["compliance"]["rows"] if row["arm"] == "native"}
    assert row == 1


def test_a_simulation_may_use_the_truth_when_it_says_so(c2s, memory_path: Path):
    run(c2s, memory_path, "simulation.py")
    right = dict(query(memory_path, "SELECT arm, count(*) FROM outcomes WHERE correct = 1 GROUP BY arm"))
    assert right["native"] == 6 and right["independent"] == 6 and right.get("serial", 0) < 6


def test_a_response_of_ones_own(c2s, memory_path: Path):
    document = run(c2s, memory_path, "raw.py")
    assert document["requests"]["error"] > 0
    assert query(memory_path, "SELECT DISTINCT model, input_tokens FROM exchanges WHERE state = 'ok'") == [("mine-2", 40)]
    assert query(memory_path, "SELECT DISTINCT message FROM exchanges WHERE state = 'error'") == [("this model knows no third step",)]


def test_without_asking_for_it_no_truth_reaches_the_file(tmp_path: Path):
    seen: list[Call] = []
    (came,) = Scripted("script:test", lambda call: seen.append(call) or "a").call([call_of("a", "b")])
    assert came.verdict == "ok"
    assert (
        seen[0].ask.truth == {}
        and seen[0].parent.payload == {}
        and seen[0].request.questions.keys() == {"answer"}
        and seen[0].body == b"{}"
    )
    source = "def answer(call):\n    return call.ask.truth['answer']\n"
    (came,) = opened(tmp_path, source).call([call_of("a", "b")])
    why = "(the calls hold no truth, because the file does not say uses_truth = True)"
    assert came.message == f"{tmp_path}/model.py, answer, line 2: KeyError: 'answer' {why}"
    (came,) = opened(tmp_path, "uses_truth = True\n" + source).call([call_of("a", "b")])
    assert json.loads(came.raw)["answers"]["answer"]["choice"] == "b"


RIGHT = "right are an option, {question: option}, {question: {option: probability}} or an Exchange"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("pass", f"line 1: it returned None; {RIGHT}"),
        ("return 3", f"line 1: it returned a value of type int; {RIGHT}"),
        ("return ['a']", f"line 1: it returned a value of type list; {RIGHT}"),
        ("raise ValueError('two\\nlines')", "line 2: ValueError: two lines"),
        ("import sys; sys.exit(4)", "line 2: SystemExit: 4"),
        ("return help_me()", "line 5: ZeroDivisionError: division by zero"),
        ("return {}", "line 1: it answers the questions none; the call asks 'answer'"),
        ("return {'answr': 'a'}", "line 1: it answers the questions 'answr'; the call asks 'answer'"),
        ("return {'answer': None}", f"line 1: it answers the question 'answer' with None; {RIGHT}"),
        ("return {'answer': {}}", "line 1: it gives probabilities for none; the options of 'answer' are 'a', 'b'"),
        ("return {'answer': {'c': 1.0}}", "line 1: it gives probabilities for 'c'; the options of 'answer' are 'a', 'b'"),
        ("return {'answer': {'a': 1.5}}", "line 1: the probability of 'a' is '1.5'; it is a number from 0 to 1"),
        ("return {'answer': {'a': float('nan')}}", "line 1: the probability of 'a' is 'nan'; it is a number from 0 to 1"),
        ("return {'answer': {'a': True}}", "line 1: the probability of 'a' is 'True'; it is a number from 0 to 1"),
        ("return {'answer': {'a': '1'}}", "line 1: the probability of 'a' is '1'; it is a number from 0 to 1"),
        (
            "from c2s.backends.base import Exchange; return Exchange('ok')",
            "line 1: it returned an Exchange that is ok and whose raw is None; right are the bytes of a response",
        ),
    ],
)
def test_a_fault_is_an_error_that_names_file_function_and_line(tmp_path: Path, body: str, fault: str):
    model = opened(tmp_path, f"def answer(call):\n    {body}\n\ndef help_me():\n    return 1 / 0\n")
    (came,) = model.call([call_of("a", "b")])
    assert came.verdict == "error" and came.raw is None
    assert came.message == f"{tmp_path}/model.py, answer, {fault}"


def test_half_a_surrogate_pair_is_a_fault_and_a_number_of_numpy_is_none(tmp_path: Path):
    (came,) = opened(tmp_path, "def answer(call):\n    return '\\ud800'\n").call([call_of("a", "b")])
    assert came.verdict == "error" and "it returned what cannot be written as JSON" in came.message
    source = "import numpy\ndef answer(call):\n    return {'answer': {'b': numpy.float32(0.5), 'a': 0.5}}\n"
    (came,) = opened(tmp_path, source).call([call_of("a", "b")])
    assert json.loads(came.raw)["answers"]["answer"] == {"type": "choice", "choice": "a", "probabilities": {"b": 0.5, "a": 0.5}}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("return 'ab'", "line 1: it returned a value of type str; right is a list with one answer for each call"),
        ("return None", "line 1: it returned None; right is a list with one answer for each call"),
        ("return ['a']", "line 1: it returned 1 answers to 2 calls"),
        ("return (1 / 0 for _ in calls)", "line 2: ZeroDivisionError: division by zero"),
        ("return [c.ask.truth['x'] for c in calls]", "line 2: KeyError: 'x' (the calls hold no truth"),
    ],
)
def test_a_fault_of_a_batch_meets_all_its_calls(tmp_path: Path, body: str, fault: str):
    came = list(opened(tmp_path, f"def answers(calls):\n    {body}\n").call([call_of("a", "b")] * 2))
    assert [c.verdict for c in came] == ["error"] * 2
    assert all(c.message.startswith(f"{tmp_path}/model.py, answers, {fault}") for c in came)


def test_one_wrong_answer_of_a_batch_is_its_own(tmp_path: Path):
    good, bad = opened(tmp_path, "def answers(calls):\n    return ['a', None]\n").call([call_of("a", "b")] * 2)
    assert good.verdict == "ok" and bad.verdict == "error"


def test_the_same_fault_is_named_once(c2s, memory_path: Path):
    (memory_path / "model.py").write_text("def answer(call):\n    return None\n")
    arguments = ("--model", f"script:{memory_path / 'model.py'}", "--domain", "math", "--limit", 2, "--stop-after-errors", 0)
    code, _, err = c2s("run", *arguments, "--out", memory_path / "run")
    fault = f"{memory_path}/model.py, answer, line 1: it returned None; {RIGHT}"
    assert code == 1 and err.count(fault) == 1 and f"c2s: failed: {fault}\n" in err
    named = [message for (message,) in query(memory_path, "SELECT message FROM events") if fault in message]
    assert len(named) == 1
    (sent,) = query(memory_path, "SELECT count(*) FROM exchanges WHERE message IS NOT NULL")
    assert sent[0] > 2


def test_a_fault_that_names_the_options_of_its_request_is_named_once(c2s, memory_path: Path):
    (memory_path / "model.py").write_text("def answer(call):\n    return {name: {'nowhere': 1.0} for name in call.request.questions}\n")
    arguments = ("--model", f"script:{memory_path / 'model.py'}", "--domain", "math", "--limit", 3, "--stop-after-errors", 0)
    code, _, err = c2s("run", *arguments, "--out", memory_path / "run")
    assert code == 1 and err.count("it gives probabilities for 'nowhere'") == 1
    (messages,) = query(memory_path, "SELECT count(DISTINCT message) FROM exchanges WHERE state = 'error'")
    assert messages[0] > 1


def test_every_exchange_has_the_time_of_its_own_call(c2s, memory_path: Path):
    (memory_path / "model.py").write_text("import time\ndef answer(call):\n    time.sleep(0.02)\n    return '1'\n")
    assert (
        c2s("run", "--model", f"script:{memory_path / 'model.py'}", "--domain", "math", "--limit", 2, "--out", memory_path / "run")[0] == 0
    )
    times = query(memory_path, "SELECT sent_at, done_at FROM exchanges ORDER BY id")
    assert all(0.02 <= ended - began < 0.5 for began, ended in times)
    assert all(ended <= began for (_, ended), (began, _) in pairwise(times))


def test_the_time_of_a_batch_is_divided_among_its_calls(tmp_path: Path):
    source = "import time\ndef answers(calls):\n    time.sleep(0.2)\n    return ['a'] * len(calls)\n"
    came = list(opened(tmp_path, source).call([call_of("a", "b")] * 4))
    assert all(0.05 <= c.ended - c.began < 0.15 for c in came) and [c.began for c in came] == sorted(c.began for c in came)


@pytest.mark.parametrize("resend", ["safe", "paid"])
def test_a_stop_lets_no_further_call_of_a_script_be_made(c2s, memory_path: Path, resend: str):
    """The fourth call writes the command; the call during which it is read may still be made."""
    (memory_path / "model.py").write_text(
        f"import pathlib, time\nresend = {resend!r}\nmade = 0\n"
        "def answer(call):\n    global made\n    made += 1\n    time.sleep(0.25)\n"
        f'    if made == 4:\n        pathlib.Path({str(memory_path / "run/control.json")!r}).write_text(\'{{"command": "stop"}}\')\n'
        f"    pathlib.Path({str(memory_path / 'made')!r}).write_text(str(made))\n    return '1'\n"
    )
    name = f"script:{memory_path / 'model.py'}"
    code, _, err = c2s("run", "--model", name, "--domain", "math", "--limit", 6, "--out", memory_path / "run")
    assert code == 130 and "interrupted: stopped by c2s stop" in err
    assert (memory_path / "made").read_text() == "4"
    assert c2s("verify", memory_path / "run")[0] == 0


def test_a_script_that_uses_the_truth_is_reported_as_a_simulation(c2s, memory_path: Path):
    run(c2s, memory_path, "simulation.py")
    assert json.loads((memory_path / "run" / "manifest.json").read_bytes())["identity"]["simulation"] is True
    assert "SIMULATION, not a measurement" in c2s("report", memory_path / "run")[1]
    assert json.loads(c2s("report", memory_path / "run", "--format", "json")[1])["simulation"] is True


@pytest.mark.parametrize("name", ["first.py", "sim:oracle"])
def test_the_identity_of_other_models_says_nothing_of_simulation(c2s, memory_path: Path, name: str):
    if name in EXAMPLES:
        (memory_path / name).write_text(EXAMPLES[name])
    model = f"script:{memory_path / name}" if name in EXAMPLES else name
    assert c2s("run", "--model", model, "--domain", "math", "--limit", 2, "--out", memory_path / "run")[0] == 0
    assert "simulation" not in json.loads((memory_path / "run" / "manifest.json").read_bytes())["identity"]
    assert ("SIMULATION" in c2s("report", memory_path / "run")[1]) == (name == "sim:oracle")


def test_a_finished_run_has_nothing_to_pause(c2s, memory_path: Path):
    run(c2s, memory_path, "first.py")
    for command, act in (("pause", "pause"), ("stop", "stop"), ("go", "continue")):
        code, _, err = c2s(command, memory_path / "run")
        assert code == 2 and f"{memory_path / 'run'} is done; there is nothing to {act}" in err


def test_a_misspelt_declaration_is_named_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    opened(tmp_path, "concurency = 3\nbatches = ['x']\ntemperature = 0.5\ndef answer(call): ...\n")
    said = capsys.readouterr().err
    assert said == f"c2s: {tmp_path}/model.py says concurency = '3', which c2s does not read (did you mean concurrency?)\n"


def test_a_file_that_is_not_there_is_named_with_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=re.escape(f"cannot read {tmp_path}/absent.py: No such file")):
        open_model("script:absent.py")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", "defines neither of the functions answer(call) and answers(calls)"),
        ("answer = 3", "defines neither of"),
        ("def answer(call): ...\ndef answers(calls): ...", "defines both of the functions"),
        ("batch = 3\ndef answer(call): ...", "says batch, which is for a function answers(calls)"),
        ("batch = 0\ndef answers(calls): ...", "says batch = 0; it is a whole number from 1 to 4096"),
        ("concurrency = '4'\ndef answer(call): ...", "says concurrency = '4'; it is a whole number from 1 to 4096"),
        ("concurrency = True\ndef answer(call): ...", "says concurrency = True; it is"),
        ("exact = 1\ndef answer(call): ...", "says exact = 1; it is True or False"),
        ("uses_truth = 'yes'\ndef answer(call): ...", "says uses_truth = 'yes'; it is True or False"),
        ("resend = 'free'\ndef answer(call): ...", "says resend = 'free'; it is 'safe' or 'paid'"),
        ("contract = 'essay'\ndef answer(call): ...", "contract is direct, code-readout, code-generated; not 'essay'"),
        ("raise RuntimeError('no')", "failed: RuntimeError: no"),
    ],
)
def test_what_a_file_declares_wrongly_is_refused_by_name(tmp_path: Path, source: str, sentence: str):
    with pytest.raises(UsageError) as raised:
        opened(tmp_path, source)
    assert sentence in str(raised.value) and "model.py" in str(raised.value)


def test_what_a_file_prints_goes_to_standard_error(memory_path: Path):
    (memory_path / "model.py").write_text(
        "import sys\nprint('loading')\nconcurrency = 4\n"
        "def answer(call):\n    print('asked')\n    sys.stdout.write('more\\n')\n    return '1'\n"
    )
    command = ["run", "--json", "--model", f"script:{memory_path / 'model.py'}", "--domain", "math", "--limit", "2", "--out"]
    done = subprocess.run([sys.executable, "-m", "c2s", *command, str(memory_path / "run")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert done.stderr.count("asked") == done.stderr.count("more") == document["requests"]["ok"] and "loading\n" in done.stderr


def test_a_class_in_a_file_with_postponed_annotations_is_a_dataclass(tmp_path: Path):
    source = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Kept:\n    n: int\n"
    (came,) = opened(tmp_path, source + "def answer(call):\n    return 'ab'[Kept(1).n]\n").call([call_of("a", "b")])
    assert json.loads(came.raw)["answers"]["answer"]["choice"] == "b"


@pytest.mark.parametrize("truth", ["", "uses_truth = True\n"])
def test_what_a_script_does_to_its_call_reaches_no_request(c2s, memory_path: Path, truth: str):
    """The recorded requests are those of the plan, and an option that the script invented is no offered one."""
    path = memory_path / "mutates.py"
    path.write_text(
        truth + "def answer(call):\n"
        "    for question in call.ask.request.questions.values():\n"
        "        first = next(iter(question.options))\n"
        "        question.options.clear()\n"
        "        question.options['HACK'] = None\n"
        "    call.ask.request.questions.clear()\n"
        "    return first\n"
    )
    run = memory_path / "run"
    assert c2s("run", "--model", f"script:{path}", "--domain", "math", "--limit", "2", "--out", run)[0] == 0
    assert c2s("verify", run)[0] == 0
