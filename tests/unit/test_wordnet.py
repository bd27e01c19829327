"""Finding, checking and reading WordNet, on small databases that the tests write, and on the real one where there is one."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from c2s.api.wordnet_place import named_wordnet
from c2s.bankbuild.nouns import read_nouns
from c2s.banks import wordnet
from c2s.banks.wordnet import WORDNET_30, check_meaning, find_wordnet, locate, read_definitions
from c2s.errors import BankError, MissingDependency, UsageError
from tests.support.tinywordnet import Synset, write_wordnet

SYNSETS = [
    Synset("object", ["object"], "a thing that can be pointed at"),
    Synset("dog", ["dog", "hound"], 'an animal that barks; "the dog barked"', ["object"]),
    Synset("hood-person", ["'hood", "hood"], "a place where one lives", ["object"]),
    Synset("Rex", ["Rex"], "the name of one dog", (), ["dog"]),
    Synset("hood", ["hood"], "a cover for the head", ["object"]),
]


@pytest.fixture
def tiny(tmp_path):
    folder = tmp_path / "wn"
    return folder, write_wordnet(folder, SYNSETS, exceptions="geese goose\nlice louse lice\n\n")


@pytest.fixture
def bare_machine(monkeypatch, tmp_path):
    """No WordNet in any standard place."""
    monkeypatch.delenv("C2S_WORDNET", raising=False)
    monkeypatch.setattr(wordnet, "_standard_places", lambda: iter([tmp_path / "nowhere"]))


def test_nouns_are_read_with_case_sense_order_and_relations(tiny):
    folder, _ = tiny
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    nouns = read_nouns(folder)
    dog = nouns.synsets[nouns.senses["dog"][0]]
    assert dog.lemmas == ("dog", "hound") and dog.definition == "an animal that barks"
    assert dog.hypernyms == nouns.senses["object"] and dog.instance_hypernyms == ()
    assert nouns.synsets[nouns.senses["rex"][0]].instance_hypernyms == (dog.offset,)
    assert [nouns.synsets[o].definition for o in nouns.senses["hood"]] == ["a place where one lives", "a cover for the head"]
    assert nouns.synsets[nouns.senses["'hood"][0]].lemmas == ("'hood", "hood")
    assert nouns.exceptions["geese"] == {"goose"} and nouns.exceptions["lice"] == {"louse", "lice"}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_reading_leaves_nltk_as_it_was_and_serves_many_threads(tiny):
    import nltk.data

    folder, _ = tiny
    path = list(nltk.data.path)
    offsets = list(read_nouns(folder).synsets)
    expected = read_definitions(folder, offsets)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(lambda _: read_definitions(folder, offsets), range(16)))
    assert nltk.data.path == path


def test_definitions_are_those_of_nltk(tmp_path):
    glosses = ['plain; with ";" inside a quote: "a; b"', '"only" an "example"', 'ends with a semicolon; "x"; ']
    write_wordnet(tmp_path, [Synset(f"s{i}", [f"s{i}"], gloss) for i, gloss in enumerate(glosses)])
    expected = {synset.offset: synset.definition for synset in read_nouns(tmp_path).synsets.values()}
    assert read_definitions(tmp_path, expected) == expected and len(expected) == 3


def test_all_definitions_of_wordnet_are_those_of_nltk(nouns):
    assert read_definitions(nouns.folder, nouns.synsets) == {offset: synset.definition for offset, synset in nouns.synsets.items()}


@pytest.mark.parametrize("home", ["/somewhere", ""])
def test_nltks_folders_are_nltks(monkeypatch, tmp_path, home):
    import subprocess
    import sys

    monkeypatch.setenv("NLTK_DATA", f"{tmp_path}{os.pathsep}~/mine")
    monkeypatch.setenv("HOME", home or str(tmp_path))
    done = subprocess.run([sys.executable, "-c", "import nltk.data; print(*nltk.data.path, sep='\\n')"], capture_output=True, text=True)
    theirs = [os.path.join(place, "corpora", "wordnet") for place in done.stdout.split()]
    assert list(map(str, wordnet._standard_places()))[: len(theirs)] == theirs


def test_an_unknown_offset_is_refused(tiny):
    with pytest.raises(BankError, match="no noun synset at offset 7"):
        read_definitions(tiny[0], [7])


@pytest.mark.parametrize("inside", [".", "dict", "corpora/wordnet", "usr/share/wordnet"])
def test_layouts(tmp_path, inside):
    digest = write_wordnet(tmp_path / inside, SYNSETS)
    assert locate(tmp_path) == (tmp_path / inside).resolve()
    assert find_wordnet(tmp_path, digest=digest) == (tmp_path / inside).resolve()


def test_the_environment_is_the_command_lines_default_and_no_parameter(bare_machine, tiny, monkeypatch):
    monkeypatch.setenv("C2S_WORDNET", str(tiny[0]))
    assert named_wordnet(None) == str(tiny[0]) and named_wordnet(str(tiny[0])) == str(tiny[0])
    with pytest.raises(MissingDependency, match="was not found on this machine"):
        find_wordnet(digest=tiny[1])
    with pytest.raises(MissingDependency, match="no WordNet files"):
        find_wordnet(tiny[0] / "nowhere")
    with pytest.raises(UsageError, match=r"--wordnet .*nowhere: no WordNet database"):
        named_wordnet(str(tiny[0] / "nowhere"))
    monkeypatch.delenv("C2S_WORDNET")
    assert named_wordnet(None) is None


def test_the_users_data_folder_and_nltk_folders_are_searched(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    monkeypatch.setattr(wordnet, "_DEBIAN", ())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("C2S_WORDNET", raising=False)
    digest = write_wordnet(tmp_path / "data" / "c2s" / "wordnet" / "usr" / "share" / "wordnet", SYNSETS)
    assert find_wordnet(digest=digest).parts[-5:] == ("c2s", "wordnet", "usr", "share", "wordnet")
    write_wordnet(tmp_path / "nltk" / "corpora" / "wordnet", SYNSETS)
    assert find_wordnet(digest=digest).parts[-3:] == ("nltk", "corpora", "wordnet")


def test_a_machine_without_wordnet_is_told_the_ways_out(bare_machine):
    with pytest.raises(MissingDependency) as error:
        find_wordnet()
    for way in ("apt-get install wordnet-base", "dpkg -x", "--wordnet DIR", "C2S_WORDNET=DIR"):
        assert way in str(error.value)
    assert "\n" not in str(error.value)


def test_a_standard_place_of_another_version_is_passed_over_and_named(tmp_path, monkeypatch):
    write_wordnet(tmp_path / "old", SYNSETS, version="3.1")
    digest = write_wordnet(tmp_path / "good", SYNSETS[:4])
    monkeypatch.delenv("C2S_WORDNET", raising=False)
    monkeypatch.setattr(wordnet, "_standard_places", lambda: iter([tmp_path / "old", tmp_path / "good"]))
    assert find_wordnet(digest=digest) == (tmp_path / "good").resolve()
    monkeypatch.setattr(wordnet, "_standard_places", lambda: iter([tmp_path / "old"]))
    with pytest.raises(MissingDependency, match=r"old is version 3\.1\): as root"):
        find_wordnet(digest=digest)


def test_a_wrong_version_is_refused(tmp_path):
    write_wordnet(tmp_path, SYNSETS, version="3.1")
    with pytest.raises(BankError, match=r"is version 3\.1; the bank needs the nouns of WordNet 3\.0: .*--wordnet DIR"):
        find_wordnet(tmp_path)


def test_a_changed_gloss_is_refused_and_pointers_to_verbs_are_not(tiny):
    folder, digest = tiny
    data = (folder / "data.noun").read_text()
    (folder / "data.noun").write_text(data.replace("barks", "meows"))
    with pytest.raises(BankError, match=r"3.0 by its header, but a gloss, lemma, pointer or sense order was changed"):
        check_meaning(folder, digest)
    (folder / "data.noun").write_text(data.replace(" 001 @ ", " 002 + 00000001 v 0101 @ "))
    check_meaning(folder, digest)
    index = (folder / "index.noun").read_text()
    lines = {line.split()[0]: line for line in index.splitlines() if not line.startswith(" ")}
    first, second = lines["hood"].split()[-2:]
    (folder / "index.noun").write_text(index.replace(f"{first} {second}", f"{second} {first}"))
    with pytest.raises(BankError, match="sense order was changed"):
        check_meaning(folder, digest)


def test_damaged_incomplete_and_unreadable_folders(tiny, tmp_path, monkeypatch):
    folder, digest = tiny
    (folder / "verb.exc").unlink()
    with pytest.raises(BankError, match=r"lacks verb\.exc"):
        find_wordnet(folder, digest=digest)
    (folder / "verb.exc").write_text("")
    (folder / "data.noun").write_bytes(b"00001740 03 n\n")
    with pytest.raises(BankError, match="damaged"):
        find_wordnet(folder, digest=digest)
    (folder / "data.noun").unlink()
    (folder / "data.noun").mkdir()
    with pytest.raises(BankError, match=r"cannot read .*data\.noun"):
        find_wordnet(folder, digest=digest)
    with pytest.raises(MissingDependency, match="no WordNet files"):
        find_wordnet(tmp_path / "absent")

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(BankError, match=r"cannot read the folder .* \(Permission denied\).*apt-get"):
        find_wordnet(folder)


def test_the_real_one(nouns):
    assert len(nouns.synsets) == 82_115 and len(nouns.senses) == 117_798
    check_meaning(nouns.folder, WORDNET_30)
    ace = [nouns.synsets[o] for o in nouns.senses["ace"]]
    assert any("ace" in s.lemmas for s in ace) and all(s.lemmas for s in ace)
    assert any("Polish" in nouns.synsets[o].lemmas for o in nouns.senses["polish"])
    assert nouns.senses["aas"] != nouns.senses["aa"]
