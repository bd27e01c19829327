"""Causal language models with random weights and a tokenizer trained on the spot, saved as a folder that transformers loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.tiny_models import tiny_model, transformers  # skips where torch is absent
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

TEXT = [
    '{"state":"{\\"candidates\\":[\\"apple\\",\\"angle\\"],\\"position\\":1,\\"problem\\":\\"39 × 15 = ?\\",\\"target_length\\":5}"}',
    "Solve the original problem. Select its true answer character at the specified one-based position, independently of other positions.",
    "Select one choice and output only its single-character code. A B C D E F G H I J K L M N O P Q R S T U V W X Y Z",
    "option_name criterion choices response_format allowed_values question state abcdefghijklmnopqrstuvwxyz 0123456789",
] * 4  # fmt: skip

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}"
)
"""As Qwen3 writes it."""

LLAMA = (
    "{{ bos_token }}{% for m in messages %}{{ '<|header|>' + m['role'] + '<|end_header|>\n\n' + m['content'] | trim + '<|eot|>' }}{% "
    "endfor %}"
    "{% if add_generation_prompt %}{{ '<|header|>assistant<|end_header|>\n\n' }}{% endif %}"
)

SPECIAL = {
    "qwen3": ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"],
    "llama": ["<|begin|>", "<|eot|>", "<|header|>", "<|end_header|>"],
    "gpt2": ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"],
}


def tokenizer(kind: str, *, template: Any = None, adds_bos: bool = False, merges: bool = False) -> Any:
    """Byte-level BPE.

    `adds_bos`: it begins every text with BOS by itself. `merges`: it knows no word boundaries, so a line break merges with what follows.
    """
    made = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not merges)
    made.pre_tokenizer = (
        byte_level if not merges else pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\nA|."), "isolated"), byte_level])
    )
    made.decoder = decoders.ByteLevel()
    lines = TEXT + ["assistant\nA\nA\nA"] * 50 if merges else TEXT
    made.train_from_iterator(
        lines,
        trainers.BpeTrainer(
            vocab_size=420, special_tokens=SPECIAL[kind], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
        ),
    )
    names = {"eos_token": "<|im_end|>"} if kind == "qwen3" else {"eos_token": "<|endoftext|>"}
    if kind == "llama":
        names = {"bos_token": "<|begin|>", "eos_token": "<|eot|>"}
    if adds_bos:
        made.post_processor = processors.TemplateProcessing(
            single=f"{SPECIAL[kind][0]} $A", special_tokens=[(SPECIAL[kind][0], made.token_to_id(SPECIAL[kind][0]))]
        )
        names["bos_token"] = SPECIAL[kind][0]
    if kind == "qwen3":
        names["pad_token"] = "<|endoftext|>"
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, chat_template=template if template is not None else LLAMA if kind == "llama" else CHATML, **names
    )


def saved(folder: Path, kind: str = "qwen3", *, ends: Any = "own", context: int = 4096, seed: int = 1, **options: Any) -> Path:
    """A folder with a model. `ends`: what its generation configuration names as end tokens."""
    made = tokenizer(kind, **options)
    length = "n_positions" if kind == "gpt2" else "max_position_embeddings"
    named = {"vocab_size": len(made), length: context, "bos_token_id": None, "eos_token_id": None, "pad_token_id": made.pad_token_id}
    weights = tiny_model(kind, seed, **named)
    weights.generation_config.eos_token_id = made.eos_token_id if ends == "own" else ends
    weights.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder
