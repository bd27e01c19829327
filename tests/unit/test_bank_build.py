"""Building, checking and reviewing a bank, on a made-up database; the frozen bank against the real one where there is one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from hashlib import sha256

import orjson
import pytest

from c2s.bankbuild import lexical
from c2s.bankbuild.check import check_against, check_header, check_items
from c2s.bankbuild.item_review import apply_review, neutral, plain, review_csv, review_rows, summarise_review
from c2s.bankbuild.lexical import draw_sets, noun_pool
from c2s.bankbuild.natural_build import Plan, build_from, wordfreq_zipf
from c2s.bankbuild.nouns import read_nouns
from c2s.banks import glosses
from c2s.banks.natural import BANK_FILE, LEXICAL_PREFIX, bank_bytes, load_bank, parse_bank, problem_text
from c2s.banks.wordnet import meaning_digest
from c2s.errors import BankError, UsageError
from tests.support.tinywordnet import Synset, tiny_synsets, tiny_zipf, write_wordnet

PLAN = Plan(lengths=(3,), test=8, dev=4, draws=300)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    digest = write_wordnet(folder, tiny_synsets())
    return read_nouns(folder), digest


@pytest.fixture(scope="module")
def tiny_bank(tiny):
    nouns, digest = tiny
    return build_from(nouns, tiny_zipf, seed=4, plan=PLAN, digest=digest)


def test_eligibility_is_decided_on_the_raw_lemma(tmp_path):
    gloss = "an imaginary object that stands alone on its shelf"
    synsets = [
        Synset("object", ["qqobjects"], "anything that a test can name at all"),
        Synset("ACE", ["ACE"], gloss + " in room 1", ["object"]),
        Synset("ace", ["ace"], gloss + " in room 2", ["object"]),
        Synset("ice", ["ice_cream"], gloss + " in room 3", ["object"]),
        Synset("'hood", ["'hood"], gloss + " in room 4", ["object"]),
        Synset("Polish", ["Polish"], gloss + " in room 5", ["object"]),
        Synset("polish", ["polish"], gloss + " in room 6", ["object"]),
        Synset("Rex", ["rex"], gloss + " in room 7", (), ["object"]),  # an instance
        Synset("Moon", ["Moon", "moon"], gloss + " in room 8", ["object"]),  # a proper name that is also spelled small
        Synset("sea", ["sea", "Sea"], gloss + " in room 9", ["object"]),  # a capital co-lemma does no harm
        Synset("two", ["boat", "ship"], gloss + " in room 10", ["object"]),  # two eligible lemmas
        Synset("rare", ["zyzzyva"], gloss + " in room 11", ["object"]),
        Synset("long", ["ninelette"], gloss + " in room 12", ["object"]),
        Synset("lamp", ["lamp"], gloss + " in room 13", ["object"]),
        Synset("lamp 2", ["lamp"], gloss + " in room 14", ["object"]),
        Synset("car", ["car"], "a carriage that stands alone on its shelf", ["object"]),
    ]
    write_wordnet(tmp_path, synsets)
    nouns = read_nouns(tmp_path)
    pool = noun_pool(nouns, lambda word: 0 if word == "zyzzyva" else 300)
    words = {noun.word: noun for found in pool.by_length.values() for noun in found}
    # `ace` and `polish` are spelled as nouns too, but the first sense of both belongs to the capitalised word.
    assert set(words) == {"sea", "lamp"}
    assert words["lamp"].offset == nouns.senses["lamp"][0]
    reordered = [*synsets[:1], synsets[2], synsets[1], *synsets[3:5], synsets[6], synsets[5], *synsets[7:]]
    write_wordnet(tmp_path, reordered)
    pool = noun_pool(read_nouns(tmp_path), lambda word: 0 if word == "zyzzyva" else 300)
    assert {noun.word for found in pool.by_length.values() for noun in found} == {"sea", "lamp", "ace", "polish"}


def test_a_built_bank_keeps_the_protocol(tiny_bank):
    assert list(check_header(tiny_bank)) == list(check_items(tiny_bank)) == []
    assert Counter((i.domain, i.split) for i in tiny_bank.items) == {
        ("math", "test"): 8,
        ("lexical", "test"): 8,
        ("math", "dev"): 4,
        ("lexical", "dev"): 4,
    }
    assert Counter(i.stratum for i in tiny_bank.split("test") if i.domain == "math") == dict.fromkeys(
        ["balanced-low", "balanced-high", "unbalanced-low", "unbalanced-high"], 2
    )
    assert {i.stratum for i in tiny_bank.items if i.domain == "lexical"} == {"low-unique"}
    for domain in ("math", "lexical"):
        seats = Counter(i.candidates.index(i.target) for i in tiny_bank.split("test") if i.domain == domain)
        assert seats == dict.fromkeys(range(8), 1)
    assert tiny_bank.header["lengths"]["3"]["quotas"]["lexical"]["low-unique"] == 8


def test_the_bytes_depend_on_the_seed_and_not_on_the_workers(tiny, tiny_bank):
    nouns, digest = tiny
    assert bank_bytes(build_from(nouns, tiny_zipf, seed=4, plan=PLAN, digest=digest, workers=2)) == bank_bytes(tiny_bank)
    assert bank_bytes(build_from(nouns, tiny_zipf, seed=5, plan=PLAN, digest=digest)) != bank_bytes(tiny_bank)
    mixed = build_from(nouns, tiny_zipf, seed=4, mixed=True, plan=PLAN, digest=digest)
    assert mixed.id == "natural-mixed-v1" and list(check_items(mixed)) == []


def test_a_database_with_too_few_words_is_refused(tiny):
    nouns, digest = tiny
    with pytest.raises(BankError, match="too few candidate sets of length 3"):
        build_from(nouns, tiny_zipf, plan=replace(PLAN, test=48, dev=8, draws=20), digest=digest)
    with pytest.raises(BankError, match="no eligible noun of length 4"):
        build_from(nouns, tiny_zipf, plan=replace(PLAN, lengths=(3, 4)), digest=digest)


def _noun(word, offset, zipf=300, tokens=("some", "plain", "thing", "here"), near=(), above=(), senses=None):
    return lexical.Noun(word, offset, zipf, tokens, "", (), senses or (offset,), frozenset({offset, *near}), frozenset(above))


def _refused(members, gold=0):
    return lexical._refusal(members, members[gold], glosses.CueRule({}))


def test_sets_with_conflicts_are_refused():
    words = ["ban", "bet", "can", "cup", "dip", "dot", "fog", "fur"]
    plain_set = [_noun(word, i) for i, word in enumerate(words)]
    assert _refused(plain_set) is None
    changed = [
        (_noun("fur", 7, zipf=451), "frequency range"),
        (_noun("fur", 7, senses=(9, 0)), "shared or adjacent sense"),  # an alias in a second sense
        (_noun("fur", 7, above=(0,)), "shared or adjacent sense"),  # below the gold
    ]
    for noun, reason in changed:
        assert _refused([*plain_set[:7], noun]) == reason
    assert _refused([_noun("ban", 0, near=(5,)), *plain_set[1:]]) == "shared or adjacent sense"
    assert _refused([_noun("ban", 0, tokens=("a", "kind", "of", "fur")), *plain_set[1:]]) == "distractor in the definition"
    single = [_noun(word, i) for i, word in enumerate(["ban", "bun", "can", "cun", "din", "don", "fan", "fin"])]
    assert _refused(single) == "single character at a position"


def test_drawn_sets_have_four_pairs_of_initials_and_every_seat_for_the_gold(tiny):
    pool = noun_pool(tiny[0], tiny_zipf)
    outcome = Counter()
    sets = list(draw_sets(pool.by_length[3], glosses.CueRule({}), 1, "x", 400, outcome))
    assert sum(outcome.values()) == 400 and len(sets) == outcome["accepted"] > 100
    assert all(sorted(Counter(m.word[0] for m in s.members).values()) == [2, 2, 2, 2] for s in sets)
    seats = Counter(s.members.index(s.gold) for s in sets)
    assert set(seats) == set(range(8))
    few = [n for n in pool.by_length[3] if n.word[0] in "bdg"]
    assert list(draw_sets(few, glosses.CueRule({}), 1, "x", 10, Counter())) == []


def test_check_finds_what_was_changed(tiny, tiny_bank, tmp_path):
    nouns, digest = tiny
    path = tmp_path / "bank.jsonl"

    def findings(change):
        rows = [orjson.loads(line) for line in bank_bytes(tiny_bank).splitlines()]
        change(rows)
        body = b"".join(orjson.dumps(row, option=orjson.OPT_SORT_KEYS) + b"\n" for row in rows[1:])
        rows[0]["items_sha256"] = sha256(body).hexdigest()
        path.write_bytes(orjson.dumps(rows[0], option=orjson.OPT_SORT_KEYS) + b"\n" + body)
        return check_against(nouns, tiny_zipf, path=path, plan=PLAN, digest=digest)

    clean = findings(lambda rows: None)
    assert clean.ok and clean.rows()["findings"] == [] and clean.sha256 == tiny_bank.sha256
    math, word = 1, 2  # lines of the file

    def changed(line, **facts):
        return lambda rows: rows[line]["facts"].update(facts)

    cases = [
        (changed(math, a=3, b=5), "3 x 5 is 15, not"),
        (changed(math, carries=99), "carries by the kernel differ: carries"),
        (changed(math, carries=99), "carries by the slow twin differ: carries"),
        (lambda rows: rows[math]["facts"]["geometry"].update(cartesian=9), "geometry by the kernel differs: cartesian"),
        (lambda rows: rows[math].update(stratum="balanced-none"), "belongs to the cell"),
        (lambda rows: rows[math].update(pair_id="other"), "is not one arithmetic and one lexical item"),
        (lambda rows: rows[math].update(candidates=["111"] * 8), "not eight different strings"),
        (changed(word, gloss_sha256="0" * 64), "does not have the frozen hash"),
        (changed(word, offset=1), "is no lemma of the noun synset 1"),
        (changed(word, centi_zipf=[300] * 8), "frequencies of the candidates differ"),
        (changed(word, centi_zipf=[100] * 8), "frequencies from 100 to 100"),
        (changed(word, senses=[[1]] * 8), "noun senses of the candidates differ"),
        (lambda rows: rows[0].update(items=1), "announces 1 items, the file has 24"),
        (lambda rows: rows[0].update(format=9), "format 9 instead of 1"),
        (lambda rows: rows[0]["lengths"]["3"]["quotas"]["lexical"].update({"low-unique": 1}), "quotas of lexical, length 3"),
        (lambda rows: rows[4].update(target=rows[word]["target"], candidates=rows[word]["candidates"]), "stands in 2 items"),
        (lambda rows: rows.pop(), "a new build differs, first in line 1"),
    ]
    for change, message in cases:
        found = findings(change)
        assert not found.ok and any(message in finding.what for finding in found.findings), (message, found.findings)


def test_a_changed_definition_is_refused_when_texts_are_joined(tiny, tiny_bank, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    nouns, digest = tiny
    texts = problem_text(tiny_bank, nouns.folder, digest=digest)
    item = next(i for i in tiny_bank.items if i.domain == "lexical")
    assert texts[item.id] == LEXICAL_PREFIX + nouns.synsets[item.facts["offset"]].definition
    synsets = [replace(s, gloss=s.gloss.replace("imaginary", "imaginery")) for s in tiny_synsets()]
    other = write_wordnet(tmp_path / "other", synsets)
    assert other == meaning_digest(*((tmp_path / "other" / name).read_bytes() for name in ("data.noun", "index.noun")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    with pytest.raises(BankError, match=r"the definition of '\w{3}' \(lexical-3-\S+\) in .*other is not the frozen one"):
        problem_text(tiny_bank, tmp_path / "other", digest=other)


def test_review_goes_out_and_comes_back(tiny, tiny_bank, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts = problem_text(tiny_bank, tiny[0].folder, digest=tiny[1])
    rows = review_rows(tiny_bank, texts, ["=cmd()", "B"])
    assert len(rows) == 2 * 12 and all(row["unique"] == "" for row in rows)
    for row in rows[:4]:
        row.update(answer_acceptable="Yes", unique=" yes ")
    rows[1]["unique"] = "uncertain"
    path = tmp_path / "review.csv"
    path.write_text(review_csv(rows))
    assert "\n=cmd" not in path.read_text() and ",=cmd" not in path.read_text() and ",'=cmd()," in path.read_text()
    reviewed = apply_review(tiny_bank, path)
    assert reviewed.sha256 != tiny_bank.sha256 and parse_bank(bank_bytes(reviewed), "again") == reviewed
    first = next(i for i in reviewed.items if i.domain == "lexical")
    assert first.facts["review"] == {
        "answer_acceptable": {"=cmd()": "yes", "B": "yes"},
        "unique": {"=cmd()": "yes", "B": "uncertain"},
    }
    summary = summarise_review(reviewed)
    assert (summary.items, summary.reviewed) == (8, 2)
    assert summary.held == summary.disagreed == (first.id,)
    again = tmp_path / "again.csv"
    again.write_text(review_csv(review_rows(reviewed, texts, [])))
    assert again.read_text().count("uncertain") == 1
    assert apply_review(reviewed, again) == apply_review(tiny_bank, again) == reviewed


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\tx", "'", "'=x", "it's", "plain", "", "\uff1dx"])
def test_cells_are_neutralised_and_restored(cell):
    assert plain(neutral(cell)) == cell
    assert not neutral(cell).startswith(("=", "+", "-", "@", "\t", "\uff1d"))


def test_review_errors_name_the_row(tiny_bank, tmp_path):
    item = next(i for i in tiny_bank.items if i.domain == "lexical")
    path = tmp_path / "review.csv"
    header = "id,target,reviewer,answer_acceptable,unique\n"
    good = f"{item.id},{item.target},A,yes,yes\n"
    cases = [
        (header + good + good, r"row 3: reviewer 'A' has a row for .* already"),
        (header + good.replace(",yes,yes", ",maybe,yes"), r"row 2: answer_acceptable is 'maybe': write yes, no or uncertain"),
        (header + good.replace(",A,", ",,"), "row 2: an answer without a reviewer"),
        (header + good.replace(item.id, "nobody"), "row 2: 'nobody' is no lexical item"),
        (header + good.replace(f",{item.target},", ",zzz,"), "row 2: the target of .* is .*, not 'zzz'"),
        (header + f"{item.id},x\n", "row 2: more or fewer cells"),
        (good, "lacks the column id, target"),
    ]
    for text, message in cases:
        path.write_text(text)
        with pytest.raises(UsageError, match=message):
            apply_review(tiny_bank, path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        apply_review(tiny_bank, path)
    with pytest.raises(UsageError, match="cannot read the review"):
        apply_review(tiny_bank, tmp_path / "absent.csv")


def test_the_frozen_bank_is_what_the_sources_give(nouns):
    found = check_against(nouns, wordfreq_zipf(), path=BANK_FILE, workers=2)
    assert found.findings == ()
    assert found.sha256 == load_bank().sha256 and found.items == 864
