"""Dialogue panels as runs: shared responses, interruption, errors, tampering, the paper's counts on the publisher's data."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import orjson
import pytest
from support import dialogues
from support.scripted_runs import drive, planned, run_script
from support.server import Action, Server
from support.sgd import official_folder

from c2s.backends.base import Call, Exchange
from c2s.backends.scripted import Scripted
from c2s.bankbuild.sgd_select import select as select_prefixes
from c2s.banks.datafile import data_bytes
from c2s.cli import main
from c2s.ledger import reader, sqlite
from c2s.reports.build import as_json, build
from c2s.verification import verify

ACCESS = "dialogue-access"


def sends(run) -> Counter[str]:
    with sqlite.reading(run.ledger_path) as db:
        return Counter(dict(db.execute("SELECT body_sha256, count(*) FROM exchanges GROUP BY 1").fetchall()))


def shares(run) -> list:
    with sqlite.reading(run.ledger_path) as db:
        return reader.shared(db, ACCESS)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory):
    return run_script(tmp_path_factory.mktemp("finished") / "run", [ACCESS], dialogues.copies_its_errors)


def test_equal_first_round_requests_are_sent_once_and_answer_all_their_slots(finished):
    pairs = shares(finished)
    assert len(pairs) == 50 and sum(sends(finished).values()) == 432 - 50
    for slot, owner in pairs:
        assert slot.arm.startswith("oracle") or slot.step == 1  # a later turn of Rollout depends on an answer
        assert owner not in dict(pairs)
    report = build([finished.path]).as_dict()
    (row,) = report["sections"]["sharing"]["rows"]
    assert (row["logical"], row["physical"], row["shared"]) == (432, 382, 50)
    assert row["across"] == sum(slot.parent != owner.parent for slot, owner in pairs) > 0
    assert row["components"] < row["dialogues"] == 18
    with sqlite.reading(finished.ledger_path) as db:
        unlike = db.execute(
            "SELECT count(*) FROM slots s JOIN slots o ON o.id = s.share_of WHERE s.exchange <> o.exchange OR s.state <> o.state"
        )
        assert unlike.fetchone() == (0,)
    assert report["requests"]["ok"] == 432


def test_construction_requests_each_have_their_own_response(tmp_path: Path):
    run = run_script(tmp_path / "run", ["dialogue-construction"], dialogues.recovers)
    assert sum(sends(run).values()) == 756 and max(sends(run).values()) > 1


def test_who_shares_depends_on_no_answer(finished, tmp_path: Path):
    other = run_script(tmp_path / "run", [ACCESS], dialogues.forgets_a_slot)
    assert shares(other) == shares(finished)


@pytest.mark.parametrize("stop_after", [1, 7, 60, 250, 381])
def test_an_interrupted_run_finishes_with_the_same_report(finished, tmp_path: Path, stop_after: int):
    backend = Scripted("script:test", dialogues.copies_its_errors, uses_truth=True, max_batch=1)
    run = planned(tmp_path / "run", [ACCESS], backend)
    assert not drive(run, backend, stop_after=stop_after)
    assert verify(run.path).differences == []
    assert drive(run, backend)
    assert sum((sends(run) - sends(finished)).values()) <= 1  # a safe backend is asked again what was under way
    assert verify(run.path).differences == [] and as_json(build([run.path])) == as_json(build([finished.path]))


def test_an_error_reaches_every_slot_that_shares_it_and_a_retry_mends_them_all(finished, tmp_path: Path):
    owner = Counter(owner for _, owner in shares(finished)).most_common(1)[0][0]
    failing = [True]

    def model(call: Call):
        return Exchange("error", message="scripted") if failing[0] and call.slot == owner else dialogues.copies_its_errors(call)

    backend = Scripted("script:test", model, uses_truth=True)
    run = planned(tmp_path / "run", [ACCESS], backend)
    assert drive(run, backend) and verify(run.path).differences == []
    hit = [slot for slot, other in shares(run) if other == owner]
    with sqlite.reading(run.ledger_path) as db:
        (errors,) = db.execute("SELECT count(*) FROM slots WHERE state = 'error'").fetchone()
    assert errors == 1 + len(hit) > 2
    report = build([run.path]).as_dict()["sections"]
    assert any("turns dropped" in note for note in report["accuracy"]["notes"])
    failing[0] = False
    assert drive(run, backend, retry=True)
    assert sum(sends(run).values()) == 382 + 1 and verify(run.path).differences == []
    assert as_json(build([run.path])) == as_json(build([finished.path]))


TAMPERING = {
    "a shared answer": "UPDATE slots SET exchange = (SELECT max(id) FROM exchanges)"
    " WHERE share_of IS NOT NULL AND id = (SELECT max(id) FROM slots WHERE share_of IS NOT NULL)",
    "a shared state": "UPDATE slots SET state = 'unknown' WHERE id = (SELECT min(id) FROM slots WHERE share_of IS NOT NULL)",
    "who shares": "UPDATE slots SET share_of = (SELECT max(share_of) FROM slots)"
    " WHERE id = (SELECT min(id) FROM slots WHERE share_of IS NOT NULL)",
    "a share dropped": "UPDATE slots SET share_of = NULL WHERE id = (SELECT min(id) FROM slots WHERE share_of IS NOT NULL)",
    "a dialogue": "UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), 'UNSET', 'UNSAID') AS BLOB) WHERE id = 1",
    "a gold value": """UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), '"sliced":"True"', '"sliced":"False"') AS BLOB)""",
    "a state of a turn": "UPDATE outcomes SET detail = replace(detail, 'UNSET', 'DONTCARE') WHERE arm = 'rollout'",
}


@pytest.mark.parametrize("what", TAMPERING)
def test_verify_finds_what_was_changed(finished, tmp_path: Path, what: str):
    import shutil

    run = shutil.copytree(finished.path, tmp_path / "run")
    with sqlite3.connect(run / "ledger.sqlite") as db:
        assert db.execute(TAMPERING[what]).rowcount > 0
    db.close()
    assert verify(run).differences


@pytest.fixture(scope="module")
def publishers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sgd")
    selection = select_prefixes(official_folder(folder))
    path = folder / "sgd.jsonl"
    path.write_bytes(data_bytes("dialogue", "sgd", selection.rows, {}))
    return path


def sent_and_verified(name: str, data: Path, out: Path, logical: int, capsys) -> int:
    """How many requests a run on the publisher's dialogues sends, of so many that it plans."""
    assert main(["run", "--panel", name, "--model", "sim:oracle", "--data", str(data), "--out", str(out)]) == 0
    assert f"96 parents, {logical} requests" in capsys.readouterr().err
    with sqlite.reading(out / "ledger.sqlite") as db:
        assert db.execute("SELECT sum(length) FROM parents").fetchone() == (576,)
        (sent,) = db.execute("SELECT count(*) FROM exchanges").fetchone()
    assert main(["verify", str(out)]) == 0
    capsys.readouterr()
    return sent


def test_requests_on_the_publishers_data_follow_from_turns_fields_and_sharing(publishers: Path, tmp_path: Path, capsys):
    """96 dialogues, 576 user turns. Construction: 576 Joint calls and one per field turn in each local arm.

    Access: 3 x 576 and two arms over the six permuted dialogues (32 turns; the publisher has no paraphrases), of which 95 different first
    exchanges give Rollout's first request to Oracle (95), one dialogue begins like another (3 rows, the paper's six rows link
    two), and six permuted dialogues share their first turn between two arms (6).
    """
    construction, access = 576 + 2 * 1790, 3 * 576 + 2 * 32
    assert sent_and_verified("dialogue-construction", publishers, tmp_path / "construction", construction, capsys) == construction
    assert sent_and_verified(ACCESS, publishers, tmp_path / "access", access, capsys) == access - 95 - 3 - 6
    (row,) = build([tmp_path / "access"]).as_dict()["sections"]["sharing"]["rows"]
    assert (row["across"], row["components"], row["dialogues"]) == (3, 95, 96)


def test_with_paraphrases_the_papers_1924_requests_are_planned(tmp_path: Path, capsys):
    """Twelve paraphrased dialogues have 66 turns and six permuted ones 32: two arms each are the 196 beyond 3 x 576.

    1,808 are sent: 95 + 3 share as above, and each of the 18 perturbed versions shares its first turn between its two arms. The paper
    sends 1,800: its dialogues have a second pair that begins alike (two more rows), and six more shared rows that it does not name.
    """
    data, texts, folder = tmp_path / "sgd.jsonl", tmp_path / "paraphrases.json", official_folder(tmp_path / "official")
    rows = [row for row in select_prefixes(folder).rows if row["paraphrase_wanted"]]
    texts.write_bytes(orjson.dumps({row["id"]: [f"Well: {turn['user']}" for turn in row["turns"]] for row in rows}))
    assert main(["data", "sgd", str(folder), "--paraphrases", str(texts), "--out", str(data)]) == 0
    capsys.readouterr()
    assert sent_and_verified(ACCESS, data, tmp_path / "run", 1924, capsys) == 1924 - 95 - 3 - 18 == 1808
    assert main(["plan", "--panel", ACCESS, "--model", "sim:oracle", "--data", str(data), "--json"]) == 0
    document = orjson.loads(capsys.readouterr().out)
    assert (document["requests"], document["sent"]) == (1924, 1808)
    (row,) = build([tmp_path / "run"]).as_dict()["sections"]["sharing"]["rows"]
    assert (row["logical"], row["physical"], row["shared"], row["components"]) == (1924, 1808, 116, 95)


PRINTED = {  # Tables C1 and C3: failed, any recovery, final recovery, and trajectory and final in percent
    "jev": {"history_recompute": (70, 36, 25, 27.1, 53.1), "oracle": (64, 47, 34, 33.3, 68.8), "rollout": (64, 36, 27, 33.3, 61.5)},
    "startlux": {"history_recompute": (72, 47, 33, 25.0, 59.4), "oracle": (67, 56, 40, 30.2, 71.9), "rollout": (67, 38, 28, 30.2, 59.4)},
    "qwen3.5-27b": {"history_recompute": (67, 37, 27, 30.2, 58.3), "oracle": (71, 47, 34, 26.0, 61.5), "rollout": (71, 33, 26, 26.0, 53.1)},
}


@pytest.mark.parametrize("model", PRINTED)
def test_the_printed_recovery_counts_give_the_printed_accuracies(publishers: Path, tmp_path: Path, model: str):
    """A scripted run whose dialogues fail and recover as often as Table C3 says prints Table C1's trajectory and final columns.

    All errors come after the first turn, which Rollout and Oracle share.
    """
    printed = PRINTED[model]
    place: dict[str, int] = {}

    def right(call: Call, turn: int) -> bool:
        failed, recovered, final, *_ = printed[call.slot.arm.partition("_p")[0]]
        rank = place.setdefault(call.parent.id, len(place))
        if rank >= failed or turn == 1:
            return True
        if rank < final:
            return turn != 2
        return turn == 3 if rank < recovered else False

    def answer(call: Call):
        turn = dialogues.turn_of(call)
        state = dialogues.gold(call, turn)
        if not right(call, turn):
            name = dialogues.first_slot(call)
            state |= {name: "DONTCARE" if state[name] != "DONTCARE" else "UNSET"}
        return dialogues.say(call, state)

    run = run_script(tmp_path / "run", [ACCESS], answer, data=[str(publishers)])
    sections = build([run.path]).as_dict()["sections"]
    rows = {row["arm"]: row for row in sections["accuracy"]["rows"]}
    after = {row["arm"]: row for row in sections["recovery"]["rows"]}
    for arm, (failed, recovered, final, trajectory, last) in printed.items():
        assert (after[arm]["failed"], after[arm]["any_recovery"], after[arm]["final_recovery"]) == (failed, recovered, final)
        assert round(96 * rows[arm]["trajectory"]) == 96 - failed
        assert round(96 * rows[arm]["final"]) == 96 - failed + final
        assert (round(100 * rows[arm]["trajectory"], 1), round(100 * rows[arm]["final"], 1)) == (trajectory, last)
    gained = {row["endpoint"]: row for row in sections["gold_minus_predicted"]["rows"]}
    assert gained["trajectory"]["difference"] == 0
    expected = (printed["oracle"][2] - printed["rollout"][2]) / 96
    assert gained["final state"]["difference"] == pytest.approx(expected)


def test_a_damaged_or_foreign_data_file_is_refused_before_anything_is_made(tmp_path: Path, capsys):
    path = tmp_path / "data.jsonl"
    for text, message in (("hello", "not a c2s data file"), (None, "cannot read")):
        if text:
            path.write_text(text)
        elif path.exists():
            path.unlink()
        assert main(["run", "--panel", ACCESS, "--model", "sim:oracle", "--data", str(path), "--out", str(tmp_path / "run")]) == 2
        assert message in capsys.readouterr().err and not (tmp_path / "run").exists()
    path.write_bytes(data_bytes("judge", "x", [{"id": "a"}], {}))
    assert main(["run", "--panel", ACCESS, "--model", "sim:oracle", "--data", str(path), "--out", str(tmp_path / "run")]) == 2
    assert "no panel of this run reads" in capsys.readouterr().err
    assert main(["run", "--panel", ACCESS, "--model", "sim:oracle", "--domain", "math", "--out", str(tmp_path / "run")]) == 2
    assert "unknown domain" in capsys.readouterr().err


def test_limit_is_a_balanced_prefix(tmp_path: Path):
    small = run_script(tmp_path / "small", [ACCESS], dialogues.recovers, {"limit": 6})
    with sqlite.reading(small.ledger_path) as db:
        rows = [(row.parent.id, row.parent.length) for row in reader.parents(db)]
    assert Counter(length for _, length in rows) == {4: 2, 6: 2, 8: 2}
    assert verify(small.path).differences == []


def test_a_lost_response_is_unknown_wherever_it_was_shared_and_is_sent_again_only_when_told(finished, tmp_path: Path):
    owner = Counter(owner for _, owner in shares(finished)).most_common(1)[0][0]
    losing = [True]

    def model(call: Call):
        return Exchange("lost", message="no whole response") if losing[0] and call.slot == owner else dialogues.copies_its_errors(call)

    backend = Scripted("script:test", model, uses_truth=True, resend="paid", exact=False, max_batch=1)
    run = planned(tmp_path / "run", [ACCESS], backend)
    assert drive(run, backend)
    hit = sum(other == owner for _, other in shares(run))
    losing[0] = False
    assert drive(run, backend)  # nothing is left to do: unknowns are never sent again by themselves
    with sqlite.reading(run.ledger_path) as db:
        assert db.execute("SELECT count(*) FROM slots WHERE state = 'unknown'").fetchone() == (1 + hit,)
        assert db.execute("SELECT count(*) FROM exchanges").fetchone() == (
            382 - db.execute("SELECT count(*) FROM slots WHERE state = 'blocked'").fetchone()[0],
        )
    assert verify(run.path).differences == []
    assert drive(run, backend, unknown=True)
    assert verify(run.path).differences == [] and sum(sends(run).values()) == 383
    sections = [build([path]).as_dict()["sections"] for path in (run.path, finished.path)]
    assert sections[0] == sections[1]


def test_answers_are_reused_through_shared_slots(tmp_path: Path, capsys):
    run = ["run", "--panel", ACCESS, "--model", "sim:positions?p=0.8", "--json"]
    assert main([*run, "--limit", "6", "--out", str(tmp_path / "small")]) == 0
    assert main([*run, "--out", str(tmp_path / "plain")]) == 0
    capsys.readouterr()
    assert main([*run, "--out", str(tmp_path / "reused"), "--reuse-from", str(tmp_path / "small")]) == 0
    copied = capsys.readouterr().err
    with sqlite.reading(tmp_path / "small" / "ledger.sqlite") as db:
        (sent,) = db.execute("SELECT count(*) FROM exchanges").fetchone()
    assert f"{sent} answers were copied" in copied
    assert main(["verify", str(tmp_path / "reused")]) == 0
    assert (tmp_path / "reused" / "report.json").read_bytes() == (tmp_path / "plain" / "report.json").read_bytes()


def test_two_runs_make_one_family_of_sign_tests(tmp_path: Path):
    def weak(call: Call):
        return dialogues.forgets_a_slot(call) if call.slot.arm == "serial" else dialogues.recovers(call)

    first = run_script(tmp_path / "a", ["dialogue-construction"], weak)
    second = run_script(tmp_path / "b", ["dialogue-construction"], dialogues.recovers)
    runs = build([first.path, second.path]).as_dict()["runs"]
    tests = [row for run in runs for row in run["sections"]["contrasts"]["rows"] if "family" in row]
    assert [row["m"] for row in tests] == [2, 2] and tests[1]["p"] == 1
    assert tests[0]["p_holm"] == min(1, 2 * tests[0]["p"])


def test_a_chat_model_fills_fields_as_json_and_its_faults_are_scored(memory_path: Path, capsys):
    """Every seventh answer is fenced, every eleventh names an id; the others copy the previous state or give each field's first value."""

    def behave(n: int, body: bytes) -> Action:
        user = orjson.loads(orjson.loads(body)["messages"][0]["content"])
        assert list(user) == ["state", "field_queries", "response_format"]
        previous = orjson.loads(user["state"]).get("previous_state", {})
        values = {
            name: previous.get(name) if previous.get(name) in q["allowed_values"] else q["allowed_values"][0]
            for name, q in user["field_queries"].items()
        }
        if n % 11 == 0:
            values[next(iter(values))] = "v0"
        text = orjson.dumps(values).decode()
        text = f"```json\n{text}\n```" if n % 7 == 0 else text
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return Action(body=orjson.dumps({"model": "tiny", "choices": [choice], "usage": {"prompt_tokens": 300, "completion_tokens": 20}}))

    with Server(behave) as server:
        for panel, logical, sent in (("dialogue-construction", 756, 756), (ACCESS, 432, 382)):
            before = server.total
            out = memory_path / panel
            command = [
                "run",
                "--panel",
                panel,
                "--model",
                "chat:tiny?thinking=off",
                "--base-url",
                server.url,
                "--concurrency",
                "4",
                "--out",
                str(out),
                "--json",
            ]
            assert main(command) == 0
            report = orjson.loads(capsys.readouterr().out)
            assert report["requests"]["ok"] == logical and server.total - before == sent
            rows = {row["arm"]: row for row in report["sections"]["cost"]["rows"]}
            for row in rows.values():
                assert row["input_tokens"] == 300 * row["calls"] and row["output_tokens_per_turn"] == 20 * row["calls_per_turn"]
            accuracy = {row["arm"]: row for row in report["sections"]["accuracy"]["rows"]}
            assert all(0.6 < row["valid"] < 0.95 for row in accuracy.values())
            assert verify(out).differences == []
    with sqlite.reading(memory_path / "dialogue-construction" / "ledger.sqlite") as db:
        kinds = {kind for (kind,) in db.execute("SELECT DISTINCT kind FROM outcomes")}
    assert {"malformed", "illegal_value", "format_valid_wrong"} <= kinds


def test_options_named_by_value_are_another_run_of_the_same_dialogues(tmp_path: Path, capsys):
    reports = {}
    for naming in ("ids", "values"):
        out = tmp_path / naming
        command = ["run", "--panel", ACCESS, "--model", "sparrow", "--limit", "3", "--field-options", naming, "--out", str(out), "--json"]
        assert main(command) == 0
        reports[naming] = orjson.loads(capsys.readouterr().out)
        assert verify(out).differences == []
        with sqlite.reading(out / "ledger.sqlite") as db:
            (body,) = db.execute("SELECT request FROM exchanges LIMIT 1").fetchone()
        assert ('"UNSET":null' in body.decode()) == (naming == "values")
    assert reports["ids"]["items_sha256"] == reports["values"]["items_sha256"]
    assert reports["ids"]["settings"]["field_options"] == "ids" != reports["values"]["settings"]["field_options"]
    assert main(["run", "--panel", ACCESS, "--model", "sparrow", "--field-options", "letters"]) == 2
