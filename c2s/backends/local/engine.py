"""Stand-in of the batching engine: one prompt at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Scores:
    log_probabilities: np.ndarray
    mass: float


@dataclass(frozen=True, slots=True)
class Generated:
    ids: tuple[int, ...]
    finish: str


class Engine:
    def __init__(self, model: Any, *, pad_id: int, eos_ids: frozenset[int], token_budget: int | None = None) -> None:
        self._model, self._eos = model, eos_ids
        self.forwards, self.forward_seconds, self.tokens = 0, 0.0, 0
        self.cancel = threading.Event()

    def _last(self, ids: Sequence[int]) -> np.ndarray:
        import torch

        if self.cancel.is_set():
            raise RuntimeError("cancelled")
        began = time.perf_counter()
        with torch.inference_mode():
            out = self._model(input_ids=torch.tensor([list(ids)], device=self._model.device)).logits[0, -1].double().cpu().numpy()
        self.forwards += 1
        self.forward_seconds += time.perf_counter() - began
        self.tokens += len(ids)
        return out

    def logits(self, prompts: Sequence[Sequence[int]], keep: Sequence[Sequence[int]]) -> list[Scores]:
        found = []
        for ids, kept in zip(prompts, keep, strict=True):
            row = self._last(ids)
            total = float(np.logaddexp.reduce(row))
            found.append(Scores(row[list(kept)] - total, float(np.exp(row[list(kept)] - total).sum())))
        return found

    def generate(self, prompts: Sequence[Sequence[int]], max_new: Sequence[int]) -> list[Generated]:
        found = []
        for ids, most in zip(prompts, max_new, strict=True):
            tokens: list[int] = []
            while len(tokens) < most:
                tokens.append(int(np.argmax(self._last([*ids, *tokens]))))
                if tokens[-1] in self._eos:
                    break
            found.append(Generated(tuple(tokens), "stop" if tokens and tokens[-1] in self._eos else "length"))
        return found
