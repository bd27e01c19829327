"""Parents from the frozen natural bank, for every panel that is asked about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.banks.natural import DOMAINS, Bank, Item, load_bank, order, problem_text
from c2s.errors import UsageError, nearest
from c2s.records import Parent


def natural_parents(settings: Mapping[str, Any]) -> list[Parent]:
    """Test items in the seeded, balanced order, cut to `domain` and `limit`, with their problem texts joined."""
    bank = load_bank()
    chosen = _select(bank, settings)
    texts = problem_text(bank, settings.get("wordnet"))
    return [_parent(item, texts[item.id]) for item in chosen]


def _select(bank: Bank, settings: Mapping[str, Any]) -> list[Item]:
    domain = settings["domain"]
    if domain is not None and domain not in DOMAINS:
        raise UsageError(f"unknown domain {domain!r}{nearest(domain, list(DOMAINS))}; known: {', '.join(DOMAINS)}")
    items = [item for item in bank.split("test") if domain in (None, item.domain)]
    return order(items, settings["seed"], settings["limit"])


def _parent(item: Item, problem: str) -> Parent:
    payload = {
        "problem": problem,
        "target": item.target,
        "candidates": list(item.candidates),
        "stratum": item.stratum,
        "facts": item.facts,
    }
    return Parent(item.id, item.domain, item.length, payload, item.pair_id)


def check_natural(frozen: Sequence[Parent], settings: Mapping[str, Any]) -> list[str]:
    """How frozen parents differ from the shipped bank and from the settings' selection; needs no WordNet.

    The problem text of a lexical parent is checked against the bank's hash of its definition.
    """
    from c2s.banks.natural import expected_text

    bank = load_bank()
    chosen = _select(bank, settings)
    differences = []
    if [parent.id for parent in frozen] != [item.id for item in chosen]:
        differences.append("the parents are not those that bank, seed and settings select, or stand in another order")
    items = {item.id: item for item in bank.items}
    for parent in frozen:
        item = items.get(parent.id)
        if item is None:
            differences.append(f"{parent.id}: no such item in the shipped bank {bank.id}")
        elif parent != _parent(item, parent.payload["problem"]) or not expected_text(item, parent.payload["problem"]):
            differences.append(f"{parent.id}: the frozen item is not that of the shipped bank {bank.id}")
    return differences
