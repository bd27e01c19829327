"""A missing, foreign or stale compiled core is met with one message that names the mend (shared/spec/CASES.md, 26)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import c2s
from c2s.errors import UsageError
from c2s.kernels import _load

REPOSITORY = Path(__file__).parents[2]
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def checkout(tmp_path):
    """A copy of what the loader looks at: the C++ sources and the Python that imports the core."""
    root = tmp_path / "checkout"
    for folder in ("cpp", "c2s/kernels"):
        shutil.copytree(REPOSITORY / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("CMakeLists.txt", "c2s/__init__.py", "c2s/errors.py", "c2s/_core.pyi"):
        shutil.copy(REPOSITORY / file, root / file)
    return root


@pytest.fixture
def tools(monkeypatch):
    """The build tools count as installed, whatever this environment holds."""
    monkeypatch.setattr(_load, "find_spec", lambda name: name)


def core_of(root, version=c2s.__version__):
    return SimpleNamespace(__version__=version, __build_id__=_load.source_digest(root))


def refusal(core, root, version=c2s.__version__):
    with pytest.raises(UsageError) as error:
        _load.check(core, root / "c2s", version)
    return str(error.value)


def test_the_core_of_this_process_was_built_from_these_sources():
    assert _load.core.__build_id__ == _load.source_digest(REPOSITORY)
    assert _load.core.__version__ == c2s.__version__


def test_the_wheel_is_of_the_same_version():
    assert tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"] == c2s.__version__


def test_the_build_takes_the_same_digest(checkout, tmp_path):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is not on the path")
    header = tmp_path / "id.hpp"
    subprocess.run([cmake, f"-DSOURCE={checkout}", f"-DOUTPUT={header}", "-P", checkout / "cpp/build_id.cmake"], check=True)
    text = header.read_text()
    assert f'#define C2S_BUILD_ID "{_load.source_digest(checkout)}"' in text
    assert f'#define C2S_VERSION "{c2s.__version__}"' in text


def test_a_fresh_core_is_accepted_and_new_dates_alone_change_nothing(checkout):
    core = core_of(checkout)
    os.utime(checkout / "cpp/src/carry.cpp")
    (checkout / "cpp/tests/test_carry.cpp").write_text("tests are not compiled in")
    (checkout / "cpp/src/notes.txt").write_text("neither is this")
    _load.check(core, checkout / "c2s", c2s.__version__)


@pytest.mark.parametrize("change", ["edit", "add", "remove", "rename", "flags"])
def test_any_change_of_the_sources_makes_the_core_stale(checkout, tools, change):
    core = core_of(checkout)
    source = checkout / "cpp/src/carry.cpp"
    match change:
        case "edit":
            source.write_text(source.read_text() + "\n")
        case "add":
            (checkout / "cpp/include/c2s_core/new.hpp").write_text("")
        case "remove":
            source.unlink()
        case "rename":
            source.rename(source.with_name("renamed.cpp"))
        case "flags":
            (checkout / "CMakeLists.txt").write_text("# other compile flags")
    assert refusal(core, checkout) == (
        "the compiled core is stale, the C++ sources have changed since it was built: "
        f"run `pip install --no-build-isolation -e .` in {checkout}"
    )


def test_without_the_build_tools_pip_has_to_fetch_them(checkout, monkeypatch):
    monkeypatch.setattr(_load, "find_spec", lambda name: None)
    assert _load.mending_command(checkout) == "pip install -e ."


def test_another_version_in_a_checkout(checkout, tools):
    assert refusal(core_of(checkout, "0.0.9"), checkout) == (
        f"the compiled core is of version 0.0.9, c2s in {checkout / 'c2s'} is {c2s.__version__}: "
        f"run `pip install --no-build-isolation -e .` in {checkout}"
    )


def test_another_version_of_an_installed_package(checkout):
    core = core_of(checkout, "0.0.9")
    shutil.rmtree(checkout / "cpp")
    assert refusal(core, checkout) == (
        f"the compiled core is of version 0.0.9, c2s in {checkout / 'c2s'} is {c2s.__version__}: "
        "run `pip install --force-reinstall --no-deps .` in the source folder"
    )


def test_an_installed_package_has_no_sources_to_compare(checkout):
    core = core_of(checkout)
    shutil.rmtree(checkout / "cpp")
    core.__build_id__ = "whatever it was built from"
    _load.check(core, checkout / "c2s", c2s.__version__)


def import_in(folder):
    """Import the kernels with `folder` first on the path and no site packages, as a process of its own."""
    run = subprocess.run([sys.executable, "-S", "-c", "import c2s.kernels._load"], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    return run.stderr.strip().splitlines()[-1]


def test_python_inside_an_uncompiled_checkout_gets_a_hint(checkout):
    hint = (
        f"c2s.errors.UsageError: Python {HERE} imports c2s from the source folder {checkout}, which holds no compiled core: "
        "run `pip install -e .` there, or start Python in another folder to use an installed c2s"
    )
    assert import_in(checkout) == hint
    # A folder of stubs imports as an empty namespace; that is no core either.
    (checkout / "c2s/_core").mkdir()
    assert import_in(checkout) == hint


def test_an_installed_package_without_its_core(checkout):
    shutil.rmtree(checkout / "cpp")
    assert import_in(checkout) == (
        f"c2s.errors.UsageError: the compiled core c2s._core is missing from {checkout / 'c2s'} (Python {HERE}): "
        "run `pip install --force-reinstall --no-deps .` in the source folder"
    )


def test_a_core_that_does_not_load(checkout):
    (checkout / "c2s" / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}").write_bytes(b"not a library")
    line = import_in(checkout)
    assert line.startswith("c2s.errors.UsageError: the compiled core does not load (")
    assert line.endswith(f"): run `pip install -e .` in {checkout}")
