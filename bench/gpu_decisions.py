"""Decisions a second on one device: the engine with a Qwen3-shaped model of random weights, on real prompts of the main panel.

    python bench/gpu_decisions.py                       # on a GPU: the shapes of 0.6B and 8B in bf16; on a CPU: a tiny one
    python bench/gpu_decisions.py --shape 8b --prompts 2000

Needs no hub: the tokenizer is trained here on the prompts, and weights are random (the arithmetic is the same). For every shape it
checks in fp32 that a subset gets the same answers in one batch as one by one, says what bf16 changes there, and prints decisions and tokens
a second, the share of the peak rate and the memory. Under five minutes on a data-centre GPU.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

sys.path.insert(0, str(Path(__file__).parent))

import panel_prompts

from c2s.backends.local.engine import Engine

SHAPES: dict[str, dict[str, Any]] = {
    "tiny": {
        "hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 4096, "tie_word_embeddings": True,
    },
    "0.6b": {
        "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
        "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "tie_word_embeddings": True,
    },
    "8b": {
        "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "tie_word_embeddings": False,
    },
}  # fmt: skip
NOMINAL = {"H200": 989e12, "H100": 989e12, "B200": 2250e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12}
"""Dense bf16 FLOP/s by the makers' data sheets."""
NEW = 8
SUBSET = 48


@dataclass(frozen=True, slots=True)
class Prompts:
    """Rounds of (prompt ids, code ids) under the readout contract, and rounds of prompt ids under the direct one."""

    read: list[list[tuple[list[int], list[int]]]]
    write: list[list[list[int]]]


def prompts(count: int, vocabulary: int) -> Prompts:
    """The first `count` requests of Serial and Independent, in the rounds in which they wait together."""
    texts: list[list[tuple[str, str, int]]] = []
    left = count
    each = max(2, -(-count // 20))
    chosen = panel_prompts.parents("main", each)
    if len({p.domain for p in chosen}) == 1:
        chosen = panel_prompts.parents("main", 2 * each)  # no WordNet here
    for asked in panel_prompts.rounds("main", chosen, ["serial", "independent"]):
        if left:
            texts.append(
                [
                    (_text(ask, "code-readout"), _text(ask, "direct"), len(ask.request.questions["answer"].options))
                    for _, ask in asked[:left]
                ]
            )
            left -= len(texts[-1])
    encode = _tokenizer([t for rows in texts for row in rows for t in row[:2]], min(vocabulary, 4096))
    letters = [encode(c) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    assert all(len(ids) == 1 for ids in letters)
    return Prompts(
        [[(encode(read), [ids[0] for ids in letters[:options]]) for read, _, options in rows] for rows in texts],
        [[encode(write) for _, write, _ in rows] for rows in texts],
    )


def _text(ask: Any, contract: str) -> str:
    """The messages in ChatML, as Qwen's template writes them."""
    messages, _ = panel_prompts.messages(ask, contract)
    return "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages) + "<|im_start|>assistant\n"


def _tokenizer(texts: Sequence[str], size: int) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts[:2000], trainer)
    return lambda text: made.encode(text).ids


def build(shape: str, device: torch.device, dtype: torch.dtype) -> Any:
    torch.manual_seed(20261005)
    config = transformers.Qwen3Config(**SHAPES[shape], max_position_embeddings=4096)
    with device:
        return transformers.AutoModelForCausalLM.from_config(config, dtype=dtype).eval()


def flop_per_token(model: Any) -> float:
    embeddings = model.get_input_embeddings().weight.numel()
    total = sum(p.numel() for p in model.parameters())
    return 2.0 * (total - embeddings * (1 if model.config.tie_word_embeddings else 2))


def product_rate(device: torch.device, dtype: torch.dtype) -> float:
    """FLOP/s of a square matrix product: what this device reaches without a model."""
    n = 8192 if device.type == "cuda" else 1024
    a, b = torch.randn(n, n, device=device, dtype=dtype), torch.randn(n, n, device=device, dtype=dtype)
    best = float("inf")
    for _ in range(8):
        began = time.perf_counter()
        a @ b
        _wait(device)
        best = min(best, time.perf_counter() - began)
    return 2 * n**3 / best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def engine_of(model: Any) -> Engine:
    """No token ends a text, so that every answer costs its eight tokens."""
    return Engine(model, eos_ids=frozenset())


def independence(shape: str, half: Engine, subset: Sequence[tuple[list[int], list[int]]], device: torch.device) -> dict[str, float]:
    """In fp32: the subset at once against one by one, codes and texts. In bf16: what it changes against fp32.

    Raises if a choice depends on the batch.
    """
    model = half.model
    exact = engine_of(build(shape, device, torch.float32).to(device))
    exact.model.load_state_dict(model.state_dict())
    exact.token_budget = max(exact.token_budget, 4096)
    ids, codes = [i for i, _ in subset], [c for _, c in subset]
    together = [s.log_probabilities for s in exact.logits(ids, codes)]
    alone = [exact.logits([i], [c])[0].log_probabilities for i, c in subset]
    off = max(float(np.abs(a - b).max()) for a, b in zip(together, alone, strict=True))
    assert all(a.argmax() == b.argmax() for a, b in zip(together, alone, strict=True)), "a choice depends on the batch"
    few = ids[: SUBSET // 4]
    texts = exact.generate(few, [NEW] * len(few))
    assert texts == [exact.generate([i], [NEW])[0] for i in few], "a text depends on the batch"
    rounded = [s.log_probabilities for s in half.logits(ids, codes)]
    flips = sum(int(a.argmax() != b.argmax()) for a, b in zip(together, rounded, strict=True))
    moved = max(float(np.abs((a - a.mean()) - (b - b.mean())).max()) for a, b in zip(together, rounded, strict=True))
    return {"subset": len(subset), "fp32_off": off, "bf16_flips": flips, "bf16_moved_max": moved}


def measure(shape: str, asked: Prompts, device: torch.device, peak: float) -> list[dict[str, Any]]:
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    engine = engine_of(build(shape, device, torch.bfloat16))
    per_token = flop_per_token(engine.model)
    rows = []
    for contract in ("code readout", "direct"):
        before, shared, began = engine.tokens, engine.tokens_shared, time.perf_counter()
        answers = 0
        for read, write in zip(asked.read, asked.write, strict=True):
            if contract == "direct":
                answers += len(engine.generate(write, [NEW] * len(write)))
            else:
                answers += len(engine.logits([ids for ids, _ in read], [codes for _, codes in read]))
        _wait(device)
        took, tokens, saved = time.perf_counter() - began, engine.tokens - before, engine.tokens_shared - shared
        memory = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else _resident()
        rows.append({
            "shape": shape, "contract": contract, "answers": answers, "seconds": took, "answers_per_second": answers / took,
            "tokens_computed_per_second": tokens / took, "prompt_tokens_per_second": (tokens + saved) / took,
            "shared": saved / (tokens + saved),
            "flops": tokens * per_token / took, "share_of_product": tokens * per_token / took / peak, "memory_gib": memory / 2**30,
            "budget": engine.token_budget, "forwards": engine.forwards, "unshared": engine.unshared,
        })  # fmt: skip
    needed = sum(p.numel() for p in engine.model.parameters()) * 4 * 1.3
    subset = [row for rows_ in asked.read for row in rows_][:SUBSET]
    if device.type == "cuda" and needed > torch.cuda.mem_get_info(device)[0]:
        print(f"# {shape}: no room for fp32 weights beside bf16, batch independence was not checked")
    else:
        rows[0] |= independence(shape, engine, subset, device)
    return rows


def _resident() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", nargs="+", choices=SHAPES, help="default: 0.6b and 8b on a GPU, tiny on a CPU")
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    given = parser.parse_args()
    device = torch.device(given.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    shapes = given.shape or (["0.6b", "8b"] if device.type == "cuda" else ["tiny"])
    if device.type == "cpu" and shapes == ["tiny"]:
        torch.set_num_threads(1)  # waiting for each other costs more than the tiny shape computes
    began = time.perf_counter()
    peak = product_rate(device, torch.bfloat16)
    nominal = next((rate for key, rate in NOMINAL.items() if key in name), None)
    print(
        f"device {name}, torch {torch.__version__}, transformers {transformers.__version__}; bf16 product {peak / 1e12:.3g} TFLOP/s"
        + (f", nominal {nominal / 1e12:.0f}" if nominal else "")
    )
    rows = []
    for shape in shapes:
        asked = prompts(given.prompts, SHAPES[shape]["vocab_size"])
        lengths = [len(ids) for round_ in asked.read for ids, _ in round_]
        print(
            f"{shape}: {len(lengths)} readout prompts of {min(lengths)}-{max(lengths)} tokens, direct "
            f"{sum(len(i) for r in asked.write for i in r) / len(lengths):.0f} on average, in {len(asked.read)} rounds"
        )
        rows += measure(shape, asked, device, peak)
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()
    print("shape  contract       answers/s  computed tok/s  prompt tok/s  shared  of product  of nominal  memory GiB  budget")
    for r in rows:
        of_nominal = f"{r['flops'] / nominal:10.0%}" if nominal else "         -"
        print(
            f"{r['shape']:6} {r['contract']:13} {r['answers_per_second']:10.1f} {r['tokens_computed_per_second']:15.0f} "
            f"{r['prompt_tokens_per_second']:13.0f} {r['shared']:7.0%} {r['share_of_product']:11.1%} {of_nominal} "
            f"{r['memory_gib']:11.1f} {r['budget']:7}"
        )
    for r in rows:
        if "subset" in r:
            print(
                f"{r['shape']}: {r['subset']} prompts at once and one by one in fp32: same choices and texts, log-probabilities within "
                f"{r['fp32_off']:.1e}; bf16 flips {r['bf16_flips']}, moves centred log-probabilities by up to {r['bf16_moved_max']:.2g}"
            )
    print(f"{time.perf_counter() - began:.0f} s in all")
    if given.json:
        given.json.write_text(json.dumps({"device": name, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
