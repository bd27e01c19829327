"""Human review of the lexical items as a spreadsheet: out, filled in, and back (paper A.3; protocol 1.2).

Two questions per reviewer and item: is the answer acceptable for the definition, and is it the only acceptable one among the eight.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from c2s.banks.natural import Bank, Item, bank_bytes, parse_bank
from c2s.errors import BankError, UsageError

QUESTIONS = ("answer_acceptable", "unique")
ANSWERS = ("yes", "no", "uncertain")
COLUMNS = ("id", "split", "length", "problem", "target", "candidates", "reviewer", *QUESTIONS)

# A spreadsheet runs a cell that begins like this as a formula (also in the full-width forms).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """Accounting over the lexical items of one split."""

    items: int
    reviewed: int
    """Items with an answer of at least one reviewer to both questions."""
    held: tuple[str, ...]
    """Ids that any reviewer answered with no or uncertain."""
    disagreed: tuple[str, ...]
    """Ids on which two reviewers differ in a question."""


def review_rows(bank: Bank, texts: dict[str, str], reviewers: Sequence[str] = ("A", "B")) -> list[dict[str, str]]:
    """One row per lexical item and reviewer, in bank order, with the answers that the bank holds already, else blank."""
    return [
        {
            "id": item.id,
            "split": item.split,
            "length": str(item.length),
            "problem": texts[item.id],
            "target": item.target,
            "candidates": " ".join(item.candidates),
            "reviewer": reviewer,
            **{question: item.facts["review"][question].get(reviewer, "") for question in QUESTIONS},
        }
        for item in _lexical(bank)
        for reviewer in (*reviewers, *(r for r in _reviewers(item) if r not in reviewers))
    ]


def review_csv(rows: Iterable[dict[str, str]]) -> str:
    """The rows as CSV text; no cell can be taken for a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: neutral(row[name]) for name in COLUMNS} for row in rows)
    return out.getvalue()


def neutral(cell: str) -> str:
    """A quote in front of what a spreadsheet would run (and of a quote, so that `plain` undoes it exactly)."""
    return f"'{cell}" if cell.startswith((*_FORMULA, "'")) else cell


def plain(cell: str) -> str:
    """The inverse of `neutral`."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith((*_FORMULA, "'")) else cell


def apply_review(bank: Bank, path: str | os.PathLike[str]) -> Bank:
    """The bank with the answers of a filled-in CSV; `bank_bytes` makes its file. Blank answers are left out.

    UsageError, with the row, for an unreadable file, a missing column, an unknown item, an answer other than yes, no or
    uncertain, an answer without a reviewer, or two rows of one reviewer for one item.
    """
    reviews = {item.id: {q: dict(item.facts["review"][q]) for q in QUESTIONS} for item in _lexical(bank)}
    targets = {item.id: item.target for item in bank.items}
    seen: set[tuple[str, str]] = set()
    for number, row in _read_rows(Path(path)):
        where = f"{path}, row {number}"
        item_id, reviewer = row["id"].strip(), row["reviewer"].strip()
        if item_id not in reviews:
            raise UsageError(f"{where}: {item_id!r} is no lexical item of the bank {bank.id}: keep the column id as it was written")
        if row["target"].strip() != targets[item_id]:
            raise UsageError(
                f"{where}: the target of {item_id} is {targets[item_id]!r}, not {row['target']!r}: this file is of another bank"
            )
        answers = {question: row[question].strip().lower() for question in QUESTIONS}
        for question, answer in answers.items():
            if answer and answer not in ANSWERS:
                raise UsageError(f"{where}: {question} is {answer!r}: write yes, no or uncertain, or leave it blank")
        if not reviewer and any(answers.values()):
            raise UsageError(f"{where}: an answer without a reviewer: fill in the column reviewer")
        if (item_id, reviewer) in seen:
            raise UsageError(f"{where}: reviewer {reviewer!r} has a row for {item_id} already: keep one")
        seen.add((item_id, reviewer))
        for question, answer in answers.items():
            reviews[item_id][question].pop(reviewer, None)
            if answer:
                reviews[item_id][question][reviewer] = answer
    items = tuple(replace(item, facts={**item.facts, "review": reviews[item.id]}) if item.id in reviews else item for item in bank.items)
    return parse_bank(bank_bytes(replace(bank, items=items)), f"reviewed {bank.id}")


def _read_rows(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the review {path} ({error.strerror}): give a CSV file") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the review {path} is not UTF-8 text: save it as CSV in UTF-8") from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in ("id", "target", "reviewer", *QUESTIONS) if name not in (reader.fieldnames or ())]
    if missing:
        raise UsageError(f"the review {path} lacks the column {', '.join(missing)}: keep the header as it was written")
    for number, row in enumerate(reader, 2):
        if None in row or None in row.values():
            raise UsageError(f"{path}, row {number}: more or fewer cells than the header has")
        yield number, {name: plain(value) for name, value in row.items()}


def summarise_review(bank: Bank, split: str = "test") -> ReviewSummary:
    """How much of a split has been reviewed, and which items the answers put in doubt."""
    items = [item for item in _lexical(bank) if item.split == split]
    answers = {item.id: [item.facts["review"][q] for q in QUESTIONS] for item in items}
    return ReviewSummary(
        items=len(items),
        reviewed=sum(bool(set.intersection(*(set(given) for given in both))) for both in answers.values()),
        held=tuple(i for i, both in answers.items() if any(a != "yes" for given in both for a in given.values())),
        disagreed=tuple(i for i, both in answers.items() if any(len(set(given.values())) > 1 for given in both)),
    )


def _lexical(bank: Bank) -> list[Item]:
    items = [item for item in bank.items if item.domain == "lexical"]
    if any("review" not in item.facts for item in items):
        raise BankError(f"the bank {bank.id} has no review fields: build it again with `c2s bank build`")
    return items


def _reviewers(item: Item) -> list[str]:
    found: dict[str, Any] = {}
    for question in QUESTIONS:
        found |= dict.fromkeys(item.facts["review"][question])
    return sorted(found)
