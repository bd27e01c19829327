"""The frozen natural bank: loading, damage, order, texts and their cache."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from hashlib import sha256

import orjson
import pytest

from c2s.banks.natural import (
    BANK_FILE,
    DOMAINS,
    LEXICAL_PREFIX,
    cache_file,
    export_rows,
    is_text_of,
    load_bank,
    order,
    parse_bank,
    problem_text,
)
from c2s.errors import BankError, MissingDependency, UsageError


@pytest.fixture(scope="module")
def bank():
    return load_bank()


def _bank_bytes(rows, **header):
    body = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    return orjson.dumps({"bank": "small", "items_sha256": sha256(body).hexdigest(), **header}) + b"\n" + body


def _rows(n=4):
    return [orjson.loads(line) for line in BANK_FILE.read_bytes().splitlines()[1 : n + 1]]


def test_size_and_balance(bank):
    assert bank.id == "natural-v1"
    assert bank.sha256 == sha256(BANK_FILE.read_bytes()).hexdigest()
    test, dev = Counter(), Counter()
    for item in bank.items:
        (test if item.split == "test" else dev)[item.domain, item.length] += 1
    assert test == {(domain, length): 64 for domain in DOMAINS for length in range(3, 9)}
    assert set(dev) == set(test) and min(dev.values()) >= 8
    assert len({item.id for item in bank.items}) == len(bank.items)


def test_pairs_are_one_to_one_and_share_k(bank):
    pairs = {}
    for item in bank.items:
        pairs.setdefault(item.pair_id, []).append(item)
    for members in pairs.values():
        assert [item.domain for item in members] == ["math", "lexical"]
        math, lexical = members
        assert (math.length, math.split) == (lexical.length, lexical.split)
        k = math.facts["geometry"]["k"]
        assert k == lexical.facts["geometry"]["k"] and k[:2] == [8, 2] and k[-1] == 1


def test_importing_and_loading_need_nothing_heavy():
    code = (
        "import sys; from c2s.banks.natural import load_bank; load_bank(); "
        "print(*[m for m in ('nltk', 'wordfreq', 'scipy', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_file_holds_no_wordnet_text():
    allowed = {"aliases", "candidates", "lemma", "target", "id", "pair_id", "domain", "split", "stratum", "unions"}

    def strings(value, key=""):
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from strings(inner, name)
        elif isinstance(value, list):
            for inner in value:
                yield from strings(inner, key)
        elif isinstance(value, str):
            yield key, value

    for line in BANK_FILE.read_bytes().splitlines()[1:]:
        for key, value in strings(orjson.loads(line)):
            assert " " not in value
            assert key in allowed or (key == "gloss_sha256" and len(value) == 64), (key, value)


@pytest.mark.parametrize("domains", [("math", "math"), ("math", "lexical")])
def test_an_id_twice_is_refused_also_across_domains(domains):
    rows = _rows(2)
    for row, domain in zip(rows, domains, strict=True):
        row.update(id="same", domain=domain)
    with pytest.raises(BankError, match=f"id 'same' twice \\({' and '.join(dict.fromkeys(domains))}\\)"):
        parse_bank(_bank_bytes(rows), "small.jsonl")


def test_damage_is_refused(tmp_path):
    data = _bank_bytes(_rows())
    assert len(parse_bank(data, "small.jsonl").items) == 4
    with pytest.raises(BankError, match="damaged"):
        parse_bank(data.replace(b'"split":"test"', b'"split":"exam"', 1), "small.jsonl")
    with pytest.raises(BankError, match="does not begin with a bank header"):
        parse_bank(data.partition(b"\n")[2], "small.jsonl")
    with pytest.raises(BankError, match=r"line 3 of the bank small.jsonl is no item"):
        parse_bank(_bank_bytes([_rows()[0], {"id": "x"}]), "small.jsonl")
    with pytest.raises(BankError, match="cannot read the bank"):
        load_bank(tmp_path / "absent.jsonl")


def test_order_is_seeded_and_every_prefix_is_balanced(bank):
    test = bank.split("test")
    full = order(test, 7)
    assert sorted(i.id for i in full) == sorted(i.id for i in test)
    assert full == order(reversed(test), 7) != order(test, 8)
    for n in range(1, len(full) + 1, 5):
        seen = Counter((item.domain, item.length) for item in full[:n])
        for domain in DOMAINS:
            counts = [seen[domain, length] for length in range(3, 9)]
            assert max(counts) - min(counts) <= 1
    assert all({a.domain, b.domain} == set(DOMAINS) and a.pair_id == b.pair_id for a, b in zip(full[::2], full[1::2], strict=True))
    assert {full[i].domain for i in range(0, 40, 2)} == set(DOMAINS)


def test_limit_is_a_prefix_and_one_domain_keeps_its_order(bank):
    test = bank.split("test")
    full = order(test, 7)
    limited = order(test, 7, 12)
    assert limited == full[:24]
    assert Counter((i.domain, i.length) for i in limited) == {(d, length): 2 for d in DOMAINS for length in range(3, 9)}
    alone = order([i for i in test if i.domain == "lexical"], 7)
    assert alone == [i for i in full if i.domain == "lexical"]
    with pytest.raises(UsageError, match="limit 0"):
        order(test, 7, 0)


def test_arithmetic_texts_need_no_wordnet(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = [row for row in _rows() if row["domain"] == "math"]
    small = parse_bank(_bank_bytes(rows), "small.jsonl")
    texts = problem_text(small)
    a, b = rows[0]["facts"]["a"], rows[0]["facts"]["b"]
    assert texts[rows[0]["id"]] == f"{a} × {b} = ?"
    assert str(a * b) == rows[0]["target"]
    assert is_text_of(small.items[0], f"{a} × {b} = ?")
    assert not is_text_of(small.items[0], f"{b} × {a} = ?") or a == b
    assert list(tmp_path.iterdir()) == []


def test_only_wanted_texts_are_joined(bank, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    math = [item for item in bank.items if item.domain == "math"][:3]
    assert list(problem_text(bank, tmp_path, items=math)) == [item.id for item in math]
    with pytest.raises(MissingDependency, match="no WordNet files"):
        problem_text(bank, tmp_path)


def test_texts_are_joined_once_and_a_damaged_cache_is_made_again(bank, monkeypatch, tmp_path, wordnet_folder):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts = problem_text(bank, wordnet_folder)
    lexical = [item for item in bank.items if item.domain == "lexical"]
    assert all(is_text_of(item, texts[item.id]) and texts[item.id].startswith(LEXICAL_PREFIX) for item in lexical)
    rows = export_rows(bank, texts, bank.items[:2])
    assert list(rows[0]) == ["id", "pair_id", "domain", "length", "split", "problem", "target", "candidates"]
    assert rows[1]["problem"] == texts[bank.items[1].id] and rows[1]["candidates"] == list(bank.items[1].candidates)

    cache = cache_file(bank)
    whole = cache.read_bytes()
    joined = {int(offset): text for offset, text in orjson.loads(whole).items()}
    reads = []
    monkeypatch.setattr("c2s.banks.wordnet.find_wordnet", lambda place, digest: place)
    monkeypatch.setattr("c2s.banks.wordnet.read_definitions", lambda folder, offsets: reads.append(folder) or joined)
    edited = whole.replace(b"the ", b"teh ", 1)
    for damaged in (b"", b"[1, 2]", b'{"1": 2}', whole[:1000], edited):
        cache.write_bytes(damaged)
        assert problem_text(bank, wordnet_folder) == texts
        assert cache.read_bytes() == whole
    assert len(reads) == 5
    assert problem_text(bank) == texts and len(reads) == 5  # the cache serves, WordNet is not looked for
    with pytest.raises(MissingDependency, match="no WordNet files"):
        problem_text(bank, tmp_path)
    assert [path.name for path in cache.parent.iterdir()] == [cache.name]


def test_an_unwritable_cache_folder_is_no_error(bank, monkeypatch, tmp_path, wordnet_folder):
    (tmp_path / "c2s").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert len(problem_text(bank, wordnet_folder)) == len(bank.items)
