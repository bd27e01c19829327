"""The main job through the command line: run, report, status, verify, reuse, and what is refused.

Arithmetic alone needs no WordNet, so most tests run on `--domain math`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy.stats import binomtest

from c2s.cli import main

Run = Callable[..., tuple[int, str, str]]


def report_of(c2s: Run, *arguments: object) -> dict:
    code, out, _ = c2s("run", "--json", *arguments)
    assert code == 0
    return json.loads(out)


def domain_of(report: dict, domain: str = "math") -> dict:
    """The retention figures of one domain: {section: its row}, accuracy as {arm: row} and by_length as {length: row}."""
    rows = {name: [row for row in section["rows"] if row.get("domain") == domain] for name, section in report["sections"].items()}
    return {
        "accuracy": {row["arm"]: row for row in rows["accuracy"]},
        "transitions": rows["transitions"][0],
        "mcnemar": rows["mcnemar"][0],
        "by_length": {row["length"]: row for row in rows["by_length"]},
    }


def test_an_oracle_retains_everything_and_its_run_verifies(c2s: Run, tmp_path: Path):
    report = report_of(c2s, "--model", "sim:oracle", "--domain", "math", "--out", tmp_path / "run")
    assert report["panel"] == "main" and report["model"] == "sim:oracle" and report["simulation"]
    assert report["requests"] == {"planned": 4992, "ok": 4992, "error": 0, "unknown": 0, "blocked": 0, "not_needed": 0, "open": 0}
    assert report["format"] == 2 and {row["domain"] for row in report["sections"]["transitions"]["rows"]} == {"math"}
    math = domain_of(report)
    pairs = math["transitions"]
    assert pairs["n"] == pairs["n_planned"] == 384 and pairs["joint"] == [384, 0, 0, 0]
    assert [math["accuracy"][arm]["em"] for arm in ("native", "candidates_only", "independent", "serial")] == [1, 1, 1, 1]
    assert pairs["scr"] == 1 and pairs["scr_method"] == "clopper-pearson" and pairs["scr_bootstrap"] == [1, 1]
    assert pairs["gain_rate"] is None and pairs["undefined"]["gain_rate"] == "native is right on 384 of 384 pairs"
    assert (math["mcnemar"]["p"], math["mcnemar"]["p_holm"], math["mcnemar"]["m"]) == (1, 1, 1)
    assert {length: cell["n"] for length, cell in math["by_length"].items()} == {n: 64 for n in range(3, 9)}
    code, out, err = c2s("verify", tmp_path / "run")
    assert code == 0 and out.startswith("verified: 384 items, 4992 requests") and err == ""


def test_positions_give_binomial_serial_accuracy_at_every_length(c2s: Run, tmp_path: Path):
    report = report_of(c2s, "--model", "sim:positions?p=0.9&native=0.9", "--domain", "math", "--out", tmp_path / "run")
    math = domain_of(report)
    for length, cell in math["by_length"].items():
        assert binomtest(round(cell["em"] * 64), 64, 0.9**length).pvalue > 1e-4
        assert binomtest(round(cell["native_em"] * 64), 64, 0.9).pvalue > 1e-4
    assert binomtest(math["accuracy"]["candidates_only"]["em_count"][0], 384, 1 / 8).pvalue > 1e-4
    expected = sum(0.9**n for n in range(3, 9)) / 6
    assert abs(math["accuracy"]["independent"]["em"] - expected) < 0.1
    assert math["transitions"]["scr_method"] == "exact"
    assert math["transitions"]["scr_interval"][0] < expected < math["transitions"]["scr_interval"][1]


def test_limit_is_a_balanced_prefix_and_reuse_copies_it_with_provenance(c2s: Run, tmp_path: Path):
    model = "sim:positions?p=0.7&native=0.8&seed=3"
    small = report_of(c2s, "--model", model, "--domain", "math", "--limit", 12, "--out", tmp_path / "small")
    assert {n: cell["n"] for n, cell in domain_of(small)["by_length"].items()} == {n: 2 for n in range(3, 9)}
    large = report_of(c2s, "--model", model, "--domain", "math", "--limit", 30, "--out", tmp_path / "plain")
    code, out, err = c2s(
        "run",
        "--json",
        "--model",
        model,
        "--domain",
        "math",
        "--limit",
        30,
        "--out",
        tmp_path / "reused",
        "--reuse-from",
        tmp_path / "small",
    )
    copied = json.loads(out)
    assert code == 0 and copied["sections"] == large["sections"] and copied["requests"] == large["requests"]
    assert f"{small['requests']['ok']} answers were copied" in err
    db = sqlite3.connect(tmp_path / "reused" / "ledger.sqlite")
    run_id = json.loads((tmp_path / "small" / "manifest.json").read_text())["provenance"]["run_id"]
    origins = [origin for (origin,) in db.execute("SELECT origin FROM exchanges WHERE origin IS NOT NULL")]
    assert len(origins) == small["requests"]["ok"] and all(origin.startswith(run_id + "/") for origin in origins)
    assert c2s("verify", tmp_path / "reused")[0] == 0


def test_nothing_is_reused_from_another_model(c2s: Run, tmp_path: Path):
    report_of(c2s, "--model", "sim:random", "--domain", "math", "--limit", 2, "--out", tmp_path / "a")
    for other in ("sim:oracle", "sim:random?seed=1"):
        code, _, err = c2s(
            "run", "--model", other, "--domain", "math", "--limit", 2, "--out", tmp_path / "b", "--reuse-from", tmp_path / "a"
        )
        assert code == 2 and "asked another model (sim:random" in err and not (tmp_path / "b").exists()


def test_two_runs_form_one_family(c2s: Run, tmp_path: Path):
    for name, model in (("a", "sim:positions?p=0.8"), ("b", "sim:positions?p=0.95&native=0.5")):
        report_of(c2s, "--model", model, "--domain", "math", "--limit", 60, "--out", tmp_path / name)
    code, out, _ = c2s("report", tmp_path / "a", tmp_path / "b", "--format", "json")
    document = json.loads(out)
    tests = [domain_of(run)["mcnemar"] for run in document["runs"]]
    p = sorted(row["p"] for row in tests)
    assert code == 0 and [row["m"] for row in tests] == [2, 2]
    assert sorted(row["p_holm"] for row in tests) == pytest.approx([min(1, 2 * p[0]), max(min(1, 2 * p[0]), p[1])])
    assert [(row["run"], row["model"]) for row in document["head"]["rows"]] == [
        ("A", "sim:positions?p=0.8"),
        ("B", "sim:positions?p=0.95&native=0.5"),
    ]
    for form, mark in (("text", "sim:positions?p=0.95"), ("text", "\nB    math"), ("md", "| B | math |")):
        code, out, _ = c2s("report", tmp_path / "a", tmp_path / "b", "--format", form)
        assert code == 0 and mark in out
    assert max(len(line) for line in c2s("report", tmp_path / "a")[1].splitlines()) <= 80


def test_status_agrees_with_the_report(c2s: Run, tmp_path: Path):
    report = report_of(c2s, "--model", "sim:random", "--domain", "math", "--limit", 6, "--out", tmp_path / "run")
    code, out, _ = c2s("status", tmp_path / "run", "--json")
    status = json.loads(out)
    assert code == 0 and status["state"] == "done" and status["failure"] is None
    assert {key: status["requests"][key] for key in report["requests"]} == report["requests"]
    assert sum(status["transitions"]["math"].values()) == 6
    assert c2s("status", tmp_path / "run")[0] == 0


TAMPERING = {
    "request": "UPDATE exchanges SET request = CAST(replace(CAST(request AS TEXT), 'model', 'muddle') AS BLOB) WHERE id = 20",
    "response": "UPDATE exchanges SET response = CAST(replace(CAST(response AS TEXT), 'choice', 'chance') AS BLOB) WHERE id = 20",
    "answer": "UPDATE exchanges SET response = (SELECT response FROM exchanges WHERE id = 2) WHERE id = 1",
    "hash": "UPDATE exchanges SET body_sha256 = 'x' WHERE id = 3",
    "model": "UPDATE exchanges SET model = 'other' WHERE id = 3",
    "outcome": "UPDATE outcomes SET correct = 1 - correct WHERE rowid IN (SELECT rowid FROM outcomes LIMIT 1)",
    "lost outcome": "DELETE FROM outcomes WHERE arm = 'serial' AND parent = 1",
    "transition": "UPDATE parents SET transition = 'both' WHERE transition = 'neither'",
    "counter": "UPDATE counters SET n = n + 1 WHERE key = 'ok' AND arm = 'native' AND length = 3",
    "item": "UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), 'target', 'larget') AS BLOB) WHERE id = 1",
    "item text": "UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), ' = ?', ' = !') AS BLOB) WHERE id = 1",
    "dropped slot": "DELETE FROM slots WHERE id = 5",
    "state": "UPDATE slots SET state = 'error' WHERE id = 5",
    "reopened": "UPDATE parents SET closed = 0 WHERE id = 2",
    "duplicate send": "INSERT INTO exchanges"
    " SELECT 99999, slot, attempt, state, body_sha256, content_sha256, request, sent_at, done_at, http_status,"
    " headers, response, model, input_tokens, output_tokens, reserved_usd, cost_usd, message, origin, NULL, NULL, NULL, NULL FROM "
    "exchanges WHERE id = 4",
    "manifest": "UPDATE run SET value = 'x' WHERE key = 'manifest_sha256'",
}  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "run"
    assert main(["run", "--model", "sim:random", "--domain", "math", "--limit", "6", "--out", str(path)]) == 0
    return path


@pytest.mark.parametrize("what", TAMPERING)
def test_verify_fails_loudly_on_any_difference(c2s: Run, tmp_path: Path, finished: Path, what: str):
    import shutil

    run = shutil.copytree(finished, tmp_path / "run")
    assert c2s("verify", run)[0] == 0
    sql = TAMPERING[what].replace("WHERE rowid IN (SELECT rowid FROM outcomes LIMIT 1)", "WHERE parent = 1 AND arm = 'native'")
    with sqlite3.connect(run / "ledger.sqlite") as db:
        assert db.execute(sql).rowcount > 0
    code, out, err = c2s("verify", run)
    assert code == 1 and "NOT verified" in out and err


def test_verify_recomputes_the_stored_report(c2s: Run, tmp_path: Path, finished: Path):
    import shutil

    run = shutil.copytree(finished, tmp_path / "run")
    (run / "report.json").write_text((run / "report.json").read_text().replace('"n": 6', '"n": 7', 1))
    code, _, err = c2s("verify", run)
    assert code == 1 and "report.json does not follow" in err


def test_wrong_usage_is_one_clear_line(c2s: Run, tmp_path: Path, finished: Path):
    def fails(*arguments: object, code: int = 2) -> str:
        found, out, err = c2s(*arguments)
        assert found == code and out == "" and "Traceback" not in err
        return err

    assert "did you mean sim:oracle" in fails("run", "--model", "sim:oracel")
    assert "did you mean main" in fails("run", "--panel", "mian", "--model", "sim:oracle")
    assert "no option 'q'" in fails("run", "--model", "sim:positions?q=1")
    assert "is not a float" in fails("run", "--model", "sim:positions?p=high")
    assert "probabilities" in fails("run", "--model", "sim:positions?p=1.5")
    assert "twice" in fails("run", "--model", "sim:positions?p=0.1&p=0.2")
    assert "did you mean jev" in fails("run", "--model", "sim:published?model=jov")
    assert "unknown domain" in fails("run", "--model", "sim:oracle", "--domain", "mth", "--out", tmp_path / "x")
    for limit in (0, -3, 10**20):
        assert "at least 1" in fails("run", "--model", "sim:oracle", "--limit", limit)
    assert "64 bits" in fails("run", "--model", "sim:oracle", "--seed", 10**20)
    assert "no WordNet database" in fails("run", "--model", "sim:oracle", "--wordnet", tmp_path / "nope")
    assert "exists already" in fails("run", "--model", "sim:oracle", "--domain", "math", "--limit", 1, "--out", finished)
    assert "not a run directory" in fails("status", tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "has no manifest.json" in fails("report", tmp_path / "empty")
    assert "are the same run" in fails("report", finished, finished)
    assert "invalid choice" in fails("report", finished, "--format", "xml")


def test_damaged_and_foreign_ledgers_are_named_and_left_alone(c2s: Run, tmp_path: Path, finished: Path):
    import shutil

    def broken(name: str, change: Callable[[Path], object]) -> str:
        run = shutil.copytree(finished, tmp_path / name)
        change(run)
        before = (run / "ledger.sqlite").read_bytes()
        for command in ("status", "report", "verify", "resume"):
            code, out, err = c2s(command, run)
            assert code == 2 and out == "" and "Traceback" not in err and err.startswith("c2s: "), (command, err)
        assert (run / "ledger.sqlite").read_bytes() == before
        return err

    assert "damaged" in broken("torn", lambda run: (run / "ledger.sqlite").write_bytes(b"not a database at all" * 400))
    assert "damaged" in broken("cut", lambda run: (run / "ledger.sqlite").write_bytes((run / "ledger.sqlite").read_bytes()[:5000]))

    def foreign(run: Path) -> None:
        (run / "ledger.sqlite").unlink()
        with sqlite3.connect(run / "ledger.sqlite") as db:
            db.execute("CREATE TABLE t (x)")
        db.close()

    assert "not a c2s ledger" in broken("foreign", foreign)

    def newer(run: Path) -> None:
        with sqlite3.connect(run / "ledger.sqlite") as db:
            db.execute("PRAGMA user_version = 99")
        db.close()

    assert "newer c2s" in broken("newer", newer)
    assert "damaged" in broken("manifest", lambda run: (run / "manifest.json").write_text("{"))


def test_a_run_can_be_read_in_a_read_only_folder(c2s: Run, tmp_path: Path, finished: Path):
    import shutil

    run = shutil.copytree(finished, tmp_path / "run")
    for file in run.iterdir():
        file.chmod(0o444)
    run.chmod(0o555)
    try:
        for command in ("status", "report", "verify"):
            assert c2s(command, run)[0] == 0
    finally:
        run.chmod(0o755)


def test_a_script_that_exits_is_an_error_of_its_own_and_never_of_the_run(c2s: Run, tmp_path: Path):
    script = tmp_path / "junk.py"
    script.write_text("import sys\ndef answer(call):\n    sys.exit(0)\n")
    code, out, err = c2s("run", "--json", "--model", f"script:{script}", "--domain", "math", "--limit", 1, "--out", tmp_path / "run")
    requests = json.loads(out)["requests"]
    assert code == 1 and requests["ok"] == 0 and requests["error"] > 0 and requests["open"] == 0
    assert c2s("verify", tmp_path / "run")[0] == 0
    script.write_text("raise SystemExit(0)")
    code, _, err = c2s("run", "--model", f"script:{script}", "--out", tmp_path / "other")
    assert code == 2 and "SystemExit" in err


def test_a_plan_needs_no_key_since_it_sends_nothing(c2s: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    code, out, err = c2s("plan", "--json", "--model", "systemone:jev-1.13.0", "--domain", "math", "--limit", 6)
    assert code == 0 and json.loads(out)["requests"] == 78, err
    assert c2s("run", "--model", "systemone:jev-1.13.0", "--domain", "math", "--limit", 6)[0] == 2
