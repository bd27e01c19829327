"""Parents of the dialogue panels: the test dialogues of a data file, or of the set that ships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s.banks.dialogue import KIND, check_row, load_dialogues, order_rows
from c2s.errors import BankError
from c2s.records import Parent
from c2s.settings import Inputs, Settings
from c2s.sources.base import Source

DOMAIN = "dialogue"


class DialogueParents(Source):
    """Test dialogues in the seeded order, cut to `limit`; none where another domain is wanted."""

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        return _chosen(load_dialogues(inputs.files.get(KIND)).rows, settings)

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        """How frozen parents differ from the set that ships. Those of a data file must be whole and stand in a run's order; that
        they are the file's is in the manifest (its hash, and the hash of all items).
        """
        if KIND not in settings.data:
            expected = _chosen(load_dialogues().rows, settings)
            wrong = [parent.id for parent, other in zip(frozen, expected, strict=False) if parent != other]
            if wrong or len(frozen) != len(expected):
                first = wrong[0] if wrong else "the number of dialogues"
                return [f"{first}: the frozen dialogues are not those of the shipped set, in their order"]
            return []
        differences = []
        for parent in frozen:
            try:
                check_row(parent.payload, "the ledger")
            except BankError as error:
                differences.append(str(error))
        again = order_rows([dict(parent.payload) for parent in frozen], settings.seed)
        if [row["id"] for row in again] != [parent.id for parent in frozen]:
            differences.append("the dialogues do not stand in the order that the seed gives them")
        return differences


DIALOGUES = DialogueParents()


def _chosen(rows: Sequence[Mapping[str, Any]], settings: Settings) -> list[Parent]:
    if not settings.asks(DOMAIN):
        return []
    test = [dict(row) for row in rows if row["split"] == "test"]
    return [Parent(row["id"], DOMAIN, row["user_turns"], row) for row in order_rows(test, settings.seed, settings.limit)]
