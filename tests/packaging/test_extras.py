"""Optional packages: what c2s says where one is missing, and what a plain installation needs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from c2s.extras import install_command, packages

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
SOURCES = sorted([*(ROOT / "c2s").rglob("*.py"), *(ROOT / "tui").rglob("*.py")])
WITHOUT = (
    "import sys\n"
    "class Refuse:\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        if name.partition('.')[0] in sys.argv[1].split(','):\n"
    "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
    "sys.meta_path.insert(0, Refuse())\n"
)


def without(names: str, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a Python that lacks the packages `names`."""
    return subprocess.run([sys.executable, "-c", WITHOUT + code, names, *arguments], capture_output=True, text=True)


def test_the_command_for_a_checkout_and_for_a_wheel(tmp_path: Path):
    assert install_command("tui") == f"pip install -e '{ROOT}[tui]'"
    assert install_command("tui", tmp_path) == "pip install 'textual>=8.0' 'rich>=13.7'"
    with pytest.raises(KeyError):
        packages("absent")


def test_messages_name_extras_that_exist_and_no_package_index():
    named = {extra for path in SOURCES for extra in re.findall(r"install_command\(['\"](\w+)", path.read_text())}
    assert {"bank", "local", "tui", "web"} <= named <= set(EXTRAS)
    assert [str(path) for path in SOURCES if re.search(r"pip install '?c2s\b", path.read_text())] == []


@pytest.mark.parametrize("arguments", [(".", "--once"), (".",)])
def test_the_terminal_ui_without_its_packages_is_one_sentence(arguments: tuple[str, ...], tmp_path: Path):
    code = "from c2s_tui import main; import c2s_tui; c2s_tui._terminal = lambda: True; sys.exit(main(sys.argv[2:]))"
    done = without("textual,rich", code, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("c2s-tui: the screens are drawn with Textual and Rich, which are not installed: pip install")


def test_a_plain_installation_runs_reports_and_verifies_without_any_extra(tmp_path: Path):
    code = (
        "from c2s.cli import main\n"
        "run = sys.argv[2]\n"
        "assert main(['run', '--model', 'sim:positions', '--domain', 'math', '--limit', '6', '--out', run]) == 0\n"
        "assert main(['report', run]) == 0 and main(['verify', run]) == 0\n"
        "import c2s.stats\n"
        "assert 'scipy' not in sys.modules\n"
    )
    names = "textual,rich,nltk,wordfreq,statsmodels,sparrow_decider,torch,transformers"
    done = without(names, code, str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr


def test_problem_texts_need_no_nltk(wordnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = (
        "from c2s.banks.natural import load_bank, problem_text\n"
        "bank = load_bank()\n"
        "assert len(problem_text(bank, sys.argv[2])) == len(bank.items)\n"
    )
    done = without("nltk", code, str(wordnet))
    assert done.returncode == 0, done.stderr


@pytest.fixture
def wordnet() -> Path:
    from c2s.banks.wordnet import find_wordnet
    from c2s.errors import C2SError

    try:
        return find_wordnet()
    except C2SError as error:
        pytest.skip(str(error))
