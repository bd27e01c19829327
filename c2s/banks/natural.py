"""The frozen natural bank: 384 arithmetic and 384 lexical test items in pairs, and development items (protocol 1).

Reading it needs neither WordNet nor any heavy import. The definitions are joined from the WordNet 3.0 on the machine the first
time that texts are wanted, checked against the frozen hashes, and kept in the user's cache folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from c2s.banks.glosses import gloss_hash
from c2s.banks.keyed import Keyed
from c2s.errors import BankError, MissingDependency, UsageError

BANK_FILE = Path(__file__).with_name("data") / "natural-v1.jsonl"
LEXICAL_PREFIX = "Which noun matches this definition: "
DOMAINS = ("math", "lexical")


@dataclass(frozen=True, slots=True)
class Item:
    """One problem and its eight candidates. `facts` is everything else that the bank knows of it: read, never changed."""

    id: str
    pair_id: str
    domain: str
    length: int
    split: str
    target: str
    candidates: tuple[str, ...]
    """Stored order; how options are displayed is decided elsewhere."""
    stratum: str
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bank:
    id: str
    sha256: str
    """Of the whole file: it changes with any fact of any item."""
    items: tuple[Item, ...]
    header: dict[str, Any]

    def split(self, name: str) -> tuple[Item, ...]:
        """The items of the split `test` or `dev`."""
        return tuple(item for item in self.items if item.split == name)


_FIELDS = tuple(field.name for field in fields(Item))


def load_bank(path: str | os.PathLike[str] | None = None) -> Bank:
    """The bank that ships with the package, or the one in `path`.

    BankError if the file is unreadable, damaged, or holds an id twice (in one domain or in two).
    """
    where = Path(path) if path is not None else BANK_FILE
    try:
        data = where.read_bytes()
    except OSError as error:
        raise BankError(f"cannot read the bank {where} ({error.strerror}): reinstall c2s or give another file") from error
    return parse_bank(data, str(where))


def parse_bank(data: bytes, where: str) -> Bank:
    """A bank from the bytes of its file; `where` names the file in messages."""
    first, _, body = data.partition(b"\n")
    mend = "reinstall c2s, or build it again with `c2s bank build`"
    try:
        header = orjson.loads(first)
        bank_id, expected = header["bank"], header["items_sha256"]
    except (orjson.JSONDecodeError, TypeError, KeyError) as error:
        raise BankError(f"the bank {where} does not begin with a bank header: {mend}") from error
    if sha256(body).hexdigest() != expected:
        raise BankError(f"the bank {where} is damaged, its items do not have the hash in its header: {mend}")
    items = []
    try:
        for line in body.splitlines():
            row = orjson.loads(line)
            row["candidates"] = tuple(row["candidates"])
            items.append(Item(*map(row.__getitem__, _FIELDS)))
    except (orjson.JSONDecodeError, TypeError, KeyError) as error:
        raise BankError(f"line {len(items) + 2} of the bank {where} is no item: {mend}") from error
    refuse_duplicates(items, where)
    return Bank(bank_id, sha256(data).hexdigest(), tuple(items), header)


def bank_bytes(bank: Bank) -> bytes:
    """The file of a bank: its header line, then one item a line, keys sorted."""
    body = b"".join(_line({name: getattr(item, name) for name in _FIELDS}) for item in bank.items)
    header = {**bank.header, "bank": bank.id, "items": len(bank.items), "items_sha256": sha256(body).hexdigest()}
    return _line(header) + body


def _line(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def refuse_duplicates(items: Iterable[Item], where: str) -> None:
    """BankError if an id is used twice: ids are the identity of every request, also across domains."""
    seen: dict[str, Item] = {}
    for item in items:
        other = seen.setdefault(item.id, item)
        if other is not item:
            domains = " and ".join(dict.fromkeys([other.domain, item.domain]))
            raise BankError(f"the bank {where} holds the id {item.id!r} twice ({domains}): give every item its own id")


def order(items: Iterable[Item], seed: int, limit: int | None = None) -> list[Item]:
    """The seeded order in which items are run; the first `limit` of each domain if given.

    Pairs are shuffled within their length, and the lengths take turns, so every prefix is balanced over lengths and a
    limited run is a prefix of the full one. Partners follow each other.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit {limit}: give the number of items per domain, at least 1")
    pairs: dict[tuple[int, str], list[Item]] = {}
    for item in items:
        pairs.setdefault((item.length, item.pair_id), []).append(item)
    waiting: dict[int, list[list[Item]]] = {}
    for (length, pair_id), members in sorted(pairs.items()):
        turned = Keyed(seed, "order", "partners", pair_id).shuffled(sorted(members, key=lambda i: i.id))
        waiting.setdefault(length, []).append(turned)
    # The rank of a pair is a hash of its own, so leaving items out moves no other pair.
    for length, group in waiting.items():
        group.sort(key=lambda members: Keyed(seed, "order", length, members[0].pair_id).below(2**63))
    ordered: list[Item] = []
    taken = dict.fromkeys((item.domain for members in pairs.values() for item in members), 0)
    for turn in range(max(map(len, waiting.values()), default=0)):
        for length in Keyed(seed, "order", "round", turn).shuffled(sorted(waiting)):
            for item in waiting[length][turn] if turn < len(waiting[length]) else ():
                if limit is None or taken[item.domain] < limit:
                    taken[item.domain] += 1
                    ordered.append(item)
    return ordered


def problem_text(
    bank: Bank, wordnet: str | os.PathLike[str] | None = None, *, items: Sequence[Item] | None = None, digest: str | None = None
) -> dict[str, str]:
    """Item id -> the problem as models see it: `39 × 15 = ?`, or a fixed prefix and the WordNet definition.

    `items` (default: the whole bank) are those whose text is wanted: arithmetic alone needs no WordNet.
    Definitions come from the cache if each still has its frozen hash, else from WordNet 3.0 (searched for as
    `c2s.banks.wordnet.find_wordnet` does; `digest` is for other databases), and are then cached.
    MissingDependency without WordNet, BankError for a wrong version or a changed definition.
    """
    items = bank.items if items is None else items
    if all(item.domain == "math" for item in items):
        return {item.id: _text(item, {}) for item in items}
    lexical = [item for item in bank.items if item.domain == "lexical"]
    cache = cache_file(bank)
    definitions = _cached(cache)
    if wordnet is not None:
        from c2s.banks.wordnet import WAYS_OUT, locate

        if locate(wordnet) is None:  # a folder that was named must be one, even when the cache would do
            raise MissingDependency(f"no WordNet files (data.noun, index.noun, *.exc) in {wordnet}: {WAYS_OUT}")
    if not all(is_text_of(item, _text(item, definitions)) for item in lexical):
        from c2s.banks.wordnet import WORDNET_30, find_wordnet, read_definitions

        folder = find_wordnet(wordnet, digest=digest or WORDNET_30)
        definitions = read_definitions(folder, [item.facts["offset"] for item in lexical])
        for item in lexical:
            if not is_text_of(item, _text(item, definitions)):
                raise BankError(
                    f"the definition of {item.target!r} ({item.id}) in {folder} is not the frozen one: give an unchanged WordNet 3.0"
                )
        _store(cache, definitions)
    return {item.id: _text(item, definitions) for item in items}


def is_text_of(item: Item, text: str) -> bool:
    """Whether `text` is the problem text of `item`, by the frozen hash of its definition; needs no WordNet."""
    if item.domain == "math":
        return text == _text(item, {})
    return text.startswith(LEXICAL_PREFIX) and gloss_hash(text[len(LEXICAL_PREFIX) :]) == item.facts["gloss_sha256"]


def _text(item: Item, definitions: dict[int, str]) -> str:
    if item.domain == "math":
        return f"{item.facts['a']} × {item.facts['b']} = ?"
    return LEXICAL_PREFIX + definitions.get(item.facts["offset"], "")


def cache_file(bank: Bank) -> Path:
    """Where the joined definitions of `bank` are kept: $XDG_CACHE_HOME or ~/.cache, folder c2s."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    except RuntimeError:  # a user without a home folder; what is read back is checked, so any folder will do
        base = Path(tempfile.gettempdir())
    return base / "c2s" / f"definitions-{bank.id}-{bank.sha256[:16]}.json"


def _cached(path: Path) -> dict[int, str]:
    try:
        found = orjson.loads(path.read_bytes())
        return {int(offset): str(text) for offset, text in found.items()}
    except (OSError, ValueError, AttributeError):  # absent, damaged or foreign: the hashes decide, and it is made again
        return {}


def _store(path: Path, definitions: dict[int, str]) -> None:
    """Write atomically; a cache folder that cannot be written costs the next run two seconds, nothing else."""
    data = orjson.dumps({str(offset): text for offset, text in sorted(definitions.items())})
    scratch = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(scratch, path)
    except OSError:
        if scratch is not None:
            Path(scratch).unlink(missing_ok=True)


def export_rows(bank: Bank, texts: dict[str, str], items: Sequence[Item] | None = None) -> list[dict[str, Any]]:
    """One plain row per item for `c2s bank export`; candidates in stored order."""
    return [
        {
            "id": item.id,
            "pair_id": item.pair_id,
            "domain": item.domain,
            "length": item.length,
            "split": item.split,
            "problem": texts[item.id],
            "target": item.target,
            "candidates": list(item.candidates),
        }
        for item in (bank.items if items is None else items)
    ]
