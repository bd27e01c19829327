"""Which rows go into the next packed forward pass: prompts, sorted so that those with a common beginning are neighbours, and texts
that are being written.

Every distinct prompt is a job. Its tokens but the last go into the prefix tree, so that later prompts find them; its last token
and what is generated after it have places of the job's own, which are released when it ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch

from c2s.backends.local.packed import Packed, Row
from c2s.backends.local.prefix_tree import NOWHERE, Node, PrefixTree

MAX_ROWS = 256
"""Rows of one forward pass: their logits over the vocabulary exist at once."""


Read = Callable[[Sequence["Job"], torch.Tensor], None]


class OutOfRoom(Exception):
    """A forward did not fit into memory; the budget is smaller now."""


class Meter(Protocol):
    """What counts forward passes and sets their size; the engine."""

    token_budget: int
    tokens: int
    tokens_shared: int
    forwards: int

    def measured(self, forward: Callable[[], torch.Tensor], *, tokens: int, rows: int, forwards: int = 1) -> torch.Tensor: ...


@dataclass(slots=True, eq=False)
class Job:
    """A distinct prompt, the callers' indices that want it, and its new tokens; `max_new` 0 asks for scores alone."""

    prompt: Sequence[int]
    wanted: list[int]
    max_new: int = 0
    new: list[int] = field(default_factory=list)
    start: int = 0
    node: Node | None = None
    way: np.ndarray = field(default_factory=lambda: NOWHERE)
    own: np.ndarray = field(default_factory=lambda: NOWHERE)

    def next_row(self) -> Row:
        return Row(self.new[-1:], np.concatenate([self.way, self.own[: len(self.new) + 1]]))

    def take(self, token: int, ends: frozenset[int]) -> bool:
        """Whether the text has ended with this token."""
        self.new.append(token)
        return token in ends or len(self.new) >= self.max_new


class Sharing:
    """Runs jobs packed, under a meter's budget, and keeps what it computed of their prompts for later calls."""

    def __init__(self, packed: Packed, capacity: int, meter: Meter) -> None:
        self.packed, self.meter = packed, meter
        self.tree = PrefixTree(capacity)
        packed.store.resize(capacity)
        self._short = False

    def run(self, jobs: Sequence[Job], ends: frozenset[int], read: Read) -> None:
        """Until every job is done; `read` gets the jobs that ask for scores, and their logits, as they finish."""
        self.tree.tick += 1
        for job in jobs:
            self.tree.match(job.prompt[:-1])  # marks what this call needs, so that it is forgotten last
        waiting = deque(sorted(jobs, key=lambda job: list(job.prompt)))
        writing: deque[Job] = deque()
        try:
            while waiting or writing:
                self._step(waiting, writing, ends, read)
        finally:
            for job in jobs:
                if job.node is not None:
                    self._withdraw(job)

    def _step(self, waiting: deque[Job], writing: deque[Job], ends: frozenset[int], read: Read) -> None:
        going = [writing.popleft() for _ in range(min(len(writing), self.meter.token_budget, MAX_ROWS))]
        rows = [job.next_row() for job in going]
        admitted = self._admit(waiting, rows, alone=not writing)
        try:
            logits = self._forward(rows)
        except OutOfRoom:
            self._short = True
            for job in reversed(admitted):
                self._withdraw(job)
                waiting.appendleft(job)
            writing.extendleft(reversed(going))
            return
        for job in admitted:
            self._ready(job.node)
            self.meter.tokens_shared += len(job.prompt) * (len(job.wanted) - 1) + job.start
        jobs = [*going, *admitted]
        scored = [i for i, job in enumerate(jobs) if not job.max_new]
        if scored:
            read([jobs[i] for i in scored], logits if len(scored) == len(jobs) else logits[scored])
        best = logits.argmax(-1).tolist() if len(scored) < len(jobs) else []
        for i, job in enumerate(jobs):
            if not job.max_new or job.take(best[i], ends):
                self._leave(job)
            else:
                writing.append(job)

    def trial(self, rows: Sequence[Row]) -> None:
        """One forward of the given rows into places of their own choice, before anything is stored."""
        if max(int(row.places.max()) for row in rows) >= self.tree.capacity:
            raise OutOfRoom
        with torch.inference_mode():
            self._forward(rows)

    def _admit(self, waiting: deque[Job], rows: list[Row], *, alone: bool) -> list[Job]:
        """Take waiting jobs while they fit into the budget beside `rows`, and add their rows; at least one where nothing else runs."""
        admitted: list[Job] = []
        tokens = len(rows)
        while waiting and len(rows) < MAX_ROWS:
            # A prompt larger than the whole budget goes beside texts under way, unless memory has been short.
            any_size = not admitted and not (rows and self._short)
            row = self._enter(waiting[0], None if any_size else self.meter.token_budget - tokens, grow=alone and not rows)
            if row is None:
                break
            admitted.append(waiting.popleft())
            rows.append(row)
            tokens += len(row.tokens)
        return admitted

    def _enter(self, job: Job, room: int | None, *, grow: bool) -> Row | None:
        node, way = self.tree.match(job.prompt[:-1])
        fresh = job.prompt[len(way) : -1]
        if room is not None and len(fresh) + 1 > room:
            return None
        needed = len(fresh) + max(1, job.max_new)
        node.pins += 1
        try:
            places = self._places(needed, grow)
        finally:
            node.pins -= 1
        if places is None:
            return None
        job.node = self.tree.insert(node, fresh, places[: len(fresh)])
        job.node.pins += 1
        job.way, job.own = np.concatenate([way, places[: len(fresh)]]), places[len(fresh) :]
        job.start = len(way)
        return Row(job.prompt[len(way) :], np.concatenate([job.way, job.own[:1]]))

    def _places(self, needed: int, grow: bool) -> np.ndarray | None:
        places = self.tree.take(needed)
        if places is None and grow:
            capacity = self.tree.capacity + needed
            self.packed.store.resize(capacity)
            self.tree.grow(capacity)
            places = self.tree.take(needed)
        return places

    def _forward(self, rows: Sequence[Row]) -> torch.Tensor:
        return self.meter.measured(lambda: self.packed.forward(rows), tokens=sum(len(r.tokens) for r in rows), rows=len(rows))

    def _leave(self, job: Job) -> None:
        assert job.node is not None
        job.node.pins -= 1
        self.tree.release(job.own)
        job.node, job.own = None, NOWHERE

    def _withdraw(self, job: Job) -> None:
        """Undo `_enter` after a forward pass that failed: later prompts must not use what it would have computed."""
        node = job.node
        self._leave(job)
        while node is not None and node.parent is not None and not (node.ready or node.children or node.pins):
            above = node.parent
            self.tree.remove(node)
            node = above

    @staticmethod
    def _ready(node: Node | None) -> None:
        while node is not None and not node.ready:
            node.ready = True
            node = node.parent
