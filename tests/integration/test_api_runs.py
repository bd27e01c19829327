"""Runs through the library: the same as through the command line, in a thread, inside an event loop, stopped and resumed."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cli import command
from support.server import Server

import c2s
from c2s.cli import main
from c2s.cli.progress_line import ProgressLine, describe
from c2s.errors import LedgerError, UsageError
from c2s.records import TRANSITIONS

MODEL = "sim:positions?p=0.8"
SLOW = "sim:positions?p=0.8&delay_ms=20"


class After:
    """A stop token that is set once so many requests are answered."""

    def __init__(self, answered: int) -> None:
        self.answered, self.seen = answered, 0

    def progress(self, progress: c2s.Progress) -> None:
        self.seen = progress.answered

    def is_set(self) -> bool:
        return self.seen >= self.answered


def test_the_library_and_the_command_line_make_the_same_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = c2s.run(MODEL, panels=["main"], limit=6, out=tmp_path / "library")
    assert capfd.readouterr() == ("", ""), "the library prints nothing"
    assert main(["run", "--model", MODEL, "--limit", "6", "--out", str(tmp_path / "line")]) == 0
    reports = [(tmp_path / name / "report.json").read_bytes() for name in ("library", "line")]
    assert reports[0] == reports[1]
    other = c2s.open(tmp_path / "line")
    assert run.identity == other.identity and run.state == other.state == "done" and run.reason is None
    assert run.requests["ok"] == run.requests["planned"] > 100 and run.requests["open"] == 0
    planned = c2s.plan(MODEL, limit=6)
    assert planned.requests == run.requests["planned"] and planned.usd_expected is None and planned.panels[0].parents == 12
    assert c2s.verify(run.path).differences == [] and run.verify().open == 0
    assert repr(run) == f"<Run '{run.path}': main with {MODEL}, done>"


def test_records_are_columns_that_agree_with_the_report(tmp_path: Path) -> None:
    run = c2s.run(MODEL, limit=24, out=tmp_path / "run")
    outcomes, items, steps, exchanges = run.outcomes(), run.items(), run.steps(), run.exchanges(bodies=True)
    for columns in (outcomes, items, steps, exchanges):
        assert {a.dtype for a in columns.about.values()} >= {np.dtype(object), np.dtype(np.int64)}
        assert all(array.dtype == columns.about[name].dtype and len(array) == columns.rows for name, array in columns.items())
    assert steps.rows == exchanges.rows == run.requests["planned"] and items.rows == 48 and outcomes.rows == 48 * 4
    (section,) = [s for s in run.report().sections("main") if s.name == "transitions"]
    assert {row["domain"] for row in section.rows} == {"math", "lexical"}
    for row in section.rows:
        mine = outcomes["domain"] == row["domain"]
        native = outcomes["correct"][mine & (outcomes["arm"] == "native")]
        serial = outcomes["correct"][mine & (outcomes["arm"] == "serial")]
        joint = [int(np.sum((native == a) & (serial == b))) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
        assert row["joint"] == joint, row
        transitions = items["transition"][items["domain"] == row["domain"]]
        assert [int(np.sum(transitions == name)) for name in TRANSITIONS[:4]] == joint
    serial = steps["arm"] == "serial"
    assert set(steps["probability"][serial]) <= {0.8} | {v for v in steps["probability"][serial] if v < 0.2}
    assert (exchanges["done_at"] >= exchanges["sent_at"]).all() and set(exchanges["state"]) == {"ok"}
    assert exchanges["body_sha256"][0] == hashlib.sha256(exchanges["request"][0]).hexdigest()
    assert "request" not in run.exchanges()


def test_progress_is_reported_in_order(tmp_path: Path) -> None:
    seen: list[c2s.Progress] = []
    run = c2s.run(MODEL, panels="main,lexical-audit", limit=4, out=tmp_path / "run", progress=seen.append)
    messages = [p.message for p in seen if p.message]
    assert messages[0].startswith("planning main, lexical-audit with") and "support is added, because other panels use it" in messages
    counts = [p for p in seen if not p.message]
    assert counts[-1].final and counts[-1].open == 0 and counts[-1].requests == run.requests["planned"]
    assert [p.answered for p in counts] == sorted(p.answered for p in counts) and counts[-1].answered == run.requests["ok"]
    assert {p.path for p in counts} == {run.path} and set(run.panels) == set(counts[-1].panels)
    line = describe(counts[-1])
    assert line.startswith(f"{counts[-1].requests}/{counts[-1].requests}  ") and "math " in line


def test_a_token_stops_a_run_and_resume_finishes_it(tmp_path: Path) -> None:
    whole = c2s.run(SLOW, limit=6, out=tmp_path / "whole")
    stop = After(30)
    run = c2s.run(SLOW, limit=6, out=tmp_path / "run", progress=stop.progress, stop=stop)
    assert run.state == "interrupted" and run.reason == "stopped by its user" and 0 < run.requests["open"] < run.requests["planned"]
    assert not (run.path / "report.json").exists() and run.outcomes().rows < whole.outcomes().rows
    event = threading.Event()
    event.set()
    assert run.resume(stop=event).requests["open"] == run.requests["open"], "a token that is set sends nothing"
    assert run.resume().state == "done"
    assert (run.path / "report.json").read_bytes() == (whole.path / "report.json").read_bytes()


@pytest.mark.parametrize("raising", ["progress", "stop"])
def test_what_the_caller_s_function_raises_stops_the_run_in_order(tmp_path: Path, raising: str) -> None:
    class Fault(Exception):
        pass

    class Raises:
        asked = 0

        def progress(self, progress: c2s.Progress) -> None:
            if raising == "progress" and progress.answered > 20:
                raise Fault("mine")

        def is_set(self) -> bool:
            self.asked += 1
            if raising == "stop" and self.asked > 20:
                raise Fault("mine")
            return False

    caller = Raises()
    with pytest.raises(Fault, match="mine"):
        c2s.run(SLOW, limit=6, out=tmp_path / "run", progress=caller.progress, stop=caller)
    run = c2s.open(tmp_path / "run")
    assert run.state == "interrupted" and run.requests["ok"] > 0 and c2s.verify(run.path).differences == []
    assert c2s.resume(run.path).state == "done"


def test_a_paid_run_waits_for_what_is_under_way(tmp_path: Path) -> None:
    with Server() as server:
        stop = After(10)
        options: dict[str, Any] = {"base_url": server.url, "concurrency": 4}
        run = c2s.run("systemone:jev-1.13.0", domains="math", limit=4, out=tmp_path / "run", progress=stop.progress, stop=stop, **options)
        sent = server.total
        assert run.state in ("interrupted", "done") and run.requests["unknown"] == 0 and run.exchanges().rows == sent
        run = c2s.resume(run.path)
        assert run.state == "done" and server.total == run.requests["ok"] == run.exchanges().rows


@pytest.mark.parametrize("way", ["library", "command line"])
def test_it_works_in_a_thread(tmp_path: Path, way: str) -> None:
    results: list[Any] = []

    def work() -> None:
        if way == "library":
            results.append(c2s.run(MODEL, limit=2, out=tmp_path / "run").state)
        else:
            results.append(main(["run", "--model", MODEL, "--limit", "2", "--out", str(tmp_path / "run"), "--json"]))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert results == (["done"] if way == "library" else [0]) and signal.getsignal(signal.SIGINT) is before


def test_two_runs_at_once_leave_the_process_as_it_was(tmp_path: Path) -> None:
    before = gc.get_threshold()
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda n: c2s.run(SLOW, limit=n, out=tmp_path / str(n)), (2, 6)))
    assert [run.state for run in runs] == ["done", "done"] and gc.get_threshold() == before
    assert all(run.verify().differences == [] for run in runs)


def test_it_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    async def notebook() -> tuple[str, int]:
        run = c2s.run(MODEL, limit=2, out=tmp_path / "run")
        other = await asyncio.to_thread(c2s.run, MODEL, limit=2, out=tmp_path / "other")
        return run.state, other.outcomes().rows

    assert asyncio.run(notebook()) == ("done", 16)


def test_ctrl_c_stops_in_order_and_is_raised_afterwards(tmp_path: Path) -> None:
    def interrupt(progress: c2s.Progress) -> None:
        if progress.answered > 20 and not progress.message:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match=r"c2s\.resume"):
        c2s.run(SLOW, limit=6, out=tmp_path / "run", progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is before
    run = c2s.open(tmp_path / "run")
    assert run.state == "interrupted" and run.requests["unknown"] == 0 and c2s.verify(run.path).differences == []


def test_several_earlier_runs_are_looked_through(tmp_path: Path) -> None:
    for name, limit, domain in (("math", 2, "math"), ("lexical", 2, "lexical")):
        c2s.run(MODEL, domains=domain, limit=limit, out=tmp_path / name)
    notes: list[str] = []
    run = c2s.run(
        MODEL,
        limit=3,
        out=tmp_path / "both",
        reuse_from=[tmp_path / "math", tmp_path / "lexical"],
        progress=lambda p: notes.append(p.message),
    )
    copied = [int(note.split()[0]) for note in notes if "answers were copied from" in note]
    origins = run.exchanges()["origin"]
    assert len(copied) == 2 and min(copied) > 0 and sum(origin is not None for origin in origins) == sum(copied)
    assert run.provenance["reuse_from"] == [str(tmp_path / "math"), str(tmp_path / "lexical")] and run.verify().differences == []


def test_several_domains_are_asked_together(tmp_path: Path) -> None:
    both = c2s.run(MODEL, panels="readout", domains=["math", "symbolic"], limit=1, out=tmp_path / "two")
    assert set(both.items()["domain"]) == {"math", "symbolic"} and both.identity["settings"]["domain"] == ["math", "symbolic"]
    assert both.verify().differences == [] and c2s.resume(both.path).state == "done"
    assert set(c2s.run(MODEL, panels="readout", limit=1, out=tmp_path / "all").items()["domain"]) == {"math", "lexical", "symbolic"}


def test_the_page_of_a_run_is_escaped(tmp_path: Path) -> None:
    script = tmp_path / "<i>.py"
    script.write_text("def answer(call):\n    return next(iter(call.ask.request.questions['answer'].options))\n")
    run = c2s.run(f"script:{script}", limit=1, domains="math", out=tmp_path / "run<b>")
    page = run._repr_html_()
    assert "&lt;i&gt;" in page and "run&lt;b&gt;" in page and "<i>" not in page and "<b>" not in page and "done" in page


def test_a_run_goes_on_when_nobody_reads_its_progress(tmp_path: Path) -> None:
    words = command("run", "--model", SLOW, "--limit", 6, "--out", tmp_path / "run", "--json")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
        document = json.loads(process.stdout.read())
    assert process.returncode == 0 and document["requests"]["open"] == 0 and c2s.open(tmp_path / "run").state == "done"


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="is not a run directory"):
        c2s.open(tmp_path)
    with pytest.raises(LedgerError, match="is not a run directory"):
        c2s.resume(tmp_path / "none")
    c2s.run(MODEL, limit=1, domains="math", out=tmp_path / "run")
    with pytest.raises(UsageError, match="exists already"):
        c2s.run(MODEL, limit=1, domains="math", out=tmp_path / "run")
    with c2s.open(tmp_path / "run")._directory.locked(), pytest.raises(LedgerError, match="is being run by"):
        c2s.resume(tmp_path / "run")


def test_the_progress_line_shows_messages_on_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    line(c2s.Progress(message="one\x1b[31m"))
    line(c2s.Progress(states={"ok": 3, "planned": 1, "error": 1}, answered=4, seconds=2.0, usd=0.5, final=True))
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("c2s: one") and "\x1b" not in first
    assert second == "4/5  2/s  0:01 left  $0.5000  1 error"
