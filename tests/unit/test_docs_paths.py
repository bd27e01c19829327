"""The documents name files, modules and objects that exist."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CHANGELOG.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))]
PATH = re.compile(r"(?<![\w./~-])(?:c2s|tests|tui|cpp|docs|bench|examples)/[\w./<>-]*[\w>]")
DOTTED = re.compile(r"(?<![\w./~\"-])c2s(?:_tui)?(?:\.[A-Za-z_]\w*)+")
NOT_OBJECTS = {"c2s.models", "c2s.panels", "c2s.sources", "c2s.matched_tokens"}
"""Groups of entry points, and a member of a response."""


def absent_paths(text: str) -> list[str]:
    """Paths of the repository that a text names and that do not exist; `<topic>` in a path stands for any name."""
    named = set(PATH.findall(text))
    return sorted(path for path in named if not any(ROOT.glob(re.sub(r"<\w+>", "*", path))))


def absent_objects(text: str) -> list[str]:
    """Dotted names such as `c2s.stats.gee` that are no module and nothing in a module."""
    return sorted(name for name in set(DOTTED.findall(text)) - NOT_OBJECTS if not exists(name))


def exists(name: str) -> bool:
    """Whether a module, or an attribute inside one, has this dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            value = getattr(value, part, None)
        return value is not None
    return False


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text()
    assert absent_paths(text) == []
    assert absent_objects(text) == []


def test_every_part_of_the_table_of_layers_exists() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", (ROOT / "docs/architecture.md").read_text().partition("## The one mechanism")[0], re.MULTILINE)
    assert len(rows) > 25 and [path for row in rows for path in re.findall(r"`([^`]+)`", row) if not (ROOT / path).exists()] == []


WALKS = (ROOT / "docs/architecture.md").read_text().partition("## Three walks")[2].partition("\n## ")[0]


def members() -> set[str]:
    """`Class.member` of every class of c2s: methods, properties, fields."""
    names = set()
    for path in (ROOT / "c2s").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.FunctionDef):
                        names.add(f"{node.name}.{part.name}")
                    elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        names.add(f"{node.name}.{part.target.id}")
    return names


def test_the_walks_name_what_their_files_hold() -> None:
    placed = re.findall(r"`(?:[\w.]+\.)?(\w+)(?:\(\.*\))?`\s+(?:in\s+|\()`(c2s/[\w/]+\.py)`", WALKS)
    assert len(placed) > 35
    assert [
        f"{name} in {path}" for name, path in placed if not re.search(rf"^\s*(?:def |class )?{name}\b", (ROOT / path).read_text(), re.M)
    ] == []


def test_the_walks_name_members_that_exist() -> None:
    named = set(re.findall(r"`([A-Z]\w+\.[a-z_]\w*)(?:\(.*?\))?`", WALKS))
    assert len(named) > 20 and sorted(named - members()) == []


def test_the_check_sees_what_it_must() -> None:
    assert absent_paths("see `c2s/nothing.py`, `c2s/records.py` and `cpp/src/<topic>.cpp`") == ["c2s/nothing.py"]
    assert absent_objects("`c2s.stats.holm`, `c2s.stats.nothing`, `c2s.nothing`") == ["c2s.nothing", "c2s.stats.nothing"]
    assert absent_paths("https://example.org/c2s/nothing") == []
