"""Blinded review of lexical outputs that are no candidates: a spreadsheet out, judgments in, and what they would change (D.17).

The material shows the definition, the length and the proposed word; gold, candidates, model and controller stay hidden.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from c2s.banks.natural import LEXICAL_PREFIX
from c2s.errors import UsageError
from c2s.reports.choice.lexical_audit import ARMS, category, pairs, subject
from c2s.reports.data import PanelData, defined, outcome_of
from c2s.reports.section import Column, Section

COLUMNS = ("subject", "definition", "length", "word", "is_a_noun", "fits_the_definition")
QUESTIONS = COLUMNS[4:]
ANSWERS = ("yes", "no", "uncertain")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

Judgments = Mapping[str, Mapping[str, str]]
"""{subject: {question: answer}} of one reviewer."""


def material(data: PanelData) -> str:
    """The CSV text for one reviewer: all indexed noncandidate pairs and four unindexed ones a length, by ascending subject."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, (row, output, _) in pairs(data).items():
        definition = row.parent.payload["problem"].removeprefix(LEXICAL_PREFIX)
        writer.writerow([name, _plain(definition), row.parent.length, _plain(output), "", ""])
    return out.getvalue()


def _plain(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell


def read_judgments(path: str, known: Sequence[str]) -> Judgments:
    """One reviewer's filled-in file. UsageError for a missing column, an unknown subject, or an answer that is none."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the judgments {path}: {error}") from None
    reader = csv.DictReader(io.StringIO(text))
    missing = [column for column in ("subject", *QUESTIONS) if column not in (reader.fieldnames or ())]
    if missing:
        raise UsageError(f"the judgments {path} lack the column {', '.join(missing)}: keep the header as it was written")
    found: dict[str, dict[str, str]] = {}
    for line, row in enumerate(reader, start=2):
        name = row["subject"]
        if name not in known:
            raise UsageError(f"{path}, line {line}: {name!r} is no subject of this run's review")
        if name in found:
            raise UsageError(f"{path}, line {line}: {name!r} stands there twice")
        found[name] = {}
        for question in QUESTIONS:
            answer = (row[question] or "").strip().lower()
            if answer not in (*ANSWERS, ""):
                raise UsageError(f"{path}, line {line}: {question} is {answer!r}; give yes, no or uncertain")
            found[name][question] = answer
    return found


def sensitivity(data: PanelData, judgments: Sequence[Judgments]) -> Section:
    """Gold EM of every controller, and what it would be if pairs that all reviewers accept, or do not reject, counted as right.

    A pair is accepted if every reviewer says yes to both questions, and uncertain if none says no.
    """
    accepted, open_ = set(), set()
    for name in pairs(data):
        answers = [reviewer.get(name, {}).get(question, "") for reviewer in judgments for question in QUESTIONS]
        if answers and all(answer == "yes" for answer in answers):
            accepted.add(name)
        elif answers and "" not in answers and "no" not in answers:
            open_.add(name)
    rows = []
    lexical = data.used("support").domains.get("lexical", [])
    for arm in ARMS:
        outputs = [(row, outcome.output) for row, outcome in defined(lexical, outcome_of(arm))]
        gold = sum(category(row, output) == "gold" for row, output in outputs)
        names = [subject(row.parent.id, output) for row, output in outputs]
        more, maybe = sum(name in accepted for name in names), sum(name in open_ for name in names)
        n = len(outputs)
        rows.append({"arm": arm, "n": n, "gold": [gold, n], "accepted": [gold + more, n], "not_rejected": [gold + more + maybe, n]})
    reviewed = [sum(all(reviewer.get(name, {}).get(q) for q in QUESTIONS) for name in pairs(data)) for reviewer in judgments]
    columns = (
        Column("arm", "arm"),
        Column("gold", "strict EM", "of"),
        Column("accepted", "with accepted", "of"),
        Column("not_rejected", "with uncertain", "of"),
    )
    notes = [
        f"Pairs: {len(pairs(data))}; judged by each reviewer: {', '.join(map(str, reviewed)) or 'none'}. Strict EM stays the task score."
    ]
    return Section("sensitivity", "what reviewers' judgments would change", "D.17", columns, rows, notes)
