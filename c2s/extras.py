"""How an optional part of c2s is installed here. c2s is on no package index, so the command depends on how c2s itself was installed."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parents[1]


def install_command(extra: str, root: Path = _ROOT) -> str:
    """The command that installs what the extra `extra` needs; it works in any folder.

    For a checkout (`root`, the folder that holds the package) pip installs the extra from there; for an installed wheel it installs the
    extra's packages by their own names. Raises KeyError for an extra that the wheel does not declare.
    """
    if (root / "pyproject.toml").is_file():
        return f"pip install -e '{root}[{extra}]'"
    return "pip install " + " ".join(f"'{requirement}'" for requirement in packages(extra))


def packages(extra: str) -> list[str]:
    """Requirements of an extra, as the installed metadata of c2s declares them. Raises KeyError for an unknown extra."""
    from importlib.metadata import requires

    declared = [line.partition(";") for line in requires("c2s") or ()]
    found = [name.strip() for name, _, condition in declared if condition.replace('"', "'").strip() == f"extra == '{extra}'"]
    if not found:
        raise KeyError(extra)
    return found
