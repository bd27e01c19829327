"""Judge sources: what is admitted, how it is made wrong, and that a file cannot claim what is not so."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import orjson
import pytest
from support.shared import shared_file

from c2s.bankbuild.judge_build import Inventory, build_judge_bank, read_inventory
from c2s.bankbuild.judge_read import Raw, read_drop, read_gsm8k
from c2s.bankbuild.judge_synthetic import build_synthetic
from c2s.banks import judge
from c2s.banks.datafile import data_bytes, load_data
from c2s.banks.judge import Source, flaw, letters, load_judge_bank, mutation, normalised, number, shown
from c2s.banks.reference_switch import pairs
from c2s.errors import BankError, UsageError


def raw(i: int, answers: tuple[str, ...] = ("7",), *, workload: str = "w", cluster: str | None = None, question: str | None = None) -> Raw:
    question = question or f"How many things does question {i} name?"
    return Raw(f"{workload}:{i}", workload, cluster or f"{workload}:{i}", "", question, answers)


SMALL = {"confirmation": 2, "preflight": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", "7"),
        ("-10", "-10"),
        ("1,450,000", "1450000"),
        ("2,125", "2125"),
        (".9", "0.9"),
        ("10.50", "10.50"),
        (" 3 ", "3"),
        ("007", "7"),
    ],
)
def test_plain_decimals_are_numbers_and_are_shown_plainly(text: str, value: str):
    assert shown(number(text)) == value


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "NaN", "Infinity", "1e3", "1,2", "12,34", "5.", "\u0663", "\uff15", "\u00bd", "7 points", "1 000", "+3", "0x10", "--1"],
)
def test_anything_else_is_none(text: str):
    assert number(text) is None


@pytest.mark.parametrize(
    ("x", "near", "far"),
    [
        ("14", "15", "54"),
        ("20", "21", "60"),
        ("21", "22", "63"),
        ("2.5", "3.5", "42.5"),
        ("-10", "-9", "30"),
        ("0", "1", "40"),
        ("-30", "-29", "30"),
        ("0.1", "1.1", "40.1"),
    ],
)
def test_mutations_are_exact_decimals(x: str, near: str, far: str):
    assert [shown(mutation(Decimal(x), d)) for d in ("near", "far")] == [near, far]


def test_a_value_that_cannot_be_moved_exactly_has_no_mutation():
    assert mutation(Decimal("1" * 70), "near") is None
    assert mutation(Decimal("0." + "1" * 59), "far") is None


def test_letters_depend_on_seed_and_source_alone():
    assert letters(1, "a") == letters(1, "a") != letters(2, "a") != letters(2, "b")
    found = [letters(5, f"s{i}") for i in range(400)]
    assert all(re.fullmatch("[A-Z][a-z]{5}", word) for word in found) and len(set(found)) == 400
    assert re.fullmatch("[a-z]{6}", letters(5, "s", title=False))
    counts = Counter("".join(found).lower())
    assert set(counts) == set("abcdefghijklmnopqrstuvwxyz") and max(counts.values()) < 2 * min(counts.values())


def test_every_false_claim_of_a_source_is_found():
    built = build_judge_bank([raw(i, (str(i),)) for i in range(1, 5)], sizes=SMALL, seed=3)
    source = built.sources[0]
    assert flaw(source, 3) is None
    for change, said in (
        ({"y": source.x}, "is not the"),
        ({"y": shown(Decimal(source.y) + 1)}, "is not the"),
        ({"references": (source.x, source.y)}, "is an accepted reference"),
        ({"references": (source.x, "two")}, "not a finite number"),
        ({"references": ("12", source.x)}, "is not the reference"),
        ({"references": ()}, "not a finite number"),
        ({"r": "Abcdef"}, "letters"),
        ({"question": " "}, "empty"),
        ({"distance": "middle"}, "unknown"),
        ({"split": "test"}, "unknown"),
    ):
        assert said in flaw(dataclasses.replace(source, **change), 3)
    assert "letters" in flaw(source, 4)


def test_exclusions_have_reasons():
    raws = [
        raw(1),
        raw(2, question="How many things does QUESTION 1 name"),
        raw(3, ("7", "8")),
        raw(4, ("7", "47")),
        raw(5, ("NaN",)),
        raw(6, ("1" * 80,)),
        raw(7, cluster="shared"),
        raw(8, cluster="shared"),
        raw(9, question="  "),
        *(raw(i) for i in range(10, 14)),
    ]
    earlier = Inventory()
    earlier.add({"question": "how many things does question 10 name"})
    earlier.add({"id": "w:11"})
    earlier.add({"cluster": "w:12"})
    raws += [raw(i) for i in (20, 21)]
    built = build_judge_bank(raws, sizes=SMALL, earlier=earlier, seed=1)
    assert built.excluded["w:2"] == "its normalised question stands earlier in the files"
    assert built.excluded["w:3"] == "its near mutation is an accepted reference"
    assert built.excluded["w:4"] == "its far mutation is an accepted reference"
    assert built.excluded["w:5"] == "a reference is not a finite decimal number"
    assert built.excluded["w:6"] == "its value has too many digits for an exact mutation"
    assert built.excluded["w:9"] == "the question is empty"
    assert [built.excluded[f"w:{i}"] for i in (10, 11, 12)] == [
        f"its {what} is in an earlier inventory" for what in ("question", "id", "cluster")
    ]
    assert sum(built.excluded.get(f"w:{i}") == "another question of its cluster was drawn" for i in (7, 8)) == 1
    assert len(built.excluded) + len(built.sources) == len(raws)
    assert built.reasons["w"] == dict(Counter(built.excluded.values()))


def test_halves_near_and_far_and_workloads_in_turn():
    raws = [raw(i, workload=w, question=f"{w} {i}?") for w in ("a", "b") for i in range(60)]
    built = build_judge_bank(raws, sizes={"confirmation": 20, "preflight": 4})
    assert Counter((s.workload, s.split, s.distance) for s in built.sources) == {
        (w, split, d): n for w in "ab" for split, n in (("confirmation", 10), ("preflight", 2)) for d in ("near", "far")
    }
    assert [s.workload for s in built.sources[:4]] == ["a", "b", "a", "b"]
    assert {s.id for s in built.sources if s.split == "preflight"}.isdisjoint(s.id for s in built.sources if s.split == "confirmation")


def test_leaving_a_question_out_moves_no_other_cluster():
    raws = [raw(i) for i in range(40)]
    whole = [s.id for s in build_judge_bank(raws, sizes={"confirmation": 39, "preflight": 1}).sources]
    less = [s.id for s in build_judge_bank(raws[1:], sizes={"confirmation": 38, "preflight": 1}).sources]
    assert [name for name in whole if name != "w:0"] == less
    assert build_judge_bank(raws[::-1], sizes=SMALL).data == build_judge_bank(raws, sizes=SMALL).data


def test_too_few_clusters_and_repeated_ids_are_refused():
    with pytest.raises(BankError, match="w has 3 eligible clusters, 4 are wanted"):
        build_judge_bank([raw(i) for i in range(3)], sizes=SMALL)
    with pytest.raises(UsageError, match="'w:1' stands twice"):
        build_judge_bank([raw(1), raw(1)], sizes=SMALL)
    with pytest.raises(UsageError, match="fewer than 0"):
        build_judge_bank([raw(1)], sizes={"confirmation": -1})


def test_the_shipped_bank_is_derived_again_and_holds_none_of_the_publishers_text():
    built = build_synthetic()
    assert built.data == judge.SYNTHETIC_FILE.read_bytes()
    bank = load_judge_bank()
    assert (len(bank.split("confirmation")), len(bank.split("preflight"))) == (200, 20)
    assert Counter((s.workload, s.distance) for s in bank.split("confirmation")) == {
        (w, d): 50 for w in ("reading", "sums") for d in ("near", "far")
    }
    theirs = {normalised(r.question) for r in read_drop(shared_file("data/drop/drop_dataset_train_head217.json"))}
    theirs |= {normalised(r.question) for r in read_gsm8k(shared_file("data/gsm8k/gsm8k_test.jsonl"))}
    assert theirs.isdisjoint(normalised(s.question) for s in bank.sources)


def rewritten(path: Path, change) -> Path:
    """The shipped bank with one source changed, its hash made good again."""
    file = load_data(judge.SYNTHETIC_FILE)
    rows = [dict(row) for row in file.rows]
    change(rows)
    path.write_bytes(data_bytes("judge", "x", rows, {"seed": file.header["seed"]}))
    return path


def test_a_bank_file_cannot_claim_what_is_not_so(tmp_path: Path):
    path = tmp_path / "bank.jsonl"
    for change, said in (
        (lambda rows: rows[3].update(y=rows[3]["x"]), "line 5 .*is not the"),
        (lambda rows: rows[0].update(references=[rows[0]["x"], rows[0]["y"]]), "line 2 .*accepted reference"),
        (lambda rows: rows[0].pop("r"), "line 2 .*no judge source"),
        (lambda rows: rows[1].update(cluster=rows[0]["cluster"]), "the same cluster"),
        (lambda rows: rows[1].update(question=rows[0]["question"].upper()), "the same question"),
        (lambda rows: rows[1].update(references="12"), "line 3"),
        (lambda rows: rows[1].update(question=None), "line 3 .*no judge source"),
    ):
        with pytest.raises(BankError, match=said):
            load_judge_bank(rewritten(path, change))
    path.write_bytes(judge.SYNTHETIC_FILE.read_bytes().replace(b"Hesket", b"Hesked", 1))
    with pytest.raises(BankError, match="damaged"):
        load_judge_bank(path)


def write(path: Path, value: object) -> Path:
    path.write_bytes(orjson.dumps(value))
    return path


def pair(number: str = "", *, spans: list[str] | None = None, year: str = "", name: str = "q", **more: object) -> dict:
    answer = {"number": number, "date": {"day": "", "month": "", "year": year}, "spans": spans or []}
    return {"question": f"How many is {name}?", "query_id": name, "answer": answer, **more}


def test_drop_admits_single_numbers_alone(tmp_path: Path):
    other = {"number": "4", "date": {"day": "", "month": "", "year": ""}, "spans": []}
    span = {"number": "", "date": {}, "spans": ["five"]}
    qa = [
        pair("3", name="a"),
        pair(spans=["three"], name="b"),
        pair(year="1345", name="c"),
        pair(name="d"),
        pair("3", name="e", validated_answers=[other]),
        pair("3", name="f", validated_answers=[span]),
    ]
    rows = read_drop(write(tmp_path / "drop.json", {"p_1": {"passage": "Text.", "wiki_url": "", "qa_pairs": qa}}))
    assert [(r.id, r.cluster, r.answers) for r in rows if r.problem is None] == [
        ("drop:a", "drop:p_1", ("3",)),
        ("drop:e", "drop:p_1", ("3", "4")),
    ]
    assert [r.problem for r in rows if r.problem] == ["an accepted answer is not a number"] * 4


def test_what_is_not_a_publishers_file_is_said_with_its_place(tmp_path: Path):
    with pytest.raises(UsageError, match="a JSON object of passages"):
        read_drop(write(tmp_path / "a", [1]))
    with pytest.raises(UsageError, match="passage 'p' is not in DROP's format"):
        read_drop(write(tmp_path / "b", {"p": {"passage": "x", "qa_pairs": [{"question": "?"}]}}))
    (tmp_path / "c").write_bytes(b'{"question": "a?", "answer": "#### 3"}\n{"question": 3}\n')
    with pytest.raises(UsageError, match=r"line 2 of .* is not in GSM8K's format"):
        read_gsm8k(tmp_path / "c")
    (tmp_path / "d").write_bytes(b'{"question": "a?", "answer": "three"}\n\n{"question": "b?", "answer": "so\\n#### 1,200"}')
    rows = read_gsm8k(tmp_path / "d")
    assert [(r.id, r.answers, r.problem) for r in rows] == [
        ("gsm8k:test:1", (), "no final value after ####"),
        ("gsm8k:test:3", ("1,200",), None),
    ]
    with pytest.raises(UsageError, match="cannot read"):
        read_gsm8k(tmp_path / "nowhere")
    (tmp_path / "e").write_bytes(b"not json")
    with pytest.raises(UsageError, match="is not JSON"):
        read_drop(tmp_path / "e")


def test_a_bank_from_the_official_files_is_whole_and_disjoint_from_an_earlier_one(tmp_path: Path):
    raws = read_drop(shared_file("data/drop/drop_dataset_train_head217.json")) + read_gsm8k(shared_file("data/gsm8k/gsm8k_test.jsonl"))
    assert Counter(r.workload for r in raws) == {"drop": 3420, "gsm8k": 1319}
    assert sum(r.problem is None for r in raws if r.workload == "drop") == 2084
    built = build_judge_bank(raws)
    assert Counter((s.workload, s.split, s.distance) for s in built.sources) == {
        (w, split, d): n for w in ("drop", "gsm8k") for split, n in (("confirmation", 50), ("preflight", 5)) for d in ("near", "far")
    }
    assert len(built.excluded) + len(built.sources) == 3420 + 1319
    path = tmp_path / "bank.jsonl"
    path.write_bytes(built.data)
    assert load_judge_bank(path).sources == built.sources
    earlier = Inventory()
    assert read_inventory(path, earlier) == 220
    again = build_judge_bank(raws, sizes={"confirmation": 50, "preflight": 5}, earlier=earlier)
    for key in (lambda s: s.id, lambda s: s.cluster, lambda s: normalised(s.question)):
        assert {key(s) for s in again.sources}.isdisjoint(key(s) for s in built.sources)


def test_an_inventory_must_be_objects(tmp_path: Path):
    (tmp_path / "list.jsonl").write_bytes(b"[1]\n")
    with pytest.raises(UsageError, match=r"line 1 of .* is no JSON object"):
        read_inventory(tmp_path / "list.jsonl", Inventory())


def test_reference_switch_pairs_are_balanced_three_digit_values():
    found = pairs()
    assert len(found) == 24 and len({p.id for p in found}) == 24 and len({p.item for p in found}) == 24
    assert Counter((p.distance, p.x < p.y) for p in found) == {(d, o): 6 for d in ("near", "far") for o in (True, False)}
    assert all(100 <= v <= 999 for p in found for v in (p.x, p.y)) and len({v for p in found for v in (p.x, p.y)}) == 48
    assert all((abs(p.x - p.y) == 1) == (p.distance == "near") and abs(p.x - p.y) in (1, *range(100, 900)) for p in found)
    assert all(re.fullmatch("[a-z]{6}", p.r) and re.fullmatch("K[0-9a-f]{10}", p.item) for p in found)
    assert found == pairs() and [p.id for p in pairs(4)] == [p.id for p in found[:4]]


def test_a_source_is_hashable_and_frozen():
    source = load_judge_bank().sources[0]
    assert isinstance(source, Source) and hash(source) == hash(dataclasses.replace(source))
