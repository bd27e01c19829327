"""Options that nothing in the run would read, and things that are not what they are taken for, are refused in one line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--contracts", "FINAL3"), "--contracts is for the panels"),
        (("--rubric", "any.toml"), "--rubric is for the panels"),
        (("--field-options", "values"), "--field-options is for the panels dialogue-access, dialogue-construction; this run has main"),
        (("--panel", "main,,support"), "--panel takes names"),
        (("--out", "pyproject.toml"), "is a file"),
    ],
)
def test_an_option_without_a_reader_is_refused(
    c2s: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...], said: str
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("mine")
    code, out, err = c2s("run", "--model", "sim:oracle", "--domain", "math", "--limit", 1, *arguments)
    assert code == 2 and out == "" and said in err and not (tmp_path / "runs").exists()
    assert (tmp_path / "pyproject.toml").read_text() == "mine"


def test_a_chat_model_needs_its_server_named(c2s: Any, tmp_path: Path):
    code, _, err = c2s("run", "--model", "chat:any", "--limit", 1, "--out", tmp_path / "run")
    assert code == 2 and "--base-url" in err and "--profile" in err and not (tmp_path / "run").exists()


def test_a_cap_below_the_expected_price_is_said(c2s: Any):
    wanted = ("plan", "--model", "systemone:jev-1.13.0", "--limit", 6, "--domain", "math")
    assert "would stop the run" in c2s(*wanted, "--cap", 0.0001)[1] and "would stop the run" not in c2s(*wanted, "--cap", 5)[1]


def test_a_lost_ledger_is_not_called_a_run_that_sent_nothing(c2s: Any, tmp_path: Path):
    run = tmp_path / "run"
    assert c2s("run", "--model", "sim:oracle", "--domain", "math", "--limit", 1, "--out", run)[0] == 0
    shutil.copytree(run, tmp_path / "other")
    (tmp_path / "other" / "report.json").unlink()
    code, out, _ = c2s("verify", tmp_path / "other")
    assert code == 0 and "report.json is absent" in out and "absent" not in c2s("verify", run)[1]
    (run / "ledger.sqlite").unlink()
    code, _, err = c2s("status", run)
    assert code == 2 and "moved or deleted" in err and "delete it" not in err
