"""Names that installed packages bring: looked up, refused with a sentence, and never in the way of others."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from c2s.backends.registry import MODELS, find, open_model
from c2s.errors import UsageError
from c2s.panels.base import Endpoint
from c2s.panels.registry import PANELS, check_endpoints, panel, select
from c2s.planning.plan import make_plan
from c2s.plugins import Registry, missing, origins, resolve_endpoint

MAIN = panel("main")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`install(name, {group: {entry: target}}, {file: text})` puts a distribution where imports find it."""

    def put(name: str, points: dict[str, dict[str, str]], files: dict[str, str]) -> None:
        folder = tmp_path / f"site-{name}"
        info = folder / f"{name.replace('-', '_')}-1.5.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        lines = [f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items()) for group, entries in points.items()]
        (info / "entry_points.txt").write_text("\n".join(lines))
        for file, text in files.items():
            (folder / file).write_text(text)
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
        monkeypatch.syspath_prepend(folder)

    yield put
    for registry in (MODELS, PANELS):
        for name in set(registry.loaded) - set(registry.declared):
            del registry.loaded[name]
    for name in [name for name, module in sys.modules.items() if str(getattr(module, "__file__", "")).startswith(str(tmp_path))]:
        del sys.modules[name]


PANEL = """
from dataclasses import replace
from c2s.panels.base import Endpoint
from c2s.panels.registry import panel
OWN = replace(panel("main"), name="own", endpoints=(Endpoint("own_reports:table"),))
"""


def test_our_panels_and_models_stand_in_the_same_registry_under_their_own_names():
    assert all(PANELS[name].name == name and PANELS.distribution(name).name == "c2s" for name in PANELS.declared)
    assert all(MODELS[name].kind == name for name in MODELS.declared)
    assert find("systemone:jev-1.13.0")[1] == "jev-1.13.0" and find("sim:oracle")[1] == "" and find("script:a:b.py")[1] == "a:b.py"
    for name in ("systemone:", "systemone", "sparrow:x", "sparrow:", "sim", "sim:orcle", "nobody:x", ""):
        with pytest.raises(UsageError, match="unknown model"):
            find(name)


def test_a_panel_of_a_package_is_found_and_named_and_all_means_ours_alone(install):
    install("own-package", {"c2s.panels": {"own": "own_panel:OWN"}}, {"own_panel.py": PANEL, "own_reports.py": "def table(data): ..."})
    assert "own" not in PANELS.loaded  # nothing is imported before it is asked for
    assert panel("own").arms == MAIN.arms and str(PANELS.distribution("own")) == "own-package 1.5"
    assert [p.name for p in select(["all", "own"]).panels if p.name not in PANELS.declared] == ["own"]
    assert "own" not in [p.name for p in select(["all"]).panels] and select(["all"]).skipped == {}
    assert origins({"panel": ["main", "own"], "model": ["sim:oracle", "x"]}) == {"panel": {"own": ["own-package", "1.5"]}}
    assert resolve_endpoint("own", "own_reports:table").__name__ == "table"
    assert PANELS.problems() == []


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("raise RuntimeError('no\\nlicence')", "own_panel:OWN failed: RuntimeError: no licence"),
        ("import sys; sys.exit(3)", "own_panel:OWN failed: SystemExit: 3"),
        ("class Odd(BaseException): ...\nraise Odd('x' * 5000)", f"own_panel:OWN failed: Odd: {'x' * 300}..."),
        ("class Odd(Exception):\n    def __str__(self): 1 / 0\nraise Odd", "own_panel:OWN failed: Odd: (its message cannot be shown)"),
        ("import absent_module", "own_panel:OWN failed: No module named 'absent_module'"),
        ("OTHER = 1", "own_panel:OWN failed: the module own_panel has no OWN"),
        ("OWN = 1", "own_panel:OWN is no c2s.panels.base.Panel, but int"),
        (PANEL.replace('name="own"', 'name="mine"'), "is named 'mine'; its entry point must have the same name"),
    ],
)
def test_a_package_that_cannot_be_used_is_one_sentence_and_hinders_nobody(install, source, sentence):
    install("broken-package", {"c2s.panels": {"own": "own_panel:OWN"}}, {"own_panel.py": source})
    with pytest.raises(UsageError) as raised:
        panel("own")
    assert str(raised.value).startswith("panel 'own' of the package broken-package 1.5 cannot be used: ") and sentence in str(raised.value)
    assert PANELS.problems() == [str(raised.value)]
    assert "own" not in list(PANELS) and "main" in list(PANELS)
    assert "main" in [p.name for p in select(["all"]).panels]


def test_ctrl_c_while_a_package_is_imported_ends_the_command(install):
    install("slow-package", {"c2s.panels": {"own": "own_panel:OWN"}}, {"own_panel.py": "raise KeyboardInterrupt"})
    with pytest.raises(KeyboardInterrupt):
        panel("own")


def test_no_package_brings_a_panel_named_all(install):
    install("greedy", {"c2s.panels": {"all": "own_panel:OWN"}}, {"own_panel.py": "raise RuntimeError"})
    assert PANELS.problems() == ["greedy 1.5 brings a panel 'all': this name has a meaning of its own in c2s"]
    assert "main" in [p.name for p in select(["all"]).panels]


def test_what_a_package_prints_when_it_is_imported_goes_to_standard_error(install, capsys):
    install(
        "loud",
        {"c2s.panels": {"own": "own_panel:OWN"}},
        {"own_panel.py": "print('hello')" + PANEL, "own_reports.py": "print('again')\ndef table(data): ..."},
    )
    assert panel("own").name == "own" and resolve_endpoint("own", "own_reports:table").__name__ == "table"
    assert capsys.readouterr() == ("", "hello\nagain\n")


def test_an_earlier_folder_of_the_path_has_the_package(install):
    install("same", {"c2s.panels": {"own": "own_panel:OWN"}}, {})
    earlier = Path(sys.path[0])
    install("same-later", {}, {})
    (Path(sys.path[0]) / "same_later-1.5.dist-info").rename(Path(sys.path[0]) / "same-2.0.dist-info")
    (Path(sys.path[0]) / "same-2.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: Same\nVersion: 2.0\n")
    (Path(sys.path[0]) / "same-2.0.dist-info" / "entry_points.txt").write_text("[c2s.panels]\nown = own_panel:OWN\n")
    assert str(PANELS.distribution("own")) == "Same 2.0" and earlier != Path(sys.path[0])


@pytest.mark.parametrize("path", ["", "absolute"])
def test_a_package_that_only_lies_in_the_current_folder_is_not_installed(install, monkeypatch, path):
    install("evil", {"c2s.panels": {"evil": "evil:PANEL"}, "c2s.models": {"evil": "evil:PANEL"}}, {"evil.py": "raise SystemExit(0)"})
    assert "evil" in PANELS.names()
    folder = sys.path[0]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [path and folder, *sys.path[1:]])
    assert "evil" not in PANELS.names() and "evil" not in MODELS.names()


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "c2s", "panels", "--json"],
        [
            "-c",
            "from c2s.panels.registry import PANELS; print(list(PANELS), PANELS.problems())",
        ],
    ],
)
def test_python_in_a_folder_with_metadata_finds_no_package_there(install, command):
    install(
        "evil", {"c2s.panels": {"evil": "evil:PANEL"}}, {"evil.py": "open('sprung', 'w').close()", "json.py": "open('sprung', 'w').close()"}
    )
    folder = Path(sys.path[0])
    if command[0] == "-c":
        (folder / "json.py").unlink()  # Python itself looks there first
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "evil" not in done.stdout + done.stderr and "main" in done.stdout and not (folder / "sprung").exists()


def test_a_package_takes_no_name_of_ours_and_two_packages_share_none(install):
    install("greedy", {"c2s.panels": {"main": "greedy_panel:MAIN"}}, {"greedy_panel.py": "raise RuntimeError"})
    assert panel("main") is MAIN
    assert PANELS.problems() == ["greedy 1.5 brings a panel 'main', which is a name of c2s itself: it is ignored"]
    install("one", {"c2s.models": {"tiny": "one_model:TINY", "a b": "one_model:TINY"}}, {"one_model.py": ""})
    install("two", {"c2s.models": {"tiny": "two_model:TINY"}}, {"two_model.py": ""})
    with pytest.raises(UsageError, match=r"model 'tiny' is brought by two packages, (one|two) 1\.5 and (one|two) 1\.5"):
        open_model("tiny")
    assert "one 1.5 brings a model 'a b': a name is made of letters, digits, dots and dashes" in MODELS.problems()
    assert open_model("sim:oracle").name == "sim:oracle"


def test_a_model_opens_from_its_own_package_alone(install):
    entry = "from c2s.plugins import Entry\n"
    files = {
        "tiny_model.py": entry
        + "TINY = Entry('tiny:SIZE', 'small', 'nothing', 'tiny_model:open_it')\n"
        + "ELSE = Entry('else', 'x', 'nothing', 'json:loads')\n"
        + "def open_it(name, detail, options, common): return (name, detail, options, common)\n"
    }
    install("tiny-package", {"c2s.models": {"tiny": "tiny_model:TINY", "else": "tiny_model:ELSE"}}, files)
    assert open_model("tiny:3?x=y", {"concurrency": 2}) == ("tiny:3?x=y", "3", {"x": "y"}, {"concurrency": 2})
    assert str(find("tiny:3")[0].distribution) == "tiny-package 1.5"
    with pytest.raises(UsageError, match=r"'json:loads' is not a module:function of that package"):
        open_model("else")
    with pytest.raises(UsageError, match="did you mean tiny:SIZE"):
        open_model("tinny:3")


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        ("os:system", "is not in c2s.reports"),
        ("c2s.planning.plan:make_plan", "is not in c2s.reports"),
        ("c2s.reports_of_mine:x", "is not in c2s.reports"),
        ("c2s.reports.contrasts", "is not written as module:function"),
        ("c2s.reports.contrasts:stats.holm", "is not written as module:function"),
        ("c2s.reports.nowhere:x", "cannot be used: No module named 'c2s.reports.nowhere'"),
        ("c2s.reports.contrasts:nothing", "cannot be used: the module c2s.reports.contrasts has no nothing"),
        ("c2s.reports.contrasts:__name__", "is no function, but str"),
    ],
)
def test_an_endpoint_that_does_not_resolve_is_refused_when_the_run_is_planned(endpoint, reason):
    for field in ("endpoints", "across", "exploratory"):
        with pytest.raises(UsageError) as raised:
            make_plan([replace(MAIN, **{field: (Endpoint(endpoint),)})], {"domain": "math", "limit": 1})
        assert str(raised.value) == f"panel 'main': the endpoint {endpoint!r} {reason}"


def test_a_panel_reaches_the_packages_of_its_own_distribution_and_no_other(install):
    install("own-package", {"c2s.panels": {"own": "own_panel:OWN"}}, {"own_panel.py": PANEL, "own_reports.py": "def table(data): ..."})
    install("other", {}, {"other_module.py": "def table(data): ..."})
    with pytest.raises(UsageError, match=r"is not in c2s\.reports and not in own_panel, own_reports, which brought the panel"):
        resolve_endpoint("own", "other_module:table")
    with pytest.raises(UsageError, match=r"'own_reports:table' is not in c2s\.reports$"):
        resolve_endpoint("main", "own_reports:table")
    check_endpoints([panel("own")])


def test_every_endpoint_of_ours_resolves():
    check_endpoints(list(PANELS.values()))


def test_what_is_missing_is_named_with_the_package_that_brought_it():
    assert missing("panel", "main", {}) is None
    brought = {"plugins": {"panel": {"gone": ["gone-package", "2.0"]}}}
    assert missing("panel", "gone", brought) == (
        "panel 'gone' is not installed here: it came with the package gone-package 2.0; install that package again"
    )
    for provenance in ({}, {"plugins": 3}, {"plugins": {"panel": {"gone": "x"}}}, {"plugins": {"panel": {"gone": [1, 2]}}}):
        assert missing("panel", "gone", provenance) == (
            "panel 'gone' is not installed here: this c2s does not have it, and the run does not say which package brought it"
        )


def test_panels_that_use_each_other_in_a_circle_are_refused(monkeypatch):
    monkeypatch.setitem(PANELS.loaded, "gold-copy", replace(PANELS["gold-copy"], uses=("independence",)))
    with pytest.raises(UsageError, match="uses itself: "):
        select(["independence"])


def test_a_registry_is_a_mapping_of_what_can_be_used():
    assert isinstance(PANELS, Registry) and len(PANELS) == len(PANELS.declared) == len(list(PANELS.items()))
    assert "main" in PANELS and "nothing" not in PANELS and 3 not in PANELS
