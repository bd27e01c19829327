"""Packages as a user installs them: a wheel made of a folder, then pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path


def wheel(project: Path, out: Path) -> Path:
    """A wheel of the packages beside `project`/pyproject.toml, with the metadata and entry points that it states."""
    stated = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    stem = f"{stated['name'].replace('-', '_')}-{stated['version']}"
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in stated.get("entry-points", {}).items()
    )
    files = {str(path.relative_to(project)): path.read_text() for path in sorted(project.rglob("*.py"))}
    files |= {
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {stated['name']}\nVersion: {stated['version']}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": points,
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{stem}.dist-info/RECORD"])
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (files | {f"{stem}.dist-info/RECORD": record}).items():
            archive.writestr(name, text)
    return path


class Installed:
    """A package that pip has put into a folder of its own, and c2s run in new processes that see that folder until it is removed."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.site, self.folder = folder / "site", folder
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-deps"]
        made = wheel(project, folder / "wheels")
        done = subprocess.run([*pip, "--target", str(self.site), str(made)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def remove(self) -> None:
        shutil.rmtree(self.site)

    def command(self, *arguments: object, module: str = "c2s") -> tuple[int, str, str]:
        """Exit code, stdout and stderr of `c2s ARGUMENTS` (or of another module), run in `folder`."""
        environment = os.environ | {"PYTHONPATH": str(self.site)}
        command = [sys.executable, "-m", module, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder, env=environment, timeout=300)
        return done.returncode, done.stdout, done.stderr
