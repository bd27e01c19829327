"""The examples do what they say: the notebook is executed, the configuration is read."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from c2s.cli import main
from c2s.options import RunOptions
from c2s.toml_files import read_options

EXAMPLES = Path(__file__).parents[2] / "examples"


def execute(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """Run a notebook's code cells in one namespace; gives it, and the value of every cell's last expression."""
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    namespace: dict[str, Any] = {"__name__": "__main__"}
    values = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), namespace)
        values.append(eval(compile(ast.Expression(last.value), cell["id"], "eval"), namespace) if isinstance(last, ast.Expr) else None)
    return namespace, values


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    namespace, (planned, run, accuracy, transitions, states, differences) = execute(EXAMPLES / "first_run.ipynb")
    assert planned[0] == run.requests["planned"] == 1560 and run.state == "done" and "done" in run._repr_html_()
    assert 0.9 <= accuracy["native"] <= 1 and accuracy["serial"] < 0.8, (
        "0.9 a position leaves 0.73 of answers of length 3 and less of longer ones"
    )
    for _, joint, scr, (low, high) in transitions:
        assert sum(joint) == 60 and scr == joint[0] / (joint[0] + joint[1]) and low <= scr <= high
    assert states == (("interrupted", True), "done") and differences == []
    assert namespace["second"].requests["open"] == 0
    assert capfd.readouterr() == ("", "") and not list(tmp_path.iterdir())


def test_the_notebook_runs_in_jupyter(tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(EXAMPLES / "first_run.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "[]" in notebook.cells[-1].outputs[0].data["text/plain"]


def test_the_configuration_is_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = read_options(EXAMPLES / "run.toml", RunOptions)
    assert (made.panels, made.domains, made.limit, made.retries) == (("main",), ("math", "lexical"), 12, 4)
    assert main(["run", "--config", str(EXAMPLES / "run.toml"), "--limit", "2", "--out", str(tmp_path / "run"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["settings"]["limit"] == 2 and document["settings"]["domain"] == ["math", "lexical"]
