"""A causal language model from local files, for next-token log-probabilities. The only module besides `transformers` adapters that loads torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from c2s.errors import MissingDependency, UsageError

HINT = "pip install 'c2s[local]'"


class CausalLM:
    """NF4 weights with float16 computation where a GPU and bitsandbytes are there, as in the paper; full precision otherwise."""

    def __init__(self, path: str, *, revision: str | None = None, batch: int = 16) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingDependency(f"cue proposals need torch and transformers: {HINT}") from error
        where = Path(path)
        named: dict[str, Any] = {"revision": revision} if revision else {}
        folder = str(where)
        if where.suffix == ".gguf":
            folder, named["gguf_file"] = str(where.parent), where.name
        more, self.precision = _precision(torch, transformers)
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **named)
            self._model = transformers.AutoModelForCausalLM.from_pretrained(folder, **named, **more)
        except (OSError, ValueError, ImportError) as error:
            raise UsageError(f"cannot load a causal language model from {path}: {' '.join(str(error).split())[:200]}") from None
        if self._tokenizer.chat_template is None:
            raise UsageError(f"{path} has no chat template; the contexts are user messages of a chat")
        self._torch = torch
        self._model.eval()
        self._batch = batch
        self.name = where.name
        self.ends = frozenset(_ends(self._model, self._tokenizer))

    def context(self, message: str) -> list[int]:
        chat = [{"role": "user", "content": message}]
        ids = self._tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=True, return_dict=False)
        return [int(i) for i in ids]

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
        return self._tokenizer.decode(list(tokens), skip_special_tokens=False, clean_up_tokenization_spaces=False)


def _precision(torch: Any, transformers: Any) -> tuple[dict[str, Any], str]:
    import importlib.util

    if torch.cuda.is_available() and importlib.util.find_spec("bitsandbytes"):
        config = transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float16)
        return {"quantization_config": config, "device_map": "cuda"}, "nf4, float16"
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return {"dtype": torch.float32, "device_map": device} if device == "cuda" else {"dtype": torch.float32}, f"float32 on {device}"


def _ends(model: Any, tokenizer: Any) -> list[int]:
    found = model.generation_config.eos_token_id
    listed = found if isinstance(found, list) else [found]
    return [int(i) for i in {*listed, tokenizer.eos_token_id} if i is not None]
