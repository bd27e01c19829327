"""A user's own labelled items and rubric, for the audit of their judge."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from c2s.banks.datafile import data_bytes
from c2s.banks.files import json_lines
from c2s.banks.judge import letters, normalised, number
from c2s.errors import UsageError, nearest

KIND = "judge-items"
SEED = 20261007154
LABELS = ("correct", "incorrect")
KEYS = ("name", "instruction", "criteria", "labels")
MEMBERS = ("question", "reference", "wrong", "correct", "id")
"""Members of an item; the first three are required."""


def read_items(path: str | os.PathLike[str], note: Callable[[str], None] = lambda message: None) -> list[dict[str, Any]]:
    """Rows of a data file from JSON Lines: question, reference (a value or a list), wrong, and optionally id and correct.

    UsageError names the line of an item that is incomplete, whose wrong value is its correct one or a reference, or whose correct value is
    none of its references, and both lines of an item or an id that stands there twice. `note` is told of members that no item has.
    """
    rows: list[dict[str, Any]] = []
    lines: dict[object, int] = {}
    unknown: dict[str, int] = {}
    for line, item in json_lines(path, "item"):
        where = f"line {line} of {path}"
        if not isinstance(item, dict):
            raise UsageError(f"{where} is no JSON object with question, reference, correct and wrong")
        _refuse_missing(item, where)
        for member in item:
            if member not in MEMBERS:
                unknown.setdefault(member, line)
        question, wrong, given = _text(item["question"]), _text(item["wrong"]), item["reference"]
        references = [_text(value) for value in (given if isinstance(given, list) else [given])]
        for member, texts in (("question", [question]), ("reference", references), ("wrong", [wrong])):
            if not texts or "" in texts:
                raise UsageError(f"{where}: {member} must be a text or a number that is not empty, not {_short(item[member])}")
        x = _text(item.get("correct", references[0]))
        if not x:
            raise UsageError(f"{where}: correct must be a text or a number that is not empty")
        if any(same(wrong, other) for other in (*references, x)):
            raise UsageError(f"{where}: the wrong value {wrong!r} is a correct one, so no label would be certain")
        if not any(same(x, other) for other in references):
            raise UsageError(
                f"{where}: the correct value {x!r} is none of the references; if it is right, add it to reference, which may be a list"
            )
        name = str(item.get("id", f"item:{line}"))
        for what, key in (("the id " + repr(name), name), ("the same item", (question, tuple(references), x, wrong))):
            if lines.setdefault(key, line) != line:
                raise UsageError(f"{where}: {what} stands on line {lines[key]} too; remove one of the two")
        rows.append({"id": name, "question": question, "references": references, "x": x, "y": wrong, "r": letters(SEED, name)})
    if not rows:
        raise UsageError(f"{path} holds no items")
    for member, line in unknown.items():
        note(f"line {line} of {path}: the member {member!r} is not used{nearest(member, list(MEMBERS))}; an item has {', '.join(MEMBERS)}")
    return rows


def _refuse_missing(item: Mapping[str, Any], where: str) -> None:
    """Name the members that an item must have and has not, and what was probably meant."""
    missing = [member for member in MEMBERS[:3] if member not in item]
    if missing:
        others = [member for member in item if member not in MEMBERS]
        meant = [f"; is {others[0]!r} meant to be {missing[0]!r}?"] if len(others) == 1 == len(missing) else []
        near = [f"; is {other!r} meant to be {member!r}?" for member in missing for other in others if nearest(other, [member])]
        raise UsageError(f"{where} has no {' and no '.join(missing)}{''.join(near or meant)}")


def _short(value: object) -> str:
    return repr(value)[:60]


def item_bytes(rows: Sequence[Mapping[str, Any]], name: str) -> bytes:
    """The data file of these rows."""
    return data_bytes(KIND, name, rows, {"seed": SEED})


def same(a: str, b: str) -> bool:
    """Whether two values are the same answer: as numbers where both are, else as normalised text (or literally, without any letter)."""
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return x == y
    return a == b or (normalised(a) == normalised(b) != "")


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return value.strip() if isinstance(value, str) else orjson.dumps(value).decode()


def read_rubric(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A rubric from TOML or JSON: `instruction`, `criteria` (label -> description, in the order they are sent) and, where the labels
    are not called correct and incorrect, `labels` that says which ones those are. UsageError if it is not that."""
    where = Path(path)
    try:
        data = where.read_bytes()
        found = orjson.loads(data) if where.suffix == ".json" else tomllib.loads(data.decode())
    except OSError as error:
        raise UsageError(f"cannot read the rubric {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"the rubric {path} is neither TOML nor JSON: {error}") from None
    unknown = sorted(set(found) - set(KEYS)) if isinstance(found, dict) else []
    if unknown:
        raise UsageError(f"the rubric {path} has {', '.join(map(repr, unknown))}, which is none of {', '.join(KEYS)}")
    rubric = {"name": where.stem, "instruction": None, "criteria": None, "labels": {}} | (found if isinstance(found, dict) else {})
    criteria, labels = rubric["criteria"], rubric["labels"]
    if not isinstance(rubric["instruction"], str) or not isinstance(criteria, dict) or len(criteria) < 2:
        raise UsageError(f"the rubric {path} needs `instruction` and at least two `criteria`")
    if not all(text is None or isinstance(text, str) for text in criteria.values()) or not isinstance(labels, dict):
        raise UsageError(f"the rubric {path}: criteria map each label to its description, and labels each of ours to one of yours")
    for label in LABELS:
        if labels.get(label, label) not in criteria:
            raise UsageError(f"the rubric {path} does not say which of its labels means {label}: add it under `labels`")
    unknown = sorted(set(labels) - set(LABELS))
    if unknown:
        raise UsageError(f"the rubric {path} has {', '.join(map(repr, unknown))} under `labels`, which is none of {', '.join(LABELS)}")
    if len({labels.get(label, label) for label in LABELS}) < 2:
        raise UsageError(
            f"the rubric {path} has one label, {labels.get(LABELS[0], LABELS[0])!r}, for both correct and incorrect: "
            "name two under `labels`"
        )
    return {key: rubric[key] for key in KEYS}
