"""A causal language model from local files, for next-token log-probabilities of the cue proposals (judge paper, 4.1, E.1)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from c2s.backends.local.load import choose_device, libraries, load_weights, open_checkpoint, source
from c2s.backends.local.prompts import Chat, Renderer, check_bos, check_template

BUDGET = 1024
"""New tokens of one forward pass. Named, not found by trying, so that the last digits of a score do not depend on a clock."""


class CausalLM:
    """NF4 weights with float16 computation where a GPU and bitsandbytes are there, as in the paper; full precision otherwise."""

    def __init__(self, path: str, *, revision: str | None = None) -> None:
        libraries()
        from c2s.backends.local.engine import Engine

        self.name = Path(path).name
        checkpoint = open_checkpoint(source(path, revision=revision))
        self._renderer = Renderer(checkpoint.tokenizer)
        check_template(self._renderer, self.name, thinking=True)
        check_bos(self._renderer, self.name)
        device = choose_device("auto")
        quantised = device != "cpu" and importlib.util.find_spec("bitsandbytes") is not None
        self.precision = "nf4, float16" if quantised else f"float32 on {device.partition(':')[0]}"
        self.ends = checkpoint.ends
        self._engine = Engine(
            load_weights(checkpoint, dtype="nf4" if quantised else "float32", device=device), eos_ids=self.ends, token_budget=BUDGET
        )

    def context(self, message: str) -> list[int]:
        chat = Chat([{"role": "user", "content": message}], "", {}, 1, None)
        return self._renderer.ids([self._renderer.text(chat)])[0]

    def log_probabilities(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        return np.stack([scores.log_probabilities for scores in self._engine.logits(prefixes)])

    def text(self, tokens: Sequence[int]) -> str:
        return self._renderer.decode(tokens)
