"""`c2s judge audit`: one page about one's own judge."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import orjson
import pytest
from support.judges import grades
from support.server import Server

from c2s.cli import main
from c2s.presentation.encode import content_hash
from c2s.verification import verify


def page(capsys: pytest.CaptureFixture[str], path: Path, *arguments: str, code: int = 0) -> dict:
    capsys.readouterr()
    assert main(["judge", "audit", "--json", "--out", str(path), *arguments]) == code
    assert verify(path).differences == []
    (found,) = json.loads(capsys.readouterr().out)["pages"]
    rows = {name: section["rows"] for name, section in found["sections"].items()}
    (verdict,) = rows["verdict"]
    pair = rows["smallest_pair"][0] if rows["smallest_pair"] else None
    assert [row["m"] for row in rows["tests"]] == [3, 3, 3]
    return verdict | {"findings": [row["text"] for row in rows["findings"]], "rows": rows, "pair": pair}


def test_a_dependent_judge_is_shown_by_its_smallest_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = page(capsys, tmp_path / "run", "--model", "sim:judge?kind=colon-sorted", "--limit", "20")
    assert found["answer"].startswith("YES: adding one colon") and found["rule"] == "FINAL3" and found["simulation"]
    assert any("m = 3, family 'judge page'" in text and "The report corrects the same tests in other" in text for text in found["findings"])
    pair = found["pair"]
    a, b = pair["insertion"].encode(), pair["sorted"].encode()
    assert a != b and content_hash(a) == content_hash(b) and pair["repeated"] is True
    assert (pair["insertion_verdict"], pair["sorted_verdict"], pair["condition"]) == ("incorrect", "correct", "random_colon")
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        rows = db.execute(
            "SELECT p.parent, s.arm, o.output, e.request FROM slots s JOIN parents p ON p.id = s.parent JOIN exchanges e ON e.id = "
            "s.exchange"
            " JOIN outcomes o ON o.parent = p.id AND o.arm = s.arm AND o.replicate = 0 WHERE s.replicate = 0"
        ).fetchall()
    sizes = {}
    for parent, arm, output, request in rows:
        _, order, condition = arm.split(".")
        sizes.setdefault((parent, condition), {})[order] = output, len(request)
    differing = [x["insertion"][1] + x["sorted"][1] for x in sizes.values() if x["insertion"][0] != x["sorted"][0]]
    assert len(a) + len(b) == min(differing)


@pytest.mark.parametrize(
    ("kind", "answer", "said"),
    [
        ("sorted", "YES: the order of keys changes verdicts", "40 with R"),
        ("noisy&rate=0.2", "NOT SHOWN", "byte-identical repeats change in"),
        ("final", "NO CHANGE SEEN", "order-invariant here"),
        ("blind", "NO CHANGE SEEN", "misses its basic controls under insertion and sorted keys"),
    ],
)
def test_each_judge_gets_its_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, answer: str, said: str):
    found = page(capsys, tmp_path / "run", "--model", f"sim:judge?kind={kind}", "--limit", "20")
    assert found["answer"].startswith(answer) and any(said in line for line in found["findings"])
    assert (found["pair"] is None) == (kind in ("final", "blind"))


def test_missing_answers_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = page(capsys, tmp_path / "run", "--model", "sim:judge?kind=missing", "--limit", "20", code=1)
    assert any("answers are missing; they are never scored" in line for line in found["findings"])
    assert not any("misses its basic controls" in line for line in found["findings"])
    assert any("answers are missing, not because of wrong judgments" in line for line in found["findings"])
    cues = [line for line in found["findings"] if line.startswith("With R")]
    figures = [row for row in found["rows"]["findings"] if row["about"] == "order"]
    assert [f"in {k} of {n} sources" in line for line, (k, n) in zip(cues, (row["changed_count"] for row in figures), strict=True)] == [
        True,
        True,
    ]
    n, high = min((int(re.search(r"in 0 of (\d+) sources", line)[1]), re.search(r", ([\d.]+)\]", line)[1]) for line in cues)
    assert f"of the {n} sources with answers in both orders" in found["answer"] and f"up to {high} %" in found["answer"] and n < 40


def test_one_item_says_nothing_and_the_page_fits_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_items(tmp_path / "i.jsonl", {"question": "2 + 2?", "reference": 4, "wrong": 5})
    assert main(["judge", "audit", "--model", "sim:judge?kind=final", "--data", str(path), "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "D = +0.0 points (too few items to say anything" in " ".join(out.split()) and "543" not in out
    assert max(map(len, out.splitlines())) < 80 and "of the 1 source with" in out
    assert main(["judge", "audit", "--model", "sim:oracle", "--limit", "0", "--out", str(tmp_path / "r")]) == 2
    assert "items of each workload, at least 1" in capsys.readouterr().err


def test_sparrow_does_not_depend_on_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("sparrow_decider", reason="the extra `demo` is not installed")
    found = page(capsys, tmp_path / "run", "--model", "sparrow", "--limit", "10")
    assert found["answer"].startswith("NO CHANGE SEEN") and found["pair"] is None
    assert any("0 of 40 differ between the orders; the judge is order-invariant here" in line for line in found["findings"])


def write_rubric(path: Path) -> Path:
    path.write_text(
        'instruction = "Does the final answer agree with the reference?"\n[criteria]\nyes = "It does."\nno = "It does not."\n'
        'none = "There is none."\n[labels]\ncorrect = "yes"\nincorrect = "no"\n'
    )
    return path


def write_items(path: Path, *items: object) -> Path:
    path.write_bytes(b"".join(orjson.dumps(item) + b"\n" for item in items))
    return path


def test_own_rubric_and_items_are_what_is_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    items = [
        {"id": f"i{n}", "question": f"What is {n} + {n}?", "reference": [2 * n, f"{2 * n}.0"], "correct": 2 * n, "wrong": 2 * n + 1}
        for n in range(1, 9)
    ]
    items.append({"question": "Capital of Norway?", "reference": "Oslo", "wrong": "Bergen"})
    path = write_items(tmp_path / "items.jsonl", *items)
    (tmp_path / "judge.py").write_text(
        "import orjson\n"
        "uses_truth = True\ndef answer(call):\n    state = orjson.loads(call.body)['state']\n    right = call.ask.truth['verdict']\n"
        "    return 'yes' if list(state)[0] == 'model_reply' and state['model_reply'].endswith('.') else right\n"
    )
    found = page(
        capsys,
        tmp_path / "run",
        "--model",
        f"script:{tmp_path / 'judge.py'}",
        "--rubric",
        str(write_rubric(tmp_path / "mine.toml")),
        "--data",
        str(path),
    )
    assert found["rule"] == "mine" and found["answer"].startswith("YES: the order of keys")
    sent = orjson.loads(found["pair"]["insertion"])
    assert sent["questions"]["verdict"]["instructions"] == "Does the final answer agree with the reference?"
    assert list(sent["questions"]["verdict"]["criteria"]) == ["yes", "no", "none"]
    assert (found["pair"]["insertion_verdict"], found["pair"]["sorted_verdict"]) == ("no", "yes")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["identity"]["requests"] == 9 * 16 and list(manifest["identity"]["settings"]["data"]) == ["judge-items"]
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as db:
        db.execute("UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), 'Bergen', 'Oslo') AS BLOB)")
    assert verify(tmp_path / "run").differences


def test_what_is_not_a_labelled_item_or_a_rubric_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def fails(*arguments: object) -> str:
        assert main(["judge", "audit", "--model", "sim:oracle", "--out", str(tmp_path / "run"), *map(str, arguments)]) == 2
        captured = capsys.readouterr()
        assert captured.out == "" and not (tmp_path / "run").exists()
        return captured.err

    good = {"question": "?", "reference": "8", "wrong": "9"}
    for bad, said in (
        ({"question": "?", "reference": 8, "wrong": "8.0"}, "the wrong value '8.0' is a correct one"),
        ({"question": "?", "reference": ["a", "The  Answer"], "wrong": "the answer!"}, "is a correct one"),
        ({"question": "?", "reference": "8", "correct": "9", "wrong": "9"}, "is a correct one"),
        ({"question": "", "reference": "8", "wrong": "9"}, "line 2 .*not empty"),
        ({"question": "?", "reference": [], "wrong": "9"}, "not empty"),
        ({"question": "?", "reference": None, "wrong": "9"}, "not empty"),
        ({"question": "?", "reference": "8", "wrong": True}, "not empty"),
        ({"question": "?", "reference": "8", "correct": " ", "wrong": "9"}, "correct must be"),
        ({"question": "?", "reference": "8", "correct": "7", "wrong": "9"}, "line 2 .*the correct value '7' is none of the references"),
        ({"question": "?", "reference": ["Oslo", "Kristiania"], "correct": "Bergen", "wrong": "9"}, "is none of the references"),
        ([1], "no JSON object"),
    ):
        assert re.search(said, fails("--data", write_items(tmp_path / "i.jsonl", good, bad)))
    assert "holds no items" in fails("--data", write_items(tmp_path / "i.jsonl"))
    twice = fails("--data", write_items(tmp_path / "i.jsonl", good | {"id": "x"}, good | {"id": "x"}))
    assert "line 2 of" in twice and "i.jsonl: the id 'x' stands on line 1 too" in twice
    for text, said in (
        ("instruction = 3", "needs `instruction`"),
        ('instruction = "x"\n[criteria]\nyes = "a"', "at least two `criteria`"),
        ('instruction = "x"\n[criteria]\nyes = "a"\nno = "b"', "which of its labels means correct"),
        ('instruction = "x"\n[criteria]\nyes = 3\nno = "b"', "map each label to its description"),
        ("not toml", "neither TOML nor JSON"),
        (
            'instruction = "x"\ncriterion = "y"\n[criteria]\ncorrect = "a"\nincorrect = "b"',
            "has 'criterion', which is none of name, instruction",
        ),
        ('instruction = "x"\n[criteria]\nyes = "a"\nno = "b"\n[labels]\ncorrect = "yes"\nincorrect = "yes"', "one label, 'yes', for both"),
        ('instruction = "x"\n[criteria]\ncorrect = "a"\nno = "b"\n[labels]\nincorrect = "no"\ncorect = "no"', "'corect' under `labels`"),
    ):
        (tmp_path / "r.toml").write_text(text)
        assert said in fails("--rubric", tmp_path / "r.toml")
    assert "cannot read the rubric" in fails("--rubric", tmp_path / "nowhere.toml")
    assert "only one of --contracts and --rubric" in fails("--rubric", write_rubric(tmp_path / "r.toml"), "--contracts", "FINAL3")
    assert "did you mean FINAL3" in fails("--contracts", "FINAL33")


def test_a_paid_judge_is_asked_only_after_its_cost_was_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TYPESAFE_API_KEY", "test-key")
    with Server(
        grades(lambda body: next(iter(body["state"])) == "model_reply" and ":" in body["state"]["model_reply"].split("\n")[-2:][0])
    ) as server:
        arguments = [
            "judge",
            "audit",
            "--model",
            "systemone:jev-1.13.0",
            "--base-url",
            server.url,
            "--limit",
            "2",
            "--out",
            str(tmp_path / "run"),
        ]
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert "4 items x 16 calls = 64 requests" in said and "USD" in said and "add --yes" in said
        assert server.total == 0 and not (tmp_path / "run").exists()
        assert main([*arguments, "--yes"]) == 0 and server.total == 64
    out = capsys.readouterr().out
    assert out.startswith("Does the verdict depend on presentation? systemone:jev-1.13.0, FINAL3\n") and "insertion -> incorrect" in out


def test_the_page_of_other_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert (
        main(["run", "--panel", "judge-confirmation", "--model", "sim:judge?kind=blind", "--limit", "10", "--out", str(tmp_path / "a")])
        == 0
    )
    capsys.readouterr()
    assert main(["judge", "page", str(tmp_path / "a"), "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert [p["rule"] for p in pages] == ["FINAL3", "FINAL4"] and all(
        p["sections"]["verdict"]["rows"][0]["answer"].startswith("NOT ASKED: preflight failed") for p in pages
    )
    assert main(["run", "--model", "sim:oracle", "--domain", "math", "--limit", "1", "--out", str(tmp_path / "b")]) == 0
    assert main(["judge", "page", str(tmp_path / "b")]) == 2
    assert "holds neither of judge-audit, judge-confirmation" in capsys.readouterr().err
    assert main(["judge", "execution", str(tmp_path / "b")]) == 2


def test_replies_cannot_act_on_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_items(tmp_path / "i.jsonl", {"question": "\x1b[31m?\u202e", "reference": "8", "wrong": "9", "id": "\x1b]0;x"})
    (tmp_path / "judge.py").write_text("def answer(call):\n    return '\\x1b[2J' if call.ask.presentation == 'sorted' else 'correct'\n")
    assert main(["judge", "audit", "--model", f"script:{tmp_path / 'judge.py'}", "--data", str(path), "--out", str(tmp_path / "run")]) == 0
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err and "\u202e" not in captured.out
