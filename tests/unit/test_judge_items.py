"""A user's own items for the audit of a judge: what is wrong is named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from c2s.banks.judge_items import read_items
from c2s.errors import UsageError

GOOD = {"question": "2 + 2?", "reference": "4", "wrong": "5"}


def written(folder: Path, *items: object) -> Path:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ([{"question": "2 + 2?", "wrong": "5", "refrence": "4"}], "line 1 of {} has no reference; is 'refrence' meant to be 'reference'?"),
        ([GOOD, {"question": "1 + 1?"}], "line 2 of {} has no reference and no wrong"),
        ([{**GOOD, "question": ""}], "line 1 of {}: question must be a text or a number that is not empty, not ''"),
        ([{**GOOD, "reference": []}], "line 1 of {}: reference must be a text or a number that is not empty, not []"),
        ([GOOD, {**GOOD, "question": "3 + 1?"}, GOOD], "line 3 of {}: the same item stands on line 1 too; remove one of the two"),
        ([{**GOOD, "id": "a"}, {**GOOD, "question": "3 + 1?", "id": "a"}], "line 2 of {}: the id 'a' stands on line 1 too"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, items: list[object], sentence: str) -> None:
    path = written(tmp_path, *items)
    with pytest.raises(UsageError) as error:
        read_items(path)
    assert sentence.format(path) in str(error.value)


def test_members_that_no_item_has_are_mentioned_once(tmp_path: Path) -> None:
    notes: list[str] = []
    path = written(tmp_path, GOOD, {**GOOD, "question": "3 + 1?", "corect": "4"}, {**GOOD, "question": "0 + 4?", "corect": "4"})
    assert len(read_items(path, notes.append)) == 3
    assert notes == [
        f"line 2 of {path}: the member 'corect' is not used (did you mean correct?); an item has question, reference, wrong, correct, id"
    ]
