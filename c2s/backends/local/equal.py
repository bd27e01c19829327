"""Batches of prompts of equal length: no padding, nothing shared, right for any causal language model, recurrent ones included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import torch

from c2s.backends.local.batching import Job, Meter, OutOfRoom
from c2s.backends.local.last import LastOnly


class EqualLengths:
    """Runs jobs by prompt length, as many at once as the meter's budget allows."""

    def __init__(self, model: Any, last: LastOnly, meter: Meter) -> None:
        self.model, self.last, self.meter = model, last, meter
        self.device = model.get_input_embeddings().weight.device

    def run(self, jobs: Sequence[Job], ends: frozenset[int], read: Callable[[Sequence[Job], torch.Tensor], None]) -> None:
        def shape(job: Job) -> tuple[int, int]:
            return len(job.prompt), job.max_new

        for (length, max_new), alike in groupby(sorted(jobs, key=shape), key=shape):
            waiting = list(alike)
            while waiting:
                batch = waiting[: max(1, self.meter.token_budget // (length + max_new))]
                ids = torch.tensor([list(job.prompt) for job in batch], device=self.device)
                try:
                    if max_new:
                        self._write(batch, ids, max_new, ends)
                    else:
                        read(batch, self.scores(ids))
                except OutOfRoom:
                    continue
                waiting = waiting[len(batch) :]
                self.meter.tokens_shared += sum(length * (len(job.wanted) - 1) for job in batch)

    def scores(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits after the last token of each row, [rows, vocabulary]."""
        last = torch.tensor([ids.shape[1] - 1])
        named = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return self.meter.measured(lambda: self.last.run(self.model, last, **named)[:, 0], tokens=ids.numel(), rows=len(ids))

    def _write(self, batch: Sequence[Job], ids: torch.Tensor, max_new: int, ends: frozenset[int]) -> None:
        """transformers' own greedy loop, which knows every model's cache; nothing of the checkpoint's generation settings is taken over.

        Any id may fill a row behind its end: nobody reads it.
        """

        def forward() -> torch.Tensor:
            return self.model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=max_new, do_sample=False, num_beams=1, repetition_penalty=1.0,
                no_repeat_ngram_size=0, temperature=None, top_p=None, top_k=None,
                eos_token_id=sorted(ends) or None, pad_token_id=min(ends, default=0),
            )  # fmt: skip

        made = self.meter.measured(forward, tokens=ids.numel(), rows=len(ids), forwards=0)[:, ids.shape[1] :].tolist()
        steps = 0
        for job, tokens in zip(batch, made, strict=True):
            job.new = []
            for token in tokens:
                if job.take(token, ends):
                    break
            steps = max(steps, len(job.new))
        self.meter.forwards += steps
        self.meter.tokens += len(batch) * (steps - 1)
