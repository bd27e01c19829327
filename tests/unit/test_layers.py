"""Imports go one way: down the table in docs/architecture.md, whose rows stand from the lowest layer to the highest."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^\| `((?:c2s|tui/c2s_tui)[\w/.]*)`", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
# What everything may import: the errors, how an extra is installed, and the package itself, which holds a version number.
COMMON = {"c2s", "c2s.errors", "c2s.extras"}
# Heavy packages and the only places that may import them.
ADAPTERS = {
    "torch": "c2s/backends/",
    "transformers": "c2s/backends/",
    "httpx": "c2s/backends/",
    "sparrow_decider": "c2s/backends/",
    "nltk": "c2s/bankbuild/",
    "wordfreq": "c2s/bankbuild/",
    "textual": "tui/c2s_tui/",
    "rich": "tui/c2s_tui/",
}
FILES = sorted(p.relative_to(ROOT).as_posix() for folder in ("c2s", "tui/c2s_tui") for p in (ROOT / folder).rglob("*.py"))


def imports(source: str, module: str) -> Iterator[str]:
    """Dotted names of all that a module imports, wherever in it; `from c2s.x import y` gives `c2s.x` and `c2s.x.y`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *filter(None, [base])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"c2s(\.\w+)+:\w+", node.value):
            name = node.value.partition(":")[0]  # something that is loaded lazily, by its name
            if not (module.startswith("c2s.panels.") and name.startswith("c2s.reports.")):  # an endpoint that a panel declares
                yield name


def layer(module: str) -> int | None:
    """Row of the table that a module belongs to, or None if it belongs to none."""
    for number, row in enumerate(ROWS):
        name = row.removeprefix("tui/").removesuffix(".py").replace("/", ".")
        if module == name or module.startswith(name + "."):
            return number
    return None


def module_name(file: str) -> str:
    return file.removeprefix("tui/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def upward(file: str, source: str) -> list[str]:
    """Imports of `file` that go up the table."""
    own = layer(module_name(file))
    targets = {name: layer(name) for name in imports(source, module_name(file)) if name not in COMMON}
    return sorted(name for name, row in targets.items() if row is not None and own is not None and row > own)


@pytest.mark.parametrize("file", FILES)
def test_nothing_imports_upward(file: str):
    if module_name(file) not in COMMON | {"c2s.__main__"}:
        assert layer(module_name(file)) is not None, f"{file} is in no row of the table in docs/architecture.md"
        assert upward(file, (ROOT / file).read_text()) == []


@pytest.mark.parametrize("file", FILES)
def test_special_packages_stay_in_their_places(file: str):
    names = set(imports((ROOT / file).read_text(), module_name(file)))
    if file != "c2s/kernels/_load.py":
        assert not [name for name in names if name == "c2s._core" or name.startswith("c2s._core.")]
    if not file.startswith("tui/"):
        assert not [name for name in names if name.partition(".")[0] == "c2s_tui"]
    for package, place in ADAPTERS.items():
        if not file.startswith(place):
            assert not [name for name in names if name.partition(".")[0] == package]


SQL = re.compile(r"\.execute(many|script)?\(")


@pytest.mark.parametrize("file", FILES)
def test_sql_stands_in_the_ledger_alone(file: str):
    if not file.startswith("c2s/ledger/"):
        assert SQL.search((ROOT / file).read_text()) is None, "ask a function of c2s/ledger"


def test_the_check_sees_what_it_must():
    assert SQL.search("db.execute('SELECT 1')") and SQL.search((ROOT / "c2s/ledger/reader.py").read_text())
    assert ROWS[0] == "c2s/kernels" and ROWS[-1] == "tui/c2s_tui" and len(FILES) > 40
    assert upward("c2s/stats/counts.py", "def f():\n    from c2s.ledger import reader\n") == ["c2s.ledger", "c2s.ledger.reader"]
    assert upward("c2s/banks/natural.py", "from ..cli.output import say") == ["c2s.cli.output", "c2s.cli.output.say"]
    assert upward("c2s/panels/registry.py", "WHERE = 'c2s.planning.plan:make_plan'") == ["c2s.planning.plan"]
    assert upward("c2s/cli/run.py", "from c2s.planning.plan import make_plan\nfrom c2s.errors import C2SError") == []
