"""Where the user says that WordNet is: --wordnet DIR, or the environment variable C2S_WORDNET as its default."""

from __future__ import annotations

import os

from c2s.errors import UsageError

VARIABLE = "C2S_WORDNET"


def named_wordnet(option: str | None) -> str | None:
    """The folder that was named; None to look in the usual places.

    Raises UsageError where the option names a folder without a WordNet, even if this command would not read it.
    """
    if not option:
        return os.environ.get(VARIABLE) or None
    from c2s.banks.wordnet import WAYS_OUT, locate

    if locate(option) is None:
        raise UsageError(f"--wordnet {option}: no WordNet database (data.noun, index.noun, *.exc) there: {WAYS_OUT}")
    return option
