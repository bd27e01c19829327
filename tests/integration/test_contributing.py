"""The package of docs/contributing.md, installed and run as it is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.packages import Installed

TEXT = (Path(__file__).parents[2] / "docs/contributing.md").read_text()
BLOCKS = dict(re.findall(r"`([\w/.]+)`:\n\n```(?:python|toml)\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The files of the page as a package that pip has installed."""
    project = tmp_path_factory.mktemp("page")
    assert list(BLOCKS) == ["pyproject.toml", "head_start/panel.py", "head_start/report.py", "head_start/model.py"]
    for name, source in ({"head_start/__init__.py": ""} | BLOCKS).items():
        assert len(source.splitlines()) < 60
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(source)
    return Installed(project, project / "installed")


def test_the_package_runs_reports_verifies_and_resumes(package: Installed):
    command = re.search(r"^    c2s (run --panel head-start .*)$", TEXT, re.MULTILINE)[1].split()
    code, out, err = package.command(*command, "--domain", "math", "--out", "run", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert document["panel"] == "head-start" and document["requests"]["ok"] == sum(1 + n + n - 1 for n in range(3, 9))
    assert {"contrasts:head start", "first_error", "compliance"} <= set(document["sections"])
    (test,) = document["sections"]["contrasts:head start"]["rows"]
    assert test["m"] == 1 and 0 <= test["p"] <= 1
    rows = {row["arm"]: row for row in document["sections"]["first_error"]["rows"]}
    assert set(rows) == {"serial", "head_start"} and sum(row["n"] for row in rows.values()) > 0
    assert rows["head_start"]["n"] == 0 or rows["head_start"]["position"] >= 2
    code, out, err = package.command("verify", "run")
    assert code == 0, out + err
    code, out, err = package.command("report", "run")
    assert code == 0 and "first error at" in out, err
    assert package.command("resume", "run")[0] == 0
    for command, name in (("panels", "head-start"), ("models", "careless")):
        (listed,) = [row for row in json.loads(package.command(command, "--json")[1]) if row["name"] == name]
        assert (listed["distribution"], listed["version"]) == ("c2s-head-start", "0.1.0")


def test_a_false_endpoint_is_refused_before_anything_exists(package: Installed):
    report = package.site / "head_start" / "report.py"
    source = report.read_text()
    report.write_text(source.replace("def first_error", "def other_name"))
    code, _, err = package.command("run", "--panel", "head-start", "--model", "careless", "--limit", 1, "--out", "refused")
    report.write_text(source)
    assert code == 2 and not (package.folder / "refused").exists()
    assert (
        "panel 'head-start': the endpoint 'head_start.report:first_error' cannot be used: the module head_start.report has no first_error"
        in err
    )
