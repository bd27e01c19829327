"""Texts that a user's file or a ledger brings are data: no template language reads them, and nothing evaluates them."""

from __future__ import annotations

import ast
import json
import sqlite3
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "c2s").rglob("*.py"), *(ROOT / "tui").rglob("*.py")])
BRACES = "{X} {R.__class__} {0} {} {X!r:>99999999} %s ${HOME} {{"

OURS = {
    "c2s/controllers/copying.py",
    "c2s/controllers/dialogue_requests.py",
    "c2s/controllers/judge.py",
    "c2s/controllers/judge_probes.py",
    "c2s/panels/choice/factors.py",
    "c2s/panels/choice/isomorphic.py",
    "c2s/panels/choice/semantic.py",
    "c2s/presentation/texts.py",
    "c2s/sources/judge_sources.py",
}
"""Where a template is filled in. Each is a text of contracts.toml or ours.toml, whose bytes are in every manifest's contracts_sha256."""

EVALUATORS = {"eval", "exec", "compile", "__import__", "import_module"}
ALLOWED = {
    "c2s/__init__.py": {"import_module"},  # the modules of the API
    "c2s/api/columns.py": {"import_module"},  # pandas, polars and pyarrow
    "c2s/backends/scripted.py": {"exec", "compile"},  # the file that the user names on the command line
    "c2s/cli/__init__.py": {"import_module"},  # the commands of c2s itself
    "c2s/kernels/_load.py": {"import_module"},
    "c2s/plugins.py": {"import_module"},  # what c2s or an installed package declares
    "tui/c2s_tui/app.py": {"import_module"},  # the screens of the terminal UI
}


def calls(file: Path) -> list[tuple[str, ast.Call]]:
    """(name of the function or method, call) of every call in a file."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
            found.append((name, node))
    return found


def test_templates_are_filled_in_where_they_are_ours_and_nowhere_else():
    filled = set()
    for file in FILES:
        for name, call in calls(file):
            template = call.func.value if isinstance(call.func, ast.Attribute) else None
            written = isinstance(template, ast.Constant) or (isinstance(template, ast.Name) and template.id.isupper())
            if name in ("format", "format_map", "vformat", "Template") and template is not None and not written:
                filled.add(file.relative_to(ROOT).as_posix())
    assert {name for name in filled if not name.startswith("c2s/bankbuild/")} == OURS


def test_nothing_but_what_is_listed_evaluates_or_imports_by_name():
    for file in FILES:
        name = file.relative_to(ROOT).as_posix()
        used = {
            called
            for called, call in calls(file)
            if called in EVALUATORS and (isinstance(call.func, ast.Name) or called == "import_module")  # not re.compile, not model.eval
        }
        assert used <= ALLOWED.get(name, set()), name


@pytest.fixture
def audited(c2s, memory_path: Path) -> Path:
    """An audit whose rubric and items are full of what a template language would act on."""
    rubric = {"instruction": f"Grade. {BRACES}", "criteria": {"correct": BRACES, "incorrect": "no"}}
    (memory_path / "rubric.json").write_text(json.dumps(rubric))
    items = [
        {"question": f"{BRACES} {n}?", "reference": f"{BRACES} {n}", "correct": f"{BRACES} {n}", "wrong": f"{{Y}} {n}"} for n in range(3)
    ]
    (memory_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    arguments = ("--rubric", memory_path / "rubric.json", "--data", memory_path / "items.jsonl", "--out", memory_path / "run")
    code, _, err = c2s("judge", "audit", "--model", "sim:judge", *arguments)
    assert code == 0, err
    return memory_path / "run"


def test_braces_in_a_rubric_and_in_items_reach_the_wire_as_they_are(c2s, audited: Path):
    with sqlite3.connect(audited / "ledger.sqlite") as db:
        bodies = [json.loads(body) for (body,) in db.execute("SELECT request FROM exchanges")]
    assert bodies
    for body in bodies:
        (question,) = body["questions"].values()
        assert question["instructions"] == f"Grade. {BRACES}" and question["criteria"]["correct"] == BRACES
        assert body["state"]["question"].startswith(BRACES)
    assert any(body["state"]["model_reply"].startswith(BRACES) for body in bodies)
    assert c2s("verify", audited)[0] == 0
