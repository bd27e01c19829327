"""Choosing dialogue prefixes: the paper's numbers on the publisher's data, the shipped set derived again, and what is refused."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest
from support.sgd import official_folder
from support.shared import shared_file

from c2s.bankbuild.dialogue_synthetic import NAME, QUOTAS, write_synthetic
from c2s.bankbuild.sgd import read_split
from c2s.bankbuild.sgd_select import Quotas, select
from c2s.banks.datafile import SHIPPED, data_bytes, load_data
from c2s.banks.dialogue import check_row, initial_state, join_paraphrases, load_dialogues, order_rows, permuted_options
from c2s.banks.schema_guided import INTENT, LENGTHS
from c2s.cli import main
from c2s.errors import BankError, UsageError


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return official_folder(tmp_path_factory.mktemp("sgd"))


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_synthetic(tmp_path_factory.mktemp("synthetic"))


def test_the_publishers_data_gives_the_papers_panel(official: Path):
    selection = select(official)
    test = [row for row in selection.rows if row["split"] == "test"]
    dev = [row for row in selection.rows if row["split"] == "dev"]
    assert (len(test), len(dev)) == (96, 12)
    assert sum(row["user_turns"] for row in test) == 576
    assert Counter(row["user_turns"] for row in test) == {4: 32, 6: 32, 8: 32}
    services = Counter(row["service"] for row in test)
    assert len(services) == 10 and max(services.values()) <= 12
    for row in selection.rows:
        check_row(row, "here")
        assert 2 <= len(row["fields"]) <= 4
        states = row["gold"]
        assert any(a != b for a, b in itertools.pairwise(states))
        assert any(value != "UNSET" for state in states for name, value in state.items() if name != INTENT)
    assert Counter(row["user_turns"] for row in test if row["paraphrase_wanted"]) == {4: 5, 6: 5, 8: 2}
    assert Counter(row["user_turns"] for row in test if row["permuted"]) == {4: 3, 6: 2, 8: 1}
    assert all(row["paraphrase_wanted"] for row in test if row["permuted"])
    assert selection.audit["splits"]["test"]["field_turns"] == sum(r["user_turns"] * len(r["fields"]) for r in test)


def test_splits_overlap_neither_in_ids_nor_in_content(official: Path):
    rows = select(official).rows
    assert len({row["id"] for row in rows}) == 108

    def start(row: dict) -> tuple:
        return tuple((turn["system"], turn["user"]) for turn in row["turns"][:4])

    assert len({start(row) for row in rows}) == 108
    assert {row["id"].split("-")[1] for row in rows} == {"test", "dev"}


def test_eligibility_agrees_with_an_independent_count_and_selection(official: Path):
    """The counts were worked out beforehand by other code; its proposed selection must be eligible and use the same services."""
    prefixes = {p.dialogue: p for p in read_split(official, "test").prefixes}
    assert {n: sum(n in p.lengths for p in prefixes.values()) for n in LENGTHS} == {4: 894, 6: 652, 8: 346}
    assert len(prefixes) == 1081 and len({p.service.name for p in prefixes.values()}) == 14
    proposal = json.loads(shared_file("data/sgd/selection_test_proposal.json").read_text())
    assert all(p["user_turns"] in prefixes[p["dialogue_id"]].lengths for p in proposal)
    ours = select(official).audit["splits"]["test"]["selected"]
    assert {p["service"] for p in proposal} == {service for service, cells in ours.items() if any(cells.values())}


def test_selection_does_not_depend_on_the_order_of_files_or_dialogues(synthetic: Path, tmp_path: Path):
    expected = select(synthetic, name=NAME, quotas=QUOTAS)
    dialogues = json.loads((synthetic / "test" / "dialogues_001.json").read_text())
    for split in ("test", "dev"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "schema.json").write_bytes((synthetic / split / "schema.json").read_bytes())
    (tmp_path / "dev" / "dialogues_001.json").write_bytes((synthetic / "dev" / "dialogues_001.json").read_bytes())
    (tmp_path / "test" / "dialogues_001.json").write_text(json.dumps(dialogues[20:][::-1]))
    (tmp_path / "test" / "dialogues_002.json").write_text(json.dumps(dialogues[:20]))

    def plain(rows) -> list[dict]:
        return [{key: value for key, value in row.items() if key != "source"} for row in rows]

    again = select(tmp_path, name=NAME, quotas=QUOTAS)
    assert plain(again.rows) == plain(expected.rows) and again.audit == expected.audit
    assert plain(select(synthetic, name=NAME, quotas=Quotas(**{**quotas_of(QUOTAS), "seed": 1})).rows) != plain(expected.rows)


def quotas_of(quotas: Quotas) -> dict:
    return {name: getattr(quotas, name) for name in Quotas.__dataclass_fields__}


def test_the_shipped_set_is_what_the_command_makes_of_our_own_folder(synthetic: Path, tmp_path: Path, capsys):
    flags = [
        text
        for name, value in quotas_of(QUOTAS).items()
        for text in (f"--{name.replace('_', '-')}", str(value).strip("()").replace(" ", ""))
    ]
    out = tmp_path / "dialogues.jsonl"
    command = ["data", "sgd", str(synthetic), "--out", str(out), "--name", NAME, "--paraphrases", str(synthetic / "paraphrases.json")]
    assert main([*command, *flags, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert out.read_bytes() == (SHIPPED / "dialogues-synthetic.jsonl").read_bytes()
    assert printed["dialogues"] == 21 and printed["without_paraphrase"] == [] and printed["shared_contents"] == 0
    assert printed["splits"]["test"]["user_turns"] == 108
    assert main([*command, *flags]) == 2 and "exists already" in capsys.readouterr().err


def test_the_audit_counts_every_prefix_once(official: Path):
    for found in select(official).audit["splits"].values():
        for n in map(str, LENGTHS):
            refused = sum(r["prefixes"] for r in found["refused"] if str(r["user_turns"]) == n)
            assert refused + sum(cells[n] for cells in found["eligible"].values()) == found["dialogues"]


def edited(synthetic: Path, tmp_path: Path, change) -> Path:
    for split in ("test", "dev"):
        (tmp_path / split).mkdir()
        for name in ("schema.json", "dialogues_001.json"):
            (tmp_path / split / name).write_bytes((synthetic / split / name).read_bytes())
    path = tmp_path / "test" / "dialogues_001.json"
    dialogues = json.loads(path.read_text())
    change(dialogues[0])
    path.write_text(json.dumps(dialogues))
    return tmp_path


REASONS = {
    "more than one service": lambda d: d["turns"][2]["frames"].append({"service": "Boats_1"}),
    "a user turn without a state": lambda d: d["turns"][2].update(frames=[]),
    "gold value outside the schema": lambda d: d["turns"][4]["frames"][0]["state"]["slot_values"].update(sliced=["Perhaps"]),
    "turns do not alternate": lambda d: d["turns"].pop(1),
    "fewer user turns": lambda d: d.update(turns=d["turns"][:7]),
    "no state change": lambda d: [t["frames"][0].update(state=d["turns"][0]["frames"][0]["state"]) for t in d["turns"][::2]],
    "no categorical value": lambda d: [t["frames"][0]["state"].update(slot_values={}) for t in d["turns"][::2]],
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_prefix_is_refused_for_each_reason(synthetic: Path, tmp_path: Path, reason: str):
    reading = read_split(edited(synthetic, tmp_path, REASONS[reason]), "test")
    first = json.loads((tmp_path / "test" / "dialogues_001.json").read_text())[0]["dialogue_id"]
    assert reading.refused[8, reason] == 1 and sum(reading.refused.values()) <= 3
    assert all(8 not in prefix.lengths for prefix in reading.prefixes if prefix.dialogue == first)


def test_an_unfit_folder_is_named(synthetic: Path, tmp_path: Path):
    with pytest.raises(BankError, match=r"No such file.*official"):
        read_split(tmp_path, "test")
    (tmp_path / "a").mkdir()
    with pytest.raises(BankError, match="not in the official format"):
        read_split(edited(synthetic, tmp_path / "a", lambda d: d.pop("turns")), "test")
    (tmp_path / "b" / "test").mkdir(parents=True)
    (tmp_path / "b" / "test" / "schema.json").write_text("[]")
    with pytest.raises(BankError, match="no dialogues_"):
        read_split(tmp_path / "b", "test")
    with pytest.raises(BankError, match="only 3 services"):
        select(synthetic, name=NAME)
    with pytest.raises(BankError, match="too few eligible dialogues of 6"):
        select(synthetic, name=NAME, quotas=Quotas(services=3, per_length=30, per_service=40))
    for paraphrased, permuted in (((4,), (1, 1, 1)), ((1, 1, 1), (2, 1, 1)), ((33, 0, 0), (0, 0, 0)), ((1, 1, 1), (-1, 0, 0))):
        with pytest.raises(UsageError, match="three numbers, one a length"):
            select(synthetic, name=NAME, quotas=Quotas(paraphrased=paraphrased, permuted=permuted))


def test_paraphrases_reword_user_turns_alone(synthetic: Path, tmp_path: Path):
    rows = select(synthetic, name=NAME, quotas=QUOTAS).rows
    wanted = [row for row in rows if row["paraphrase_wanted"]]
    path = tmp_path / "p.json"
    path.write_text(json.dumps({wanted[0]["id"]: [f"turn {i}" for i in range(8)], "elsewhere": ["x"]}))
    joined = {row["id"]: row for row in join_paraphrases(rows, path)}
    assert joined[wanted[0]["id"]]["paraphrase"] == [f"turn {i}" for i in range(wanted[0]["user_turns"])]
    assert sum(row["paraphrase"] is not None for row in joined.values()) == 1
    path.write_text(json.dumps({wanted[0]["id"]: ["one"]}))
    with pytest.raises(UsageError, match="has 1 utterances"):
        join_paraphrases(rows, path)
    for text, message in (
        ("{}", "none of the 6"),
        ("[]", "no file of paraphrases"),
        ("{", "no file of paraphrases"),
        ('{"a": "b"}', "no file"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=message):
            join_paraphrases(rows, path)
    with pytest.raises(UsageError, match="cannot read"):
        join_paraphrases(rows, tmp_path / "absent")


def test_rows_and_orders():
    rows = load_dialogues().rows
    test = [row for row in rows if row["split"] == "test"]
    assert {row["paraphrase"] is not None for row in test if row["paraphrase_wanted"]} == {True}
    assert initial_state(test[0])[INTENT] == "NONE" and set(initial_state(test[0]).values()) == {"NONE", "UNSET"}
    ordered = order_rows(test, seed=5)
    assert sorted(row["id"] for row in ordered) == sorted(row["id"] for row in test)
    assert order_rows(reversed(test), seed=5, limit=7) == ordered[:7]
    assert Counter(row["user_turns"] for row in ordered[:9]) == {4: 3, 6: 3, 8: 3}
    assert order_rows(test, seed=6) != ordered
    with pytest.raises(UsageError, match="at least 1"):
        order_rows(test, seed=5, limit=0)
    for row in test:
        order = [field["name"] for field in row["fields"]]
        assert order == [field["name"] for field in next(r for r in test if r["service"] == row["service"])["fields"]]
        for name, shown in permuted_options(row["fields"], 1, "d").items():
            ids = [o["id"] for f in row["fields"] if f["name"] == name for o in f["options"]]
            assert sorted(shown) == sorted(ids) and shown != ids


def test_a_data_file_is_checked(tmp_path: Path):
    path = tmp_path / "f.jsonl"
    whole = (SHIPPED / "dialogues-synthetic.jsonl").read_bytes()
    path.write_bytes(whole)
    assert load_data(path).rows == load_dialogues().rows and load_data(path, "dialogue").id == "synthetic"
    with pytest.raises(UsageError, match="holds dialogue data, not judge data"):
        load_data(path, "judge")
    with pytest.raises(UsageError, match="cannot read"):
        load_data(tmp_path / "absent")
    for data, error, message in (
        (whole.replace(b"Sourdough", b"Saltdough", 1), BankError, "damaged"),
        (b"hello\n", BankError, "no c2s data file|not a c2s data file"),
        (data_bytes("dialogue", "x", [{"id": "a"}, {"id": "a"}], {}), BankError, "'a' twice"),
        (data_bytes("dialogue", "x", [{"name": "a"}], {}), BankError, "no row with an id"),
    ):
        path.write_bytes(data)
        with pytest.raises(error, match=message):
            load_data(path)
    row = dict(load_dialogues().rows[0])
    for change in (
        {"user_turns": 6 if row["user_turns"] != 6 else 4},
        {"gold": [{}] * row["user_turns"]},
        {"paraphrase": ["x"]},
        {"fields": None},
    ):
        path.write_bytes(data_bytes("dialogue", "x", [row | change], {}))
        with pytest.raises(BankError, match="not whole"):
            load_dialogues(path)
