"""A user's own labelled items and rubric, for the audit of their judge."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from c2s.banks.datafile import data_bytes
from c2s.banks.files import json_lines
from c2s.banks.judge import letters, normalised, number
from c2s.errors import UsageError

KIND = "judge-items"
SEED = 20261007154
LABELS = ("correct", "incorrect")
KEYS = ("name", "instruction", "criteria", "labels")


def read_items(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Rows of a data file from JSON Lines: question, reference (a value or a list), wrong, and optionally id and correct.

    UsageError names the line of an item that is incomplete, whose wrong value is its correct one or a reference, or whose correct value is
    none of its references.
    """
    rows = []
    for line, item in json_lines(path, "item"):
        where = f"line {line} of {path}"
        if not isinstance(item, dict):
            raise UsageError(f"{where} is no JSON object with question, reference, correct and wrong")
        question, wrong = _text(item.get("question")), _text(item.get("wrong"))
        given = item.get("reference")
        references = [_text(value) for value in (given if isinstance(given, list) else [given])]
        if not question or not wrong or not references or "" in references:
            raise UsageError(f"{where}: question, reference and wrong must each be a text or a number that is not empty")
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
        rows.append({"id": name, "question": question, "references": references, "x": x, "y": wrong, "r": letters(SEED, name)})
    if not rows:
        raise UsageError(f"{path} holds no items")
    return rows


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
