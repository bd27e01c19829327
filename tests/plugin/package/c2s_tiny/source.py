"""Six words of three letters, each with a wrong candidate for every other one."""

from __future__ import annotations

from collections.abc import Sequence

from c2s.records import Parent
from c2s.settings import NO_INPUTS, Inputs, Settings
from c2s.sources.base import Source

TARGETS = ("cat", "dog", "owl", "bee", "ant", "hen")


class Words(Source):
    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        texts = {"problem": "Name the animal at place {place} of the list.", "alphabet": list("abcdeghlnotw")}
        return [
            Parent(
                f"word-{place}",
                "animals",
                3,
                texts | {"problem": texts["problem"].replace("{place}", str(place)), "target": word, "candidates": list(TARGETS)},
            )
            for place, word in enumerate(TARGETS[: settings.limit], start=1)
        ]

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        expected = self.parents(settings, NO_INPUTS)
        return [] if list(frozen) == expected else ["the animals are not those of the package c2s-tiny"]


WORDS = Words()
