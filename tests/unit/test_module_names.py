"""A module's name has one meaning: names that stand in several folders of c2s are declared here, with what they share."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]

# A study's arms, its panel, its report and its data have the study's name.
TOPICS = {
    "cohort": "the independent lexical cohort",
    "continuous": "generation that the model itself ends or goes on with",
    "copying": "copying a supplied target",
    "dialogue": "dialogues and their states",
    "factors": "which factor explains the difference between two interfaces",
    "generation": "answers written as text",
    "gold_copy": "copying the correct answer",
    "independence": "what position accuracies alone would give",
    "isomorphic": "the same problem in other symbols",
    "judge": "judging a candidate answer",
    "order": "whether an answer depends on the order of a request's members",
    "own_plan": "copying the model's own whole answer",
    "prefix": "continuing a prefix that is right or wrong",
    "readout": "reading one position of a supplied record",
    "repeats": "the same request asked again",
    "retention": "which correct answers survive the second of two interfaces",
    "robustness": "other wordings and orders of the same items",
    "scores": "reported probabilities as scores of being right",
    "semantic": "semantic fact records",
    "stopping": "deciding when an output ends",
    "study": "the main judge study",
    "support": "which options a position offers",
    "token_padding": "requests padded to equal length in tokens",
    "workflows": "evidence and controllers crossed",
}
# One kind of module in each of several folders.
KINDS = {
    "base": "what every member of its folder offers",
    "registry": "names to the objects of its folder",
    "control": "what another process may tell a run: the command that writes it, the runner that reads it",
    "output_review": "human review of outputs: the command and its report",
    "data": "the command `data`, and the data of a panel's report",
}
DECLARED = TOPICS | KINDS


def repeated() -> dict[str, list[str]]:
    """Names of modules that stand more than once below c2s, with their paths."""
    paths = defaultdict(list)
    for path in sorted((ROOT / "c2s").rglob("*.py")):
        if not path.stem.startswith("__"):
            paths[path.stem].append(path.relative_to(ROOT).as_posix())
    return {name: found for name, found in paths.items() if len(found) > 1}


def test_a_name_that_stands_twice_is_declared() -> None:
    surprising = {name: paths for name, paths in repeated().items() if name not in DECLARED}
    assert not surprising, "rename one, or declare what they share"


def test_every_declared_name_still_stands_twice() -> None:
    assert sorted(DECLARED) == sorted(name for name in repeated() if name in DECLARED)
