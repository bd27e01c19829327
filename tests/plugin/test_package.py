"""A package with a model, a panel and a source of parents: installed, run, reported, verified, resumed, and taken away again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.packages import Installed

PROJECT = Path(__file__).parent / "package"
GONE = "is not installed here: it came with the package c2s-tiny 1.2.3; install that package again"
RUN = ("run", "--panel", "tiny-words,main", "--model", "tiny:7", "--limit", 3, "--out", "run")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The package, installed, with a finished run of its panel and of ours."""
    installed = Installed(PROJECT, tmp_path_factory.mktemp("tiny"))
    code, _, err = installed.command(*RUN)
    assert code == 0, err
    return installed


@pytest.fixture
def gone(tiny: Installed):
    """The same, with the package taken away for one test."""
    kept = tiny.folder / "kept"
    shutil.move(tiny.site, kept)
    yield tiny
    shutil.move(kept, tiny.site)


def test_models_and_panels_are_listed_with_their_package(tiny: Installed):
    code, out, _ = tiny.command("models", "--json")
    (model,) = [row for row in json.loads(out) if row["name"] == "tiny:SEED"]
    assert code == 0 and (model["distribution"], model["version"], model["available"]) == ("c2s-tiny", "1.2.3", True)
    code, out, err = tiny.command("panels", "--json")
    (panel,) = [row for row in json.loads(out) if row["name"] == "tiny-words"]
    assert code == 0 and err == "" and (panel["distribution"], panel["version"]) == ("c2s-tiny", "1.2.3")
    assert (panel["parents"], panel["requests"]) == (6, 24)
    assert {row["distribution"] for row in json.loads(out)} == {"c2s", "c2s-tiny"}
    for command in ("models", "panels"):
        assert tiny.command(command)[1].count("    from the package c2s-tiny 1.2.3\n") == 1


def test_a_model_of_a_package_may_declare_that_it_is_a_simulation(tiny: Installed):
    assert json.loads((tiny.folder / "run" / "manifest.json").read_bytes())["identity"]["simulation"] is True
    assert "SIMULATION, not a measurement" in tiny.command("report", "run")[1]


def test_the_doctor_names_what_packages_bring(tiny: Installed):
    _, out, _ = tiny.command("doctor", "--json")
    found = [(f["what"], f["state"], f["detail"]) for f in json.loads(out)["findings"] if "c2s-tiny" in f["detail"]]
    assert found == [
        ("model", "ok", "tiny, from the package c2s-tiny 1.2.3"),
        ("panel", "ok", "tiny-words, from the package c2s-tiny 1.2.3"),
        ("source", "ok", "tiny-words, from the package c2s-tiny 1.2.3"),
    ]


def test_the_manifest_names_the_package_of_everything_that_it_brought(tiny: Installed):
    manifest = json.loads((tiny.folder / "run" / "manifest.json").read_bytes())
    assert manifest["provenance"]["plugins"] == {
        "panel": {"tiny-words": ["c2s-tiny", "1.2.3"]},
        "model": {"tiny": ["c2s-tiny", "1.2.3"]},
        "source": {"tiny-words": ["c2s-tiny", "1.2.3"]},
    }
    assert "plugins" not in manifest["identity"]


def test_the_panel_is_reported_with_its_own_table_and_verified(tiny: Installed):
    code, out, _ = tiny.command("report", "run", "--json")
    sections = json.loads(out)["panels"]["tiny-words"]["sections"]
    assert code == 0 and sections["first_letters"]["rows"] == [
        {"arm": "native", "right": 0, "n": 3},
        {"arm": "serial", "right": 0, "n": 3},
    ]
    code, out, err = tiny.command("verify", "run")
    assert code == 0 and out.startswith("verified: 9 items, 100 requests"), err


def test_an_interrupted_run_is_resumed_to_the_same_report(tiny: Installed):
    finished = (tiny.folder / "run" / "report.json").read_bytes()
    begun = (
        "from c2s.cli import main\nfrom c2s.runner.execute import Runner\n"
        "take = Runner._take\n"
        "def once(self, *a):\n    take(self, *a)\n    self.tally.asked == 30 and self.stop()\n"
        "Runner._take = once\n"
        f"raise SystemExit(main({[str(a) for a in RUN[:-1]] + ['stopped']!r}))\n"
    )
    (tiny.folder / "begin.py").write_text(begun)
    code, _, err = tiny.command(module="begin")
    assert code == 130, err
    code, out, _ = tiny.command("status", "stopped", "--json")
    assert 0 < json.loads(out)["requests"]["open"] < 100
    code, _, err = tiny.command("resume", "stopped")
    assert code == 0, err
    again = (tiny.folder / "stopped" / "report.json").read_bytes()
    run_id = json.loads((tiny.folder / "run" / "manifest.json").read_bytes())["provenance"]["run_id"].encode()
    other = json.loads((tiny.folder / "stopped" / "manifest.json").read_bytes())["provenance"]["run_id"].encode()
    assert again.replace(other, run_id) == finished
    assert tiny.command("verify", "stopped")[0] == 0


def test_without_the_package_status_names_what_is_missing_and_shows_the_counts(gone: Installed):
    code, out, _ = gone.command("status", "run", "--json")
    document = json.loads(out)
    assert code == 0 and document["missing"] == [f"panel 'tiny-words' {GONE}", f"source 'tiny-words' {GONE}", f"model 'tiny' {GONE}"]
    assert document["arms"]["animals"]["serial"]["ok"] == 9 and document["requests"]["ok"] == 100
    code, out, _ = gone.command("status", "run")
    assert code == 0 and f"missing: panel 'tiny-words' {GONE}\n" in out and "animals  serial" in out


def test_without_the_package_the_other_panels_are_reported(gone: Installed):
    code, out, err = gone.command("report", "run", "--json")
    document = json.loads(out)
    assert code == 1 and f"panel 'tiny-words' {GONE}" in err
    assert document["panels"]["main"]["sections"]["accuracy"]["rows"][0]["n"] == 3
    assert document["panels"]["tiny-words"]["requests"]["ok"] == 12
    (section,) = document["panels"]["tiny-words"]["sections"].values()
    assert f"panel 'tiny-words' {GONE}" in section["error"]


def test_without_the_package_the_rest_is_verified_and_the_missing_panel_is_a_difference(gone: Installed):
    code, out, _ = gone.command("verify", "run", "--json")
    document = json.loads(out)
    assert code == 1 and document["differences"] == [f"a panel was not checked: panel 'tiny-words' {GONE}"]
    assert document["checked"]["requests"] == 88 and document["checked"]["items"] == 9
    assert document["report_not_compared"] == "report.json was not compared: it holds a panel that is missing here"
    out = gone.command("verify", "run")[1]
    assert out.startswith("NOT verified, 1 difference: 9 items, ") and "absent" not in out
    assert out.endswith("; report.json was not compared: it holds a panel that is missing here\n")


def test_without_the_package_a_run_is_not_resumed_and_not_begun(gone: Installed):
    code, _, err = gone.command("resume", "run")
    assert code == 2 and f"run cannot go on here: panel 'tiny-words' {GONE}; " in err and f"model 'tiny' {GONE}" in err
    code, _, err = gone.command("run", "--panel", "tiny-words", "--model", "sim:oracle")
    assert code == 2 and "unknown panel 'tiny-words'" in err
    code, _, err = gone.command("run", "--model", "tiny:7")
    assert code == 2 and "unknown model 'tiny:7'" in err


@pytest.mark.parametrize("screen", ["monitor", "items", "item", "report"])
def test_without_the_package_the_terminal_ui_shows_what_needs_no_code(gone: Installed, screen: str):
    pytest.importorskip("textual")
    more = ("--item", "tiny-words/word-1") if screen == "item" else ()
    code, out, err = gone.command("--once", "run", "--screen", screen, *more, module="c2s_tui")
    assert code == 0, err
    shown = " ".join(out.split())
    if screen != "items":
        assert "is not installed here: it came with the package c2s-tiny 1.2.3" in shown
    assert "animals" in shown or screen == "report"


def test_a_run_directory_imports_nothing_by_the_names_that_it_holds(tiny: Installed, tmp_path: Path):
    """A manifest whose panel, model and endpoint name modules: looked up, refused, and never imported."""
    run = shutil.copytree(tiny.folder / "run", tmp_path / "run")
    (tiny.folder / "trap.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').close()\nPANEL = MODEL = 1\n")
    manifest = json.loads((run / "manifest.json").read_bytes())
    for model in ("trap:MODEL", "trap", "script"):
        manifest["identity"] |= {"panels": ["trap:PANEL", "trap", "main"], "model": model}
        manifest["provenance"]["plugins"] = {"panel": {"trap": ["trap", "trap:PANEL"]}, "model": {"trap": "trap"}, "source": {"trap": []}}
        (run / "manifest.json").write_text(json.dumps(manifest))
        for command in ("status", "report", "verify", "resume"):
            code, _, err = tiny.command(command, run)
            assert code in (0, 1, 2) and "bug" not in err, err
    assert not (tmp_path / "sprung").exists()
    (tiny.folder / "trap.py").unlink()
