"""Likelihood beams against enumeration over a small invented language model."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from c2s.bankbuild.cue_beams import KIND, proposal_bytes, propose
from c2s.banks.datafile import load_data
from c2s.cli import main
from c2s.errors import InputError
from c2s.presentation.texts import cue_contexts

WORDS = ["<end>", " so", "\n", " Actual", "ly", " Actually", ":"]


class Toy:
    """Next-token probabilities that depend on the last token and the number of tokens."""

    ends = frozenset({0})

    def __init__(self) -> None:
        self.table = np.random.default_rng(5).dirichlet(np.ones(len(WORDS)), size=len(WORDS) + 1)
        self.calls = 0

    def context(self, message: str) -> list[int]:
        return [-1] * 3

    def log_probabilities(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        self.calls += 1
        assert len({len(p) for p in prefixes}) == 1
        with np.errstate(divide="ignore"):
            return np.log([self.table[p[-1]] for p in prefixes])

    def text(self, tokens: Sequence[int]) -> str:
        return "".join(WORDS[t] for t in tokens)


def score(model: Toy, tokens: Sequence[int]) -> float:
    return float(sum(np.log(model.table[a][b]) for a, b in itertools.pairwise([-1, *tokens])))


def test_a_wide_beam_is_exhaustive_and_ranked_by_summed_log_probability():
    model = Toy()
    found = propose(model, "c", "?", width=10_000, expand=10, longest=3)
    words = [t for t in range(len(WORDS)) if t not in (0, 2)]
    expected: dict[str, float] = {}
    for n in (1, 2, 3):
        for tokens in itertools.product(words, repeat=n):
            text = model.text(tokens).strip()
            expected[text] = max(expected.get(text, -math.inf), score(model, tokens))
    assert {p.text: pytest.approx(p.score) for p in found} == expected
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)
    assert model.calls == 4
    first = found[0]
    assert first.score == pytest.approx(score(model, first.tokens)) and first.end == pytest.approx(
        math.log(model.table[first.tokens[-1]][0])
    )


def test_a_text_is_kept_once_with_its_best_spelling():
    model = Toy()
    found = {p.text: p for p in propose(model, "c", "?", width=10_000, expand=10, longest=2)}
    assert found["Actually"].score == pytest.approx(max(score(model, (5,)), score(model, (3, 4))))


def test_a_narrow_beam_keeps_the_best_extensions_and_its_length():
    model = Toy()
    found = propose(model, "c", "?", width=2, expand=2, longest=5)
    assert len(found) <= 10 and max(len(p.tokens) for p in found) == 5
    assert all("\n" not in p.text and 0 not in p.tokens for p in found)
    assert found == propose(Toy(), "c", "?", width=2, expand=2, longest=5)
    one = [p for p in found if len(p.tokens) == 1]
    words = sorted((t for t in range(len(WORDS)) if t not in (0, 2)), key=lambda t: -model.table[-1][t])[:2]
    assert {p.tokens for p in one} == {(t,) for t in words}


def test_a_token_that_cannot_come_is_never_proposed():
    model = Toy()
    model.table[:, 6] = 0
    assert all(6 not in p.tokens for p in propose(model, "c", "?", width=50, expand=10, longest=3))


@pytest.mark.parametrize("setting", ["width", "expand", "longest"])
def test_settings_are_positive(setting: str):
    with pytest.raises(InputError, match=f"{setting} = 0"):
        propose(Toy(), "c", "?", **{setting: 0})


def test_contexts_are_the_printed_ones():
    found = cue_contexts()
    assert list(found) == ["Paris/London", "1958/1959", "June 21/June 22", "guess"]
    assert found["Paris/London"].splitlines() == [
        "Give only a short transition phrase between an initial answer and a corrected final answer.",
        "Initial answer: Paris",
        "Corrected final answer: London",
        "Transition:",
    ]
    assert found["guess"].splitlines()[-1] == "Phrase:" and len(found["guess"].splitlines()) == 4


def test_proposals_keep_their_scores_and_no_panel_takes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    proposals = [p for name in ("c", "d") for p in propose(Toy(), name, "?", width=3, expand=3, longest=2)]
    path = tmp_path / "cues.jsonl"
    path.write_bytes(proposal_bytes(proposals, {"model": "toy", "width": 3}))
    file = load_data(path, KIND)
    assert [row["rank"] for row in file.rows if row["context"] == "c"] == list(range(1, len(file.rows) // 2 + 1))
    assert [row["score"] for row in file.rows] == [p.score for p in proposals] and file.header["model"] == "toy"
    code = main(["run", "--panel", "judge-confirmation", "--model", "sim:oracle", "--data", str(path), "--out", str(tmp_path / "run")])
    assert code == 2 and "cue-proposals data, which no panel of this run reads" in capsys.readouterr().err
