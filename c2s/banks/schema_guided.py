"""Services, turns and dialogue prefixes of Schema-Guided Dialogue, as records (Rastogi et al. 2020; appendix C.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

LENGTHS = (4, 6, 8)
INTENT = "active_intent"
NONE, UNSET, DONTCARE = "NONE", "UNSET", "DONTCARE"
DONTCARE_RAW = "dontcare"


@dataclass(frozen=True, slots=True)
class Slot:
    """A categorical slot of a service with its legal values in schema order."""

    name: str
    description: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    description: str
    intents: Mapping[str, str]
    """Intent -> its description."""
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """The utterances since the last user turn and this one's, and the gold state after it (field -> value)."""

    system: str | None
    user: str
    gold: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prefix:
    """The longest usable beginning of one dialogue; `lengths` are the eligible numbers of user turns."""

    split: str
    dialogue: str
    source: str
    service: Service
    turns: tuple[Turn, ...]
    lengths: tuple[int, ...]

    def content(self, turns: int = LENGTHS[0]) -> str:
        """Hash of the normalised texts of the first `turns` user turns: equal for dialogues that begin alike."""
        texts = [" ".join(text.casefold().split()) for turn in self.turns[:turns] for text in (turn.system or "", turn.user)]
        return sha256("\0".join(texts).encode()).hexdigest()
