"""Fixtures of the bank tests: the real WordNet 3.0 where there is one, else the test is skipped with the reason."""

from __future__ import annotations

import os

import pytest

from c2s.errors import C2SError


@pytest.fixture(scope="session")
def wordnet_folder():
    from c2s.banks.wordnet import find_wordnet

    try:
        return find_wordnet(os.environ.get("C2S_WORDNET") or None)
    except C2SError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def nouns(wordnet_folder):
    from c2s.bankbuild.nouns import read_nouns

    return read_nouns(wordnet_folder)
