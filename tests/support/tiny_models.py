"""Tiny causal language models with random weights, and the plain loop that they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install torch==2.13.0, then -e '.[local]'")
transformers = pytest.importorskip("transformers", reason="pip install -e '.[local]'")

torch.set_num_threads(1)  # waiting for each other costs more than such models compute

VOCABULARY = 160
SHAPE = {"vocab_size": VOCABULARY, "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 3, "max_position_embeddings": 512}
HEADS = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8}
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3": ("Qwen3Config", SHAPE | HEADS),
    "llama": ("LlamaConfig", SHAPE | HEADS),
    "gpt2": ("GPT2Config", {"vocab_size": VOCABULARY, "n_embd": 48, "n_layer": 3, "n_head": 6, "n_positions": 512}),
    "windowed": ("MistralConfig", SHAPE | HEADS | {"sliding_window": 7}),
    "mixed": (
        "Gemma3TextConfig",
        SHAPE | HEADS | {"sliding_window": 5, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "softcap": ("Gemma2Config", SHAPE | HEADS),
    "hybrid": (
        "Qwen3_5TextConfig",
        SHAPE | HEADS | {
            "layer_types": ["linear_attention", "full_attention", "linear_attention"], "linear_num_key_heads": 2,
            "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
        },
    ),
    "recurrent": ("MambaConfig", {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
}  # fmt: skip
SHARING = ("qwen3", "llama", "gpt2", "windowed", "mixed")
NOT_SHARING = ("softcap", "hybrid", "recurrent")


def tiny_model(kind: str, seed: int = 1, **other: Any) -> Any:
    """A model in fp32 whose logits are far enough apart that rounding does not choose. `other` replaces members of its configuration."""
    name, named = CONFIGS[kind]
    named = named | {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0} | other
    if not hasattr(transformers, name):
        pytest.skip(f"this transformers has no {name}")
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, name)(**named))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(4)
    return model.float().eval()


def families(count: int, seed: int = 3) -> list[list[int]]:
    """Prompts with a common head, families with a longer one, one prompt twice and one that is the beginning of another."""
    rng = np.random.default_rng(seed)

    def tokens(n: int) -> list[int]:
        return rng.integers(3, VOCABULARY, n).tolist()

    head, out = tokens(11), []
    while len(out) < count:
        family = [*head, *tokens(int(rng.integers(2, 9)))]
        out += [[*family, *tokens(int(rng.integers(1, 14)))] for _ in range(4)]
    out[:3] = [out[1], [*out[3], 9], out[3][:14]]
    return [*out[: count - 2], out[1], tokens(1)]


def plain_logits(model: Any, prompt: Sequence[int]) -> np.ndarray:
    """Log-probabilities after one prompt, from a forward of its own."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([list(prompt)])).logits[0, -1]
        return torch.log_softmax(logits.double(), -1).numpy()


def plain_text(model: Any, prompt: Sequence[int], max_new: int, ends: frozenset[int]) -> tuple[int, ...]:
    """Greedy tokens, every one from a forward of the whole text."""
    new: list[int] = []
    while len(new) < max_new and not (new and new[-1] in ends):
        new.append(int(plain_logits(model, [*prompt, *new]).argmax()))
    return tuple(new)
