"""Dialogue parents: rows of a data file, their order in a run, and the shipped set of our own (appendix C.1, E.4).

A row holds the visible texts, the fields in their frozen order with their options, the gold state after every user turn, and the
perturbed versions. Field order is keyed by (20261009, service), so all dialogues of one service ask for the same fields in the same order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from c2s.banks.datafile import SHIPPED, DataFile, load_data
from c2s.banks.keyed import Keyed
from c2s.banks.schema_guided import DONTCARE, INTENT, LENGTHS, NONE, UNSET, Prefix, Service
from c2s.errors import BankError, UsageError

KIND = "dialogue"
SHIPPED_FILE = SHIPPED / "dialogues-synthetic.jsonl"
FIELD_SEED = 20261009
INTENT_DESCRIPTION = "The intent of the user that is active now"

Row = dict[str, Any]


def load_dialogues(path: str | os.PathLike[str] | None = None) -> DataFile:
    """The data file in `path`, or the set that ships. UsageError or BankError if it is unreadable, foreign or damaged."""
    data = load_data(SHIPPED_FILE if path is None else path, KIND)
    for row in data.rows:
        check_row(row, data.id)
    return data


def make_row(prefix: Prefix, length: int, *, name: str, seed: int, paraphrase: bool, permute: bool) -> Row:
    """The frozen row of one selected prefix. `paraphrase` marks it as one that should get its paraphrase from a file."""
    fields = make_fields(prefix.service)
    return {
        "id": f"{name}-{prefix.split}-{prefix.dialogue}",
        "split": prefix.split,
        "source": prefix.source,
        "service": prefix.service.name,
        "description": prefix.service.description,
        "user_turns": length,
        "turns": [{"system": turn.system, "user": turn.user} for turn in prefix.turns[:length]],
        "gold": [dict(turn.gold) for turn in prefix.turns[:length]],
        "fields": fields,
        "paraphrase_wanted": paraphrase,
        "paraphrase": None,
        "permuted": permuted_options(fields, seed, f"{prefix.split}-{prefix.dialogue}") if permute else None,
    }


def make_fields(service: Service) -> list[dict[str, Any]]:
    """Intent and categorical slots in the frozen field order. Options have stable ids in schema order; NONE or UNSET and DONTCARE first."""
    intents = [(NONE, None), *service.intents.items()]
    fields = [_field(INTENT, INTENT_DESCRIPTION, intents)]
    fields += [_field(s.name, s.description, [(v, None) for v in (UNSET, DONTCARE, *s.values)]) for s in service.slots]
    return Keyed(FIELD_SEED, "field order", service.name).shuffled(fields)


def _field(name: str, description: str, options: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    shown = [{"id": f"v{i}", "value": value, "description": text} for i, (value, text) in enumerate(options)]
    return {"name": name, "description": description, "options": shown}


def permuted_options(fields: Sequence[Mapping[str, Any]], seed: int, dialogue: str) -> dict[str, list[str]]:
    """Another displayed order of every field's option ids, never the first one."""
    orders = {}
    for field in fields:
        ids = [option["id"] for option in field["options"]]
        attempt = 0
        while (order := Keyed(seed, "permutation", dialogue, field["name"], attempt).shuffled(ids)) == ids:
            attempt += 1
        orders[field["name"]] = order
    return orders


def initial_state(row: Mapping[str, Any]) -> dict[str, str]:
    """The state before the first turn: intent NONE, every slot UNSET."""
    return {field["name"]: NONE if field["name"] == INTENT else UNSET for field in row["fields"]}


def check_row(row: Mapping[str, Any], where: str) -> None:
    """Raises BankError unless the row is complete: as many turns as it declares, every gold value among its field's options."""
    try:
        turns, fields = row["user_turns"], {f["name"]: f["options"] for f in row["fields"]}
        sound = turns in LENGTHS and len(row["turns"]) == len(row["gold"]) == turns and INTENT in fields
        for gold in row["gold"]:
            sound = sound and set(gold) == set(fields) and all(gold[n] in {o["value"] for o in options} for n, options in fields.items())
        if row["paraphrase"] is not None:
            sound = sound and len(row["paraphrase"]) == turns and all(isinstance(text, str) for text in row["paraphrase"])
        if row["permuted"] is not None:
            sound = sound and all(sorted(row["permuted"][n]) == sorted(o["id"] for o in options) for n, options in fields.items())
    except (KeyError, TypeError):
        sound = False
    if not sound:
        raise BankError(f"{where}: the dialogue {row.get('id')!r} is not whole; build the file again with `c2s data sgd`")


def order_rows(rows: Iterable[Row], seed: int, limit: int | None = None) -> list[Row]:
    """The seeded order in which dialogues are run: shuffled among those with as many turns, then taken from the lengths in turn.

    Every prefix is balanced over lengths, and a limited run is a prefix of the full one.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit {limit}: give the number of dialogues, at least 1")
    groups: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["id"]):
        groups.setdefault(row["user_turns"], []).append(row)
    dealt = []
    for turns, group in groups.items():
        dealt += [(place, turns, row) for place, row in enumerate(Keyed(seed, "dialogue order", turns).shuffled(group))]
    dealt.sort(key=lambda entry: entry[:2])
    return [row for _, _, row in dealt][:limit]


def join_paraphrases(rows: Iterable[Row], path: str | os.PathLike[str]) -> list[Row]:
    """The rows with the paraphrases of a JSON file {id: [user utterance, ...]}; only user turns are reworded.

    A paraphrase may cover the whole dialogue: what lies beyond the prefix is cut off, and ids without a row are ignored.
    UsageError for too few utterances, or where no wanted id has a paraphrase.
    """
    rows = list(rows)
    try:
        given = json.loads(Path(path).read_bytes())
        sound = isinstance(given, dict) and all(isinstance(v, list) and all(isinstance(text, str) for text in v) for v in given.values())
    except OSError as error:
        raise UsageError(f"cannot read the paraphrases {path}: {error.strerror}") from None
    except ValueError:
        sound = False
    if not sound:
        raise UsageError(f"{path} is no file of paraphrases: give a JSON object of id: [user utterance, ...]")
    result = []
    for row in rows:
        texts = given.get(row["id"]) if row["paraphrase_wanted"] else None
        if texts is not None:
            if len(texts) < row["user_turns"]:
                raise UsageError(f"{path}: {row['id']} has {len(texts)} utterances, its prefix has {row['user_turns']} user turns")
            row = row | {"paraphrase": texts[: row["user_turns"]]}
        result.append(row)
    if not any(row["paraphrase"] for row in result):
        wanted = [row["id"] for row in rows if row["paraphrase_wanted"]]
        raise UsageError(f"{path} has a paraphrase of none of the {len(wanted)} dialogues that want one ({', '.join(wanted[:3])}, ...)")
    return result
