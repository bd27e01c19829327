"""What is shipped: all that is needed, and nothing that is not meant to be in it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"c2s": ROOT / "c2s", "c2s_tui": ROOT / "tui" / "c2s_tui"}


def build(hook: str, out: Path) -> Path:
    """Call a build hook of scikit-build-core in the checkout, whose build folder is used again; returns the file that it wrote."""
    if find_spec("scikit_build_core") is None or find_spec("pybind11") is None:
        pytest.skip("needs the build tools in the environment: pip install scikit-build-core pybind11 cmake ninja")
    code = f"import sys; from scikit_build_core.build import {hook}; print({hook}(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(out)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(build("build_wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        yield archive


def files_under(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
    }


def test_every_source_file_is_in_the_wheel_and_nothing_else(wheel: zipfile.ZipFile):
    files = {name for name in wheel.namelist() if ".dist-info/" not in name}
    wanted = {f"{package}/{name}" for package, folder in PACKAGES.items() for name in files_under(folder)}
    compiled = {name for name in files if name.startswith("c2s/_core.") and name.endswith(".so")}
    assert len(compiled) == 1
    assert files - compiled == wanted and not [name for name in files if name.endswith((".deb", ".pyc", ".sqlite"))]
    assert {
        "c2s/presentation/contracts.toml",
        "c2s/banks/data/natural-v1.jsonl",
        "c2s/_core.pyi",
        "c2s_tui/__init__.py",
        "c2s/py.typed",
        "c2s_tui/py.typed",
    } <= files


def test_metadata_names_commands_extras_and_licences(wheel: zipfile.ZipFile):
    (info,) = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert wheel.read(f"{info}/entry_points.txt").decode().split() == "[console_scripts] c2s = c2s.cli:main c2s-tui = c2s_tui:main".split()
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE"} <= set(wheel.namelist())
    assert b"WordNet" in wheel.read(f"{info}/licenses/NOTICE")
    metadata = wheel.read(f"{info}/METADATA").decode()
    for line in (
        "Requires-Python: >=3.11",
        "License-Expression: Apache-2.0",
        *(f"Provides-Extra: {e}" for e in ("local", "demo", "test", "bench")),
    ):
        assert line in metadata.splitlines()
    # One wheel per Python minor: pybind11 has no stable ABI.
    assert f"Tag: cp{sys.version_info.major}{sys.version_info.minor}-cp" in wheel.read(f"{info}/WHEEL").decode()


def test_the_source_distribution_holds_what_a_build_needs_and_no_data(tmp_path: Path):
    with tarfile.open(build("build_sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "NOTICE"} <= names
    for folder in ("cpp", "c2s", "tui"):
        assert {f"{folder}/{name}" for name in files_under(ROOT / folder)} - names == set()
    assert not {name.partition("/")[0] for name in names} & {"build", "runs", "shared", ".venv", "dist"}
    assert not [name for name in names if name.endswith((".deb", ".so", ".sqlite")) and not name.startswith("tests/data/")]


def test_an_installed_copy_runs_outside_the_checkout(wheel: zipfile.ZipFile, tmp_path: Path):
    wheel.extractall(tmp_path / "site")
    # An editable install answers first unless its finder is taken out.
    code = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in type(f).__module__];"
        "sys.path.insert(0, sys.argv[1]); import c2s, c2s.kernels.carry; from c2s.cli import main; main(['models']); print(c2s.__file__)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "site" / "c2s" / "__init__.py")
    assert "sim:oracle" in done.stdout
