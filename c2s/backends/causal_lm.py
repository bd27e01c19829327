"""A causal language model from local files, for next-token log-probabilities of the cue proposals (judge paper, 4.1, E.1)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from c2s.backends.local.load import choose_device, libraries, load_weights, open_checkpoint, source
from c2s.backends.local.render import Chat, Renderer, check_bos, check_template


class CausalLM:
    """NF4 weights with float16 computation where a GPU and bitsandbytes are there, as in the paper; full precision otherwise."""

    def __init__(self, path: str, *, revision: str | None = None, batch: int = 16) -> None:
        self._torch, _ = libraries()
        self.name = Path(path).name
        checkpoint = open_checkpoint(source(path, revision=revision))
        self._renderer = Renderer(checkpoint.tokenizer)
        check_template(self._renderer, self.name, thinking=True)
        check_bos(self._renderer, self.name)
        device = choose_device("auto")
        quantised = device != "cpu" and importlib.util.find_spec("bitsandbytes") is not None
        self.precision = "nf4, float16" if quantised else f"float32 on {device.partition(':')[0]}"
        self._model = load_weights(checkpoint, dtype="nf4" if quantised else "float32", device=device)
        self._batch = batch
        self.ends = checkpoint.ends

    def context(self, message: str) -> list[int]:
        chat = Chat([{"role": "user", "content": message}], "", {}, 1, None)
        return self._renderer.ids([self._renderer.text(chat)])[0]

    def log_probabilities(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        torch = self._torch
        parts = []
        with torch.inference_mode():
            for first in range(0, len(prefixes), self._batch):
                ids = torch.tensor([list(p) for p in prefixes[first : first + self._batch]], device=self._model.device)
                logits = self._model(input_ids=ids).logits[:, -1, :]
                parts.append(torch.log_softmax(logits.double(), dim=-1).cpu().numpy())
        return np.concatenate(parts)

    def text(self, tokens: Sequence[int]) -> str:
        return self._renderer.decode(tokens)
