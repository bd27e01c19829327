"""The engine against a plain loop: any batch, any order, with and without sharing, and when memory runs out."""

from __future__ import annotations

import platform
import random
import resource
from collections.abc import Sequence

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install torch==2.13.0, then -e '.[local]'")
pytest.importorskip("transformers", reason="pip install -e '.[local]'")

from support.tiny_models import NOT_SHARING, SHARING, VOCABULARY, families, plain_logits, plain_text, tiny_model  # noqa: E402

from c2s.backends.local.engine import Engine  # noqa: E402
from c2s.errors import InputError  # noqa: E402

ENDS = frozenset(range(5, VOCABULARY, 5))


def engine(kind: str, **named) -> Engine:
    return Engine(tiny_model(kind), eos_ids=ENDS, **{"token_budget": 200, "cache_bytes": 1 << 22} | named)


@pytest.mark.parametrize("kind", SHARING)
def test_ordinary_models_share(kind: str):
    assert engine(kind).unshared is None


@pytest.mark.parametrize("kind", NOT_SHARING)
def test_other_models_say_why_they_do_not_share(kind: str):
    assert engine(kind).unshared


@pytest.mark.parametrize("kind", [*SHARING, *NOT_SHARING])
def test_scores_equal_the_plain_loop_at_every_batch_size_and_order(kind: str):
    prompts, model = families(34), tiny_model(kind)
    expected = np.array([plain_logits(model, p) for p in prompts])
    order = list(range(len(prompts)))
    for size, shuffled in ((1, False), (8, True), (32, True), (34, False)):
        made = engine(kind)
        if shuffled:
            random.Random(size).shuffle(order)
        for first in range(0, len(order), size):
            some = order[first : first + size]
            for i, scores in zip(some, made.logits([prompts[i] for i in some]), strict=True):
                assert scores.log_probabilities == pytest.approx(expected[i], abs=1e-4)
                assert scores.log_probabilities.argmax() == expected[i].argmax()
                assert scores.mass == 1.0


@pytest.mark.parametrize("kind", [*SHARING, *NOT_SHARING])
def test_texts_equal_the_plain_loop_at_every_batch_size_and_order(kind: str):
    prompts, model = families(20), tiny_model(kind)
    budgets = [1 + i % 7 for i in range(len(prompts))]
    expected = [plain_text(model, p, n, ENDS) for p, n in zip(prompts, budgets, strict=True)]
    assert {len(e) < n for e, n in zip(expected, budgets, strict=True)} == {True, False}
    for size in (1, 8, 20):
        made = engine(kind, token_budget=40)
        order = list(range(len(prompts)))
        random.Random(size).shuffle(order)
        for first in range(0, len(order), size):
            some = order[first : first + size]
            for i, text in zip(some, made.generate([prompts[i] for i in some], [budgets[i] for i in some]), strict=True):
                assert text.ids == expected[i]
                assert text.finish == ("stop" if text.ids[-1] in ENDS else "length")


def test_kept_ids_and_mass():
    made, prompts = engine("qwen3"), families(10)
    keep = [[7, 3, 150][: 1 + i % 3] for i in range(10)]
    for prompt, ids, scores in zip(prompts, keep, made.logits(prompts, keep), strict=True):
        expected = plain_logits(tiny_model("qwen3"), prompt)[ids]
        assert scores.log_probabilities == pytest.approx(expected, abs=1e-4)
        assert scores.mass == pytest.approx(np.exp(expected).sum(), abs=1e-5)


def test_one_forward_and_every_token_once():
    made, prompts = engine("llama", token_budget=10_000), families(34)
    made.logits(prompts)
    assert made.forwards == 1
    assert made.tokens + made.tokens_shared == sum(map(len, prompts))
    distinct = {tuple(p[:n]) for p in prompts for n in range(1, len(p))} | {(*p, "last") for p in prompts}
    assert made.tokens == len(distinct)


def test_later_calls_find_what_earlier_ones_computed():
    made, rng = engine("llama", token_budget=10_000), random.Random(0)
    head = [rng.randrange(3, VOCABULARY) for _ in range(30)]
    rounds = [[*head, *range(10, 10 + t), *(rng.randrange(60, VOCABULARY) for _ in range(12))] for t in range(5)]
    made.logits(rounds[:1])
    assert (made.tokens, made.tokens_shared) == (42, 0)
    for t in range(1, 5):
        before = made.tokens
        (scores,) = made.logits([rounds[t]])
        assert made.tokens - before == 13  # the new character of the prefix, and what comes after it
        assert scores.log_probabilities == pytest.approx(plain_logits(tiny_model("llama"), rounds[t]), abs=1e-4)
    assert made.tokens + made.tokens_shared == sum(map(len, rounds))


def small_store(kind: str, places: int) -> Engine:
    """The least that an engine has is 1,024 places; some tests need fewer."""
    made = engine(kind, token_budget=60)
    made._runs.__init__(made._runs.packed, places, made)
    return made


@pytest.mark.parametrize("places", [64, 90, 200])
def test_a_full_store_forgets_and_stays_right(places: int):
    model, made = tiny_model("qwen3"), small_store("qwen3", places)
    for seed in range(3):
        prompts = families(16, seed)
        for prompt, scores in zip(prompts, made.logits(prompts), strict=True):
            assert scores.log_probabilities == pytest.approx(plain_logits(model, prompt), abs=1e-4)
        texts = made.generate(prompts, [4] * 16)
        assert [t.ids for t in texts] == [plain_text(model, p, 4, ENDS) for p in prompts]
        assert made._runs.tree.used <= made._runs.tree.capacity
        assert made._runs.tree.capacity == max(places, made._runs.tree.capacity)
        assert not any(node.pins or not node.ready for node in made._runs.tree.nodes())
        assert made._runs.tree.used == sum(len(node.places) for node in made._runs.tree.nodes())


def test_a_prompt_larger_than_the_store_makes_it_grow():
    made = small_store("llama", 16)
    (prompt,) = [p[:25] for p in families(8) if len(p) >= 25][:1]
    (scores,) = made.logits([prompt])
    assert scores.log_probabilities == pytest.approx(plain_logits(tiny_model("llama"), prompt), abs=1e-4)
    assert made._runs.tree.capacity >= 25


class Memory:
    """A device that holds `most` tokens a forward, and says so as the CPU's or the GPU's allocator does."""

    def __init__(self, made: Engine, most: int, error: type[BaseException] = RuntimeError) -> None:
        self.most, self.error, self.failed = most, error, 0
        self.inner = made.model.forward
        made.model.forward = self

    def __call__(self, *positional, **named):
        tokens = named["input_ids"].numel()
        if tokens > self.most:
            self.failed += 1
            raise self.error("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")
        return self.inner(*positional, **named)


@pytest.mark.parametrize(
    ("kind", "error"), [("qwen3", RuntimeError), ("llama", MemoryError), ("gpt2", torch.OutOfMemoryError), ("hybrid", RuntimeError)]
)
def test_the_budget_is_halved_when_memory_runs_out(kind: str, error: type[BaseException]):
    prompts, model = families(34), tiny_model(kind)
    made = engine(kind, token_budget=400)
    memory = Memory(made, 50, error)
    for prompt, scores in zip(prompts, made.logits(prompts), strict=True):
        assert scores.log_probabilities == pytest.approx(plain_logits(model, prompt), abs=1e-4)
    assert memory.failed == made.halvings >= 1
    assert made.token_budget <= 50
    assert made.tokens + made.tokens_shared == sum(map(len, prompts))
    texts = made.generate(prompts, [3] * 34)
    assert [t.ids for t in texts] == [plain_text(model, p, 3, ENDS) for p in prompts]


@pytest.mark.parametrize("kind", ["qwen3", "hybrid"])
def test_a_prompt_that_never_fits_is_refused_and_the_next_call_works(kind: str):
    made = engine(kind)
    Memory(made, 20)
    long = list(range(3, 43))
    with pytest.raises(InputError, match="does not fit into the memory of cpu"):
        made.logits([long, long[:9]])
    (scores,) = made.logits([long[:9]])
    assert scores.log_probabilities == pytest.approx(plain_logits(tiny_model(kind), long[:9]), abs=1e-4)


def test_another_fault_of_the_model_leaves_nothing_behind():
    made = engine("llama")
    inner = made.model.forward

    def broken(*positional, **named):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    made.model.forward = broken
    with pytest.raises(RuntimeError, match="mat1"):
        made.logits(families(8))
    made.model.forward = inner
    assert not list(made._runs.tree.nodes())
    prompts = families(8)
    for prompt, scores in zip(prompts, made.logits(prompts), strict=True):
        assert scores.log_probabilities == pytest.approx(plain_logits(tiny_model("llama"), prompt), abs=1e-4)


def test_empty_prompts_and_budgets_are_refused():
    made = engine("llama")
    assert made.logits([]) == [] and made.generate([], []) == []
    with pytest.raises(InputError, match="prompt 1 has no tokens"):
        made.logits([[3], []])
    with pytest.raises(InputError, match="at least one new token"):
        made.generate([[3]], [0])
    with pytest.raises(InputError, match="2 lists of ids"):
        made.logits([[3]], [[1], [2]])


def test_a_budget_is_found_at_the_start():
    made = engine("llama", token_budget=None)
    assert 128 <= made.token_budget <= 16384
    assert (made.forwards, made.tokens, made.halvings) == (0, 0, 0)


def attended(model, prompts: Sequence[Sequence[int]]) -> torch.Tensor:
    """Padded on the left, with mask and positions, through the model itself."""
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(p)) + list(p) for p in prompts])
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    with torch.inference_mode():
        return model(input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(0)).logits[:, -1]


def test_the_model_stays_usable_by_itself():
    made, prompts = engine("llama"), families(8)
    for prompt, logits in zip(prompts, attended(made.model, prompts), strict=True):
        assert torch.log_softmax(logits.double(), -1).numpy() == pytest.approx(plain_logits(tiny_model("llama"), prompt), abs=1e-4)


def rows_through(part) -> list[int]:
    """Positions that a module was given, call by call."""
    seen: list[int] = []
    part.gate_proj.register_forward_hook(lambda module, args, output: seen.append(args[0].shape[0] * args[0].shape[1]))
    return seen


def test_the_last_feed_forward_part_computes_last_positions_alone():
    made, prompts = engine("llama", token_budget=10_000), families(9)
    first, last = (rows_through(made.model.model.layers[n].mlp) for n in (0, -1))
    made.logits(prompts)
    assert first == [made.tokens]
    assert last == [len({tuple(p) for p in prompts})]


def test_a_last_feed_forward_part_that_other_layers_use_too_is_left_alone():
    def shared():
        model = tiny_model("llama")
        model.model.layers[-1].mlp = model.model.layers[0].mlp
        return model

    made, prompts = Engine(shared(), eos_ids=ENDS, token_budget=200, cache_bytes=1 << 22), families(12)
    assert not made._runs.packed.last.narrow
    assert not made.model.model.layers[-1].mlp._forward_hooks
    for prompt, scores in zip(prompts, made.logits(prompts), strict=True):
        assert scores.log_probabilities == pytest.approx(plain_logits(shared(), prompt), abs=1e-4)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_memory_of_tensors_is_found_again():
    engine("llama")  # on a CPU, an engine sees to it
    tensors, pages = 5, 24_000_000 // resource.getpagesize()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        held = [torch.ones(6_000_000) for _ in range(tensors)]
        del held
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 3 * tensors * pages  # without it every round asks for them again
