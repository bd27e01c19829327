"""Reading the publishers' files: DROP (JSON by passage) and GSM8K (JSON Lines), every question with its accepted answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from c2s.banks.files import json_lines, read_bytes
from c2s.banks.judge import number
from c2s.errors import UsageError


@dataclass(frozen=True, slots=True)
class Raw:
    """One question as published. `answers` are the accepted values as text, `problem` why it cannot be a source (None: it may be)."""

    id: str
    workload: str
    cluster: str
    context: str
    question: str
    answers: tuple[str, ...]
    problem: str | None = None


def read_drop(path: str | os.PathLike[str]) -> list[Raw]:
    """Questions of a file in DROP's official format; a cluster is a passage. UsageError if it is not such a file."""
    passages = _json(path, "DROP")
    if not isinstance(passages, dict):
        raise UsageError(f"{path} is not in DROP's format: a JSON object of passages is expected")
    rows = []
    for name, passage in passages.items():
        try:
            text, pairs = passage["passage"], passage["qa_pairs"]
            for pair in pairs:
                answers = [pair["answer"], *pair.get("validated_answers", [])]
                values, problem = _drop_answers(answers)
                rows.append(Raw(f"drop:{pair['query_id']}", "drop", f"drop:{name}", text, pair["question"].strip(), values, problem))
        except (TypeError, KeyError, AttributeError) as error:
            raise UsageError(f"{path}: passage {name!r} is not in DROP's format ({type(error).__name__}: {error})") from None
    return rows


def _drop_answers(answers: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], str | None]:
    """Accepted values and the problem: every accepted answer must be one number, without a date and without spans."""
    values = []
    for answer in answers:
        text = str(answer.get("number") or "").strip()
        if answer.get("spans") or any((answer.get("date") or {}).values()) or not text:
            return (), "an accepted answer is not a number"
        values.append(text)
    return tuple(values), None


def read_gsm8k(path: str | os.PathLike[str], split: str = "test") -> list[Raw]:
    """Questions of a file in GSM8K's official format; a cluster is a question. The value stands after `####`.

    The publisher gives no ids: `gsm8k:test:17` is line 17 of the file.
    """
    rows = []
    for line, row in json_lines(path, "GSM8K"):
        try:
            question, answer = row["question"].strip(), row["answer"]
            _, mark, value = answer.rpartition("####")
        except (TypeError, KeyError, AttributeError):
            raise UsageError(f"line {line} of {path} is not in GSM8K's format: question and answer are expected") from None
        name = f"gsm8k:{split}:{line}"
        problem = None if mark else "no final value after ####"
        rows.append(Raw(name, "gsm8k", name, question, question, (value.strip(),) if mark else (), problem))
    return rows


def _json(path: str | os.PathLike[str], what: str) -> Any:
    try:
        return orjson.loads(read_bytes(path, what))
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{path} is not JSON, so not a {what} file: {error}") from None


def unreadable(raw: Raw) -> str | None:
    """Why a published question cannot be a source before anything is compared with it."""
    if raw.problem:
        return raw.problem
    if not raw.question.strip():
        return "the question is empty"
    if any(number(text) is None for text in raw.answers):
        return "a reference is not a finite decimal number"
    return None
