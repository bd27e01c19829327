"""The only importer of `c2s._core`: `from c2s.kernels._load import core`.

The compiled module must be there, be of this version and, in a source checkout, be built from the C++ sources as they are
now: an editable install does not rebuild after an edit or a `git pull`. The check hashes those sources, which takes less than
a millisecond; an installed package has none and skips it.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import c2s
from c2s.errors import UsageError

_PACKAGE = Path(c2s.__file__).parent


def source_root(package: Path) -> Path | None:
    """The checkout that `package` (the folder `c2s`) lies in, or None for an installed package."""
    root = package.parent
    return root if (root / "cpp" / "bindings" / "module.cpp").is_file() and (root / "CMakeLists.txt").is_file() else None


def source_digest(root: Path) -> str:
    """SHA-256 over the C++ sources of a checkout, taken exactly as `cpp/build_id.cmake` takes it at every build."""
    files = [root / "CMakeLists.txt"]
    for folder, suffixes in (("include", {".hpp"}), ("src", {".cpp"}), ("bindings", {".hpp", ".cpp"})):
        files += [f for f in (root / "cpp" / folder).rglob("*") if f.suffix in suffixes]
    named = sorted((f.relative_to(root).as_posix(), f) for f in files)
    lines = "".join(f"{hashlib.sha256(f.read_bytes()).hexdigest()} {name}\n" for name, f in named)
    return hashlib.sha256(lines.encode()).hexdigest()


def mending_command(root: Path | None) -> str:
    """What brings the compiled module in line with the sources."""
    if root is None:
        return "pip install --force-reinstall --no-deps ."
    have_tools = find_spec("scikit_build_core") is not None and find_spec("pybind11") is not None
    return "pip install --no-build-isolation -e ." if have_tools else "pip install -e ."


def check(core: ModuleType, package: Path, version: str) -> None:
    """Raise UsageError unless `core` belongs to the Python sources in `package`, which call themselves `version`."""
    root = source_root(package)
    where = f"in {root}" if root else "in the source folder"
    built = getattr(core, "__version__", "unknown")
    if built != version:
        raise UsageError(f"the compiled core is of version {built}, c2s in {package} is {version}: run `{mending_command(root)}` {where}")
    if root is not None and core.__build_id__ != source_digest(root):
        raise UsageError(
            f"the compiled core is stale, the C++ sources have changed since it was built: run `{mending_command(root)}` {where}"
        )


def load(package: Path, version: str) -> ModuleType:
    """Import and check the compiled core; every failure is a UsageError that names the command which mends it."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    root = source_root(package)
    try:
        core = importlib.import_module("c2s._core")
    except ModuleNotFoundError as error:
        if error.name != "c2s._core":
            raise
        core = None
    except ImportError as error:
        where = f"in {root}" if root else "in the source folder"
        raise UsageError(
            f"the compiled core does not load ({' '.join(str(error).split())}): run `{mending_command(root)}` {where}"
        ) from error
    if core is None or not hasattr(core, "__build_id__"):
        if root is None:
            raise UsageError(
                f"the compiled core c2s._core is missing from {package} (Python {python}): "
                f"run `{mending_command(None)}` in the source folder"
            )
        raise UsageError(
            f"Python {python} imports c2s from the source folder {root}, which holds no compiled core: "
            f"run `{mending_command(root)}` there, or start Python in another folder to use an installed c2s"
        )
    check(core, package, version)
    return core


if TYPE_CHECKING:
    from c2s import _core

    core = _core
else:
    core = load(_PACKAGE, c2s.__version__)
