"""Many prompts through one causal language model: last-token scores and greedy continuations, independent of batch and order.

Over token ids alone; templates, contracts and the ledger are its caller's. Where the model can be run packed (`packed.py`), a
forward holds the new tokens of many prompts without padding, and every prefix that was computed before, in this call or an
earlier one, is read from a store (`batching.py`). Any other model runs in batches of equal length (`equal.py`), which need no
padding either.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from c2s.backends.local.batching import Job, OutOfRoom, Sharing
from c2s.backends.local.equal import EqualLengths
from c2s.backends.local.last import LastOnly
from c2s.backends.local.memory import keep_freed_memory
from c2s.backends.local.packed import Row, Unsupported, open_packed
from c2s.errors import InputError

CACHE_BYTES = 1 << 30
"""Room for stored keys and values on a CPU where the caller names none; on a GPU it is a third of the memory that is free."""
SMALLEST, LARGEST = 128, 16384
"""Token budgets tried at the start."""
HEAVY = 2_000_000_000
"""Weights beyond which a forward pass of 512 tokens takes many seconds on a CPU."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Natural log-probabilities at the kept token ids, over the whole vocabulary, and the kept ids' probability together."""

    log_probabilities: np.ndarray
    mass: float


@dataclass(frozen=True, slots=True)
class Generated:
    """Greedy new token ids. "stop": the last of them is one that ends a text; "length": the budget was met before."""

    ids: tuple[int, ...]
    finish: Literal["stop", "length"]


class Stopped(Exception):
    """The engine was told to stop while a call was under way."""


class Engine:
    """A model and its store of prefixes. It takes over how the model's attention is computed and, on a CPU, how this
    process keeps freed memory (`memory.keep_freed_memory`).

    `token_budget`: new tokens of one forward pass; None finds how many keep the device busy, by trying. It is halved when
    memory runs out. `cache_bytes`: room for keys and values. Counters: `forwards`, `forward_seconds`, `tokens` computed,
    `tokens_shared` (tokens of prompts that were not computed, because a prompt of this or an earlier call begins alike)
    and `halvings`. `unshared` says why this model cannot share prefixes, None where it can.
    """

    def __init__(self, model: Any, *, eos_ids: frozenset[int], token_budget: int | None = None, cache_bytes: int | None = None) -> None:
        self.model = model.eval()
        self.eos_ids = frozenset(eos_ids)
        self.forwards, self.forward_seconds, self.tokens, self.tokens_shared, self.halvings = 0, 0.0, 0, 0, 0
        self.token_budget = token_budget or SMALLEST
        self.unshared: str | None = None
        self._stopped = False
        if self._device().type == "cpu":
            keep_freed_memory()
        last = LastOnly(model)
        self._runs: Sharing | EqualLengths
        try:
            packed = open_packed(model, last)
            capacity = max(1024, (cache_bytes or _free(packed.device)) // packed.store.bytes_per_place)
            self._runs = Sharing(packed, capacity, self)
        except Unsupported as error:
            self.unshared = str(error)
            self._runs = EqualLengths(model, last, self)
        if token_budget is None:
            self.token_budget = self._find_budget()

    def logits(self, prompts: Sequence[Sequence[int]], keep: Sequence[Sequence[int]] | None = None) -> list[Scores]:
        """Scores after each prompt's last token, in the order of the prompts; at every id of the vocabulary where `keep` is None.

        Raises InputError for an empty prompt, or where one prompt alone does not fit into the memory.
        """
        if keep is not None and len(keep) != len(prompts):
            raise InputError(f"{len(prompts)} prompts and {len(keep)} lists of ids to keep")
        out: dict[int, Scores] = {}

        def read(jobs: Sequence[Job], logits: torch.Tensor) -> None:
            wanted = [(row, i) for row, job in enumerate(jobs) for i in job.wanted]
            kept = None if keep is None else [keep[i] for _, i in wanted]
            for (_, i), scores in zip(wanted, _scores(logits, [row for row, _ in wanted], kept), strict=True):
                out[i] = scores

        self._run(_jobs(prompts, [0] * len(prompts)), read)
        return [out[i] for i in range(len(prompts))]

    def generate(self, prompts: Sequence[Sequence[int]], max_new: Sequence[int]) -> list[Generated]:
        """Greedy continuations of at most `max_new` tokens each, in the order of the prompts. Raises as `logits` does."""
        if len(max_new) != len(prompts) or min(max_new, default=1) < 1:
            raise InputError("every prompt needs a budget of at least one new token")
        jobs = _jobs(prompts, max_new)
        self._run(jobs, lambda done, logits: None)
        texts = {i: Generated(tuple(job.new), "stop" if job.new[-1] in self.eos_ids else "length") for job in jobs for i in job.wanted}
        return [texts[i] for i in range(len(prompts))]

    def stop(self) -> None:
        """Let a call that another thread is in end with Stopped before its next forward pass."""
        self._stopped = True

    def measured(self, forward: Callable[[], torch.Tensor], *, tokens: int, rows: int, forwards: int = 1) -> torch.Tensor:
        """Run one forward pass and count it.

        Where memory runs out, the token budget is halved and OutOfRoom is raised; for a batch of one row, InputError.
        """
        if self._stopped:
            raise Stopped
        began = time.perf_counter()
        try:
            made = forward()
            if made.is_cuda:
                torch.cuda.synchronize(made.device)
        except (MemoryError, RuntimeError) as error:
            if not _out_of_memory(error):
                raise
            made = None
        if made is None:
            if rows == 1:
                raise InputError(
                    f"a prompt of {tokens} tokens does not fit into the memory of {self._device()}; use a smaller model or dtype"
                )
            self.token_budget = max(1, min(self.token_budget, tokens) // 2)
            self.halvings += 1
            gc.collect()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            raise OutOfRoom
        self.forwards += forwards
        self.forward_seconds += time.perf_counter() - began
        self.tokens += tokens
        return made

    def _run(self, jobs: Sequence[Job], read: Callable[[Sequence[Job], torch.Tensor], None]) -> None:
        with torch.inference_mode():
            self._runs.run(jobs, self.eos_ids, read)

    def _device(self) -> torch.device:
        return self.model.get_input_embeddings().weight.device

    def _find_budget(self) -> int:
        """The token budget of a forward pass: 512 (128 for a heavy model on a CPU) or a larger power of two.

        Weights are read once a forward pass, so small passes gain nothing: of the budgets tried, the largest whose rate is within a
        twentieth of the best is taken. The search stops when doubling twice brings no more, after four seconds of work, or when memory
        runs out.
        """
        before = self.forwards, self.forward_seconds, self.tokens, self.tokens_shared, self.halvings
        rates: dict[int, float] = {}
        spent = self._try(SMALLEST)
        heavy = self._device().type == "cpu" and sum(p.numel() for p in self.model.parameters()) > HEAVY
        size = SMALLEST if heavy else 4 * SMALLEST
        try:
            while size <= LARGEST and spent < 4.0:
                took = self._try(size)
                rates[size], spent = size / took, spent + took
                if rates[size] < 1.03 * rates.get(size // 4, 0.0):
                    break
                size *= 2
        except OutOfRoom:
            pass
        self.forwards, self.forward_seconds, self.tokens, self.tokens_shared, self.halvings = before
        best = max(rates.values(), default=0.0)
        return max((n for n, rate in rates.items() if rate >= 0.95 * best), default=SMALLEST)

    def _try(self, size: int) -> float:
        """Seconds of one forward pass of `size` tokens in rows of 128.

        On a CPU, seconds that this process computed: other processes do not count, nor does the memory that the first pass of a size
        asks the system for and later ones find.
        """
        clock = _computed if self._device().type == "cpu" else time.perf_counter
        rows = size // SMALLEST
        ids = torch.arange(size).view(rows, SMALLEST) % self.model.config.get_text_config().vocab_size
        began = clock()
        if isinstance(self._runs, Sharing):
            places = np.arange(size).reshape(rows, SMALLEST)
            self._runs.trial([Row(r.tolist(), p) for r, p in zip(ids, places, strict=True)])
        else:
            with torch.inference_mode():
                self._runs.scores(ids.to(self._device()))
        return max(clock() - began, 1e-3)  # a tick of the clock may be ten times as long


def _jobs(prompts: Sequence[Sequence[int]], max_new: Sequence[int]) -> list[Job]:
    """Distinct prompts with distinct budgets; equal ones are computed once."""
    jobs: dict[tuple[tuple[int, ...], int], Job] = {}
    for i, (prompt, limit) in enumerate(zip(prompts, max_new, strict=True)):
        if not len(prompt):
            raise InputError(f"prompt {i} has no tokens")
        jobs.setdefault((tuple(prompt), limit), Job(list(prompt), [], limit)).wanted.append(i)
    return list(jobs.values())


def _scores(logits: torch.Tensor, rows: Sequence[int], keep: Sequence[Sequence[int]] | None) -> list[Scores]:
    """Of the given rows of [n, vocabulary] logits, at each one's kept ids; in double precision after the logits themselves."""
    whole = logits.float()
    total = torch.logsumexp(whole, dim=-1).double().cpu().numpy()[list(rows)]
    if keep is None:
        table = whole.double().cpu().numpy()[list(rows)]
        return [Scores(values - t, 1.0) for values, t in zip(table, total, strict=True)]
    widest = max(1, *map(len, keep))
    ids = torch.tensor([[*k, *[0] * (widest - len(k))] for k in keep], device=whole.device)
    table = whole[torch.tensor(rows, device=whole.device)].gather(1, ids).double().cpu().numpy() - total[:, None]
    return [Scores(v[: len(k)].copy(), float(min(1.0, np.exp(v[: len(k)]).sum()))) for v, k in zip(table, keep, strict=True)]


def _out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "out of memory" in text or "can't allocate memory" in text


def _computed() -> float:
    return os.times().user


def _free(device: torch.device) -> int:
    return torch.cuda.mem_get_info(device)[0] // 3 if device.type == "cuda" else CACHE_BYTES
