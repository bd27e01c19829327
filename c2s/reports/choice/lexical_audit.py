"""Where lexical outputs lie (D.17, Table D16), and the material for a blinded review of those that are no candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from c2s.banks.words import words
from c2s.reports.choice.support import is_recombination
from c2s.reports.data import PanelData, Row, defined, outcome_of
from c2s.reports.section import Column, Section

CATEGORIES = ("gold", "other_candidate", "malformed", "gold_synset", "other_noun", "other_word", "unindexed")
ARMS = ("full", "union_call", "union_fill", "trie_call", "trie_fill", "full_fill")
UNINDEXED_PER_LENGTH = 4


def category(row: Row, output: str) -> str:
    """The first category that holds, in the paper's order."""
    nouns, others = words()
    if output == row.parent.target:
        return "gold"
    if output in row.parent.candidates:
        return "other_candidate"
    if len(output) != row.parent.length or not (output.isascii() and output.isalpha() and output.islower()):
        return "malformed"
    if output in row.parent.payload["facts"]["aliases"]:
        return "gold_synset"
    return "other_noun" if output in nouns else "other_word" if output in others else "unindexed"


def categories(data: PanelData) -> Section:
    """Counts by controller over the lexical outputs of the support panel; recombinations are counted apart, over the same outputs."""
    rows = []
    lexical = data.used("support").domains.get("lexical", [])
    for arm in ARMS:
        outputs = [(row, outcome.output) for row, outcome in defined(lexical, outcome_of(arm))]
        found = [category(row, output) for row, output in outputs]
        counts = {name: found.count(name) for name in CATEGORIES}
        mixed = sum(is_recombination(row, output) for row, output in outputs)
        rows.append({"arm": arm, "n": len(outputs), "n_planned": len(lexical)} | counts | {"recombinations": mixed})
    heads = ("gold", "other cand.", "malformed", "synset", "noun", "word", "unindexed")
    columns = (
        Column("arm", "arm"),
        Column("n", "items", "int"),
        *(Column(name, head, "int") for name, head in zip(CATEGORIES, heads, strict=True)),
        Column("recombinations", "recomb.", "int"),
    )
    notes = ["An automated audit against WordNet 3.0's index, not a judgment of meaning (c2s review makes and reads blinded files)."]
    return Section("categories", "lexical outputs", "Table D16", columns, rows, notes)


def subject(item: str, output: str) -> str:
    """A stable name of an item/output pair that gives neither away."""
    return hashlib.sha256(f"c2s-review\0{item}\0{output}".encode()).hexdigest()[:12]


def pairs(data: PanelData) -> dict[str, tuple[Row, str, str]]:
    """Distinct noncandidate outputs that can be reviewed: {subject: (row, output, category)}, all indexed ones and, by ascending
    subject, four unindexed ones of each length (D.17)."""
    found: dict[str, tuple[Row, str, str]] = {}
    for row in data.used("support").domains.get("lexical", []):
        for arm in ARMS:
            outcome = row.ok(arm)
            if outcome is not None and outcome.output is not None:
                kind = category(row, outcome.output)
                if kind in ("gold_synset", "other_noun", "other_word", "unindexed"):
                    found[subject(row.parent.id, outcome.output)] = (row, outcome.output, kind)
    kept = dict(_sampled(found))
    return {name: kept[name] for name in sorted(kept)}


def _sampled(found: dict[str, tuple[Row, str, str]]) -> Iterator[tuple[str, tuple[Row, str, str]]]:
    seen: dict[int, int] = {}
    for name in sorted(found):
        row, _, kind = found[name]
        if kind == "unindexed":
            seen[row.parent.length] = seen.get(row.parent.length, 0) + 1
            if seen[row.parent.length] > UNINDEXED_PER_LENGTH:
                continue
        yield name, found[name]
