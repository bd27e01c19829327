"""The library's names, signatures and columns, against what is declared."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import c2s
from c2s.api.columns import About, Columns
from c2s.errors import MissingDependency, UsageError
from c2s.options import Options, PathName, PathNames, PlanOptions, ResumeOptions, RunOptions, Texts, declared

FUNCTIONS = ("plan", "run", "resume", "open", "verify")


def keyword(option: Any) -> Any:
    """The annotation that a declared option has as a keyword."""
    if option.several:
        return PathNames if option.path else Texts
    if option.choices:
        return Literal[option.choices] | None
    if option.path:
        return PathName | None
    return {"text": str | None, "integer": int | None, "real": float | None, "flag": bool}[option.kind]


@pytest.mark.parametrize(
    ("function", "cls", "more"),
    [
        (c2s.plan, PlanOptions, set()),
        (c2s.run, RunOptions, {"progress", "stop"}),
        (c2s.resume, ResumeOptions, {"dir", "progress", "stop"}),
        (c2s.Run.resume, ResumeOptions, {"self", "progress", "stop"}),
    ],
)
def test_the_keywords_are_the_declared_options(function: Callable[..., Any], cls: type[Options], more: set[str]) -> None:
    parameters = inspect.signature(function).parameters
    options = declared(cls)
    assert set(parameters) == set(options) | more
    for name, option in options.items():
        written = eval(str(parameters[name].annotation), {"Literal": Literal, **vars(sys.modules["c2s.options"])})
        assert written == keyword(option), name
        assert parameters[name].default == option.default, name


def test_no_function_has_the_name_of_a_module() -> None:
    for name in FUNCTIONS:
        assert callable(getattr(c2s, name)) and inspect.getdoc(getattr(c2s, name))
        assert importlib.util.find_spec(f"c2s.{name}") is None and importlib.util.find_spec(f"c2s.api.{name}") is None
    assert set(c2s.__all__) >= {*FUNCTIONS, "Run", "Columns", "Progress"} - {"open"} and {*c2s.__all__, "open"} <= set(dir(c2s))
    namespace: dict[str, Any] = {}
    exec("from c2s import *", namespace)
    assert namespace["run"] is c2s.run and "open" not in namespace, "the builtin function stays"
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        c2s.runn  # noqa: B018


def test_importing_the_package_loads_nothing() -> None:
    listing = "import sys, c2s; print(*sorted(m for m in sys.modules if m.startswith('c2s')))"
    assert subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True).stdout.split() == ["c2s"]


ABOUT = (
    About("name", "text", "a name", nullable=True),
    About("n", "integer", "a count"),
    About("right", "boolean", "whether it is right", nullable=True),
    About("p", "real", "a probability", "probability", nullable=True),
    About("body", "bytes", "bytes", nullable=True),
)
VALUES = {"name": ["<b>", None], "n": [1, 2], "right": [1, None], "p": [None, 0.5], "body": [b"\xff", None]}


def test_columns_are_arrays_of_their_declared_type() -> None:
    columns = Columns(ABOUT, VALUES)
    arrays = columns.to_numpy()
    assert list(arrays) == [a.name for a in ABOUT] == list(columns) and columns.rows == 2 and len(columns) == 5
    for about in ABOUT:
        assert arrays[about.name].dtype == about.dtype and arrays[about.name].shape == (2,)
    assert arrays["name"][1] is None and arrays["right"][0] == 1.0 and np.isnan(arrays["right"][1]) and np.isnan(arrays["p"][0])
    assert columns["n"] is columns["n"] and columns["n"].dtype == np.int64
    empty = Columns(ABOUT, {name: [] for name in VALUES})
    assert empty.rows == 0 and empty["n"].dtype == np.int64 and empty["name"].shape == (0,)
    assert "&lt;b&gt;" in columns._repr_html_() and "<b>" not in columns._repr_html_()
    assert repr(columns) == "<Columns of 2 rows: name, n, right, p, body>"


def test_columns_as_a_pandas_table() -> None:
    pandas = pytest.importorskip("pandas")
    frame = Columns(ABOUT, VALUES).to_pandas()
    assert list(frame["n"]) == [1, 2] and frame["name"].isna().tolist() == [False, True]
    assert frame["right"].dtype == "boolean" and frame["right"][0] == True and frame["right"][1] is pandas.NA  # noqa: E712
    assert frame["p"].dtype == "Float64" and frame["n"].dtype == "Int64" and frame["body"][0] == b"\xff"


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")])
def test_a_table_needs_its_package_only_when_it_is_called(package: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    columns = Columns(ABOUT, VALUES)
    assert columns["n"].tolist() == [1, 2]
    with pytest.raises(MissingDependency, match=f"pip install {package}"):
        getattr(columns, method)()


@pytest.mark.parametrize(("package", "method"), [("polars", "to_polars"), ("pyarrow", "to_arrow")])
def test_columns_as_another_table(package: str, method: str) -> None:
    pytest.importorskip(package)
    table = getattr(Columns(ABOUT, VALUES), method)()
    named = table.to_dict(as_series=False) if package == "polars" else table.to_pydict()
    assert named == {"name": ["<b>", None], "n": [1, 2], "right": [True, None], "p": [None, 0.5], "body": [b"\xff", None]}


USER_FILE = """
from __future__ import annotations

import threading
from pathlib import Path

import c2s
import numpy as np
from typing_extensions import assert_type


def show(progress: c2s.Progress) -> None:
    print(progress.requests - progress.open, progress.usd, progress.message)


planned = c2s.plan("sim:oracle", panels=["main"], limit=4)
expected: float | None = planned.usd_expected
stop = threading.Event()
run = c2s.run("sim:oracle", "main", Path("out"), limit=4, data=[Path("a")], on_model_change="mark", progress=show, stop=stop)
assert_type(run, c2s.Run)
run = c2s.resume("out", retry_errors=True, cap=3)
correct = np.nanmean(run.outcomes()["correct"])
for panel in run.report().names():
    for section in run.report().sections(panel):
        rows: list[dict[str, object]] = [dict(row) for row in section.rows]
differences: list[str] = c2s.verify(c2s.open("out").path).differences
"""
WRONG = """
import c2s

c2s.run("sim:oracle", limits=4)
c2s.run("sim:oracle", on_model_change="maybe")
c2s.open(3)
c2s.open("x").outcome()
"""


def test_a_user_s_file_passes_the_type_checker(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "uses.py").write_text(USER_FILE)
    (tmp_path / "wrong.py").write_text(WRONG)
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "--no-error-summary"]
    done = subprocess.run([*words, "uses.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    done = subprocess.run([*words, "wrong.py"], cwd=tmp_path, capture_output=True, text=True)
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == ["4", "5", "6", "7"], done.stdout


def test_wrong_usage_is_an_error_of_the_library(tmp_path: Path) -> None:
    for values, message in (
        ({"panels": "mian"}, "unknown panel 'mian' (did you mean main"),
        ({"concurrency": 0}, "concurrency is between 1 and 1000"),
        ({"model": "sim:orcale"}, "unknown model 'sim:orcale' (did you mean sim:oracle"),
        ({"domains": ["maths"]}, "unknown domain 'maths' (did you mean math"),
        ({"cap": 1.0}, "no price is known"),
    ):
        with pytest.raises(UsageError) as error:
            c2s.run(**{"model": "sim:oracle", "out": tmp_path / "run", **values})  # type: ignore[arg-type]
        assert message in str(error.value) and not (tmp_path / "run").exists()
    assert typing.get_type_hints(c2s.Progress)["seconds"] is float
