"""What report, status and verify say to a reader: edited manifests, differing denominators, reused answers, headings, Python objects."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import c2s as library
from c2s.errors import UsageError
from c2s.ledger.journal import ALTERED
from c2s.reports.build import build

C2S = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from c2s.cli import main

    path = tmp_path_factory.mktemp("messages") / "run"
    assert main(["run", "--model", "sim:random", "--limit", "2", "--out", str(path)]) == 0
    return path


@pytest.fixture
def edited(run: Path, tmp_path: Path) -> Path:
    path = tmp_path / "edited"
    shutil.copytree(run, path)
    manifest = path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"limit": 2', '"limit": 3'))
    return path


def test_an_edited_manifest_is_one_difference_and_the_report_is_said_not_to_be_compared(c2s: C2S, edited: Path):
    code, out, err = c2s("verify", edited)
    assert code == 1 and err == f"c2s: {ALTERED}\n"
    assert out == f"NOT verified, 1 difference: nothing could be derived; report.json was not compared: {ALTERED}\n"
    document = json.loads(c2s("verify", edited, "--json")[1])
    assert document["differences"] == [ALTERED] and document["report_not_compared"] == f"report.json was not compared: {ALTERED}"
    (edited / "report.json").unlink()
    assert "report.json is absent" in c2s("verify", edited)[1]


def test_an_edited_manifest_is_named_by_report_and_status_which_go_on(c2s: C2S, run: Path, edited: Path):
    code, out, _ = c2s("report", edited)
    assert code == 0 and f"WARNING: {ALTERED};" in " ".join(out.split()) and "main: by target length" in out
    assert ALTERED not in " ".join(c2s("report", run)[1].split())
    code, out, _ = c2s("status", edited)
    assert code == 0 and f"warning: {ALTERED};" in out and ALTERED not in c2s("status", run)[1]
    assert json.loads(c2s("status", edited, "--json")[1])["manifest_altered"] is True
    assert json.loads(c2s("status", run, "--json")[1])["manifest_altered"] is False


def test_status_counts_reused_answers_where_nothing_was_sent(c2s: C2S, run: Path, tmp_path: Path):
    assert c2s("run", "--model", "sim:random", "--limit", 2, "--reuse-from", run, "--out", tmp_path / "again")[0] == 0
    assert "0 requests sent, 64 answers reused" in c2s("status", tmp_path / "again")[1]


def test_the_head_names_domains_and_markdown_has_three_levels_of_headings(c2s: C2S, run: Path, tmp_path: Path):
    assert c2s("run", "--model", "sim:random", "--domain", "math", "--limit", 2, "--out", tmp_path / "math")[0] == 0
    assert "limit 2, domain math, template v1" in c2s("report", tmp_path / "math")[1]
    out = c2s("report", run, "--format", "md")[1]
    headings = [line for line in out.splitlines() if line.startswith("#")]
    assert headings[0].startswith("# sim:random") and headings[1] == "## main" and len(headings) >= 5
    assert all(line.startswith("### main: ") for line in headings[2:])


def test_arms_that_are_not_over_the_pairs_are_named_with_their_counts(run: Path, tmp_path: Path):
    shutil.copytree(run, tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        db.execute(
            "UPDATE outcomes SET status = 'undefined', correct = NULL WHERE arm = 'candidates_only' AND parent IN "
            "(SELECT id FROM parents WHERE domain = 'math' LIMIT 1)"
        )
    db.close()
    (section,) = [s for s in build([tmp_path / "run"]).sections("main") if s.name == "accuracy"]
    assert section.notes[1:] == ["math: not over the pairs, but right / parents where the arm is defined: Cand. only 0/1."]


def test_a_report_in_python(run: Path, edited: Path):
    report = library.open(run).report()
    assert repr(report) == "<Report of 1 run: main>" and str(report) == report.text()
    assert report.text().startswith("sim:random (SIMULATION") and "main: by target length" in report.text()
    page = report._repr_html_()
    assert page.count("<table>") == 5 and "Native -&gt; Serial" in page and "-> " not in page
    with pytest.raises(UsageError, match=r"the report has no panel 'mian' \(did you mean main.*it has main"):
        report.sections("mian")
    found = library.verify(run)
    assert repr(found).startswith("<Verification: verified; 4 items, 64 requests, ")
    assert repr(library.verify(edited)).startswith("<Verification: NOT verified, 1 difference; nothing could be derived; ")
