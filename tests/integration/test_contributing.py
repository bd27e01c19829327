"""The worked example of docs/contributing.md, executed as it is printed."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from c2s.panels.registry import PANELS
from c2s.verification import verify

TEXT = (Path(__file__).parents[2] / "docs/contributing.md").read_text()


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two files of the example as modules of c2s, and the panel in the registry."""
    blocks = re.findall(r"`c2s/(\w+)/(\w+)\.py`:\n\n```python\n(.*?)```", TEXT, re.DOTALL)
    assert [f"{folder}.{name}" for folder, name, _ in blocks] == ["panels.head_start", "reports.head_start"]
    for folder, name, source in blocks:
        assert len(source.splitlines()) < 60
        module = ModuleType(f"c2s.{folder}.{name}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    panel = sys.modules["c2s.panels.head_start"].HEAD_START
    monkeypatch.setitem(PANELS.declared, panel.name, panel)


def test_the_example_runs_reports_and_verifies(example: None, c2s, memory_path: Path):
    command = re.search(r"^    c2s (run --panel head-start .*)$", TEXT, re.MULTILINE)[1].split()
    code, out, _ = c2s(*command, "--domain", "math", "--out", memory_path / "run", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["panel"] == "head-start" and document["requests"]["ok"] == sum(1 + n + n - 1 for n in range(3, 9))
    assert list(document["sections"]) == ["contrasts:head start", "first_error", "compliance"]
    (test,) = document["sections"]["contrasts:head start"]["rows"]
    assert test["m"] == 1 and 0 <= test["p"] <= 1 and sum(test["joint"]) == 6
    rows = {row["arm"]: row for row in document["sections"]["first_error"]["rows"]}
    assert rows["head_start"]["n"] == 0 or rows["head_start"]["position"] >= 2
    assert verify(memory_path / "run").differences == []
    code, out, _ = c2s("report", memory_path / "run")
    assert code == 0 and "first error at" in out
