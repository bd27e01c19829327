"""What decides an answer beside the request.

Digests of checkpoint, tokenizer, chat template and generation settings; versions, precision, device.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from c2s.backends.local.load import Checkpoint, Source, libraries

WEIGHTS = (".safetensors", ".bin", ".gguf")
LIBRARIES = ("torch", "transformers", "tokenizers")


def fingerprint(checkpoint: Checkpoint, *, dtype: str, device: str) -> dict[str, Any]:
    """The fingerprint of a model as it is asked.

    The checkpoint's digest is over the lines "sha256  name" of its weight files, sorted by name, as `sha256sum` prints them.
    """
    files = weight_files(checkpoint.source)
    sums = {path.name: sha256(path) for path in files}
    listing = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return {
        "checkpoint_sha256": hashlib.sha256(listing.encode()).hexdigest(),
        "files": sums,
        "config_sha256": _json_digest(checkpoint.config.to_dict()),
        "tokenizer_sha256": tokenizer_digest(checkpoint.tokenizer),
        "template_sha256": template_digest(checkpoint.tokenizer),
        "generation_config_sha256": _json_digest(checkpoint.generation.to_dict()),
        "ends": sorted(checkpoint.ends),
        "dtype": dtype,
        "device": device_name(device),
        "libraries": {name: metadata.version(name) for name in LIBRARIES}
        | ({"gguf": metadata.version("gguf")} if checkpoint.source.gguf else {}),
    }


def weight_files(where: Source) -> list[Path]:
    """The files that hold the weights; those of the hub lie in the local cache once the configuration has been read."""
    folder = Path(where.place)
    if where.gguf:
        return [_local(where, where.gguf)]
    if not folder.is_dir():
        folder = _snapshot(where)
    found = [
        path for path in sorted(folder.iterdir()) if path.suffix in WEIGHTS and path.name not in ("training_args.bin", "optimizer.bin")
    ]
    safe = [path for path in found if path.suffix == ".safetensors"]
    return safe or [path for path in found if path.suffix == ".bin"]


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tokenizer_digest(tokenizer: Any) -> str:
    """Of the whole pipeline of a fast tokenizer, or of a slow one's vocabulary; the same wherever its files lie."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    text = backend.to_str() if backend is not None else json.dumps(sorted(tokenizer.get_vocab().items()))
    return hashlib.sha256(text.encode()).hexdigest()


def template_digest(tokenizer: Any) -> str:
    template = tokenizer.chat_template
    return hashlib.sha256((template if isinstance(template, str) else json.dumps(template, sort_keys=True)).encode()).hexdigest()


def device_name(device: str) -> str:
    """The kind of hardware, not its place in this machine."""
    torch, _ = libraries()
    if device == "cpu":
        return "cpu"
    names: Sequence[str] = (
        [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
        if device == "auto"
        else [torch.cuda.get_device_name(device)]
    )
    return " + ".join(names)


def _local(where: Source, name: str) -> Path:
    path = Path(where.place) / name
    if path.is_file():
        return path
    from transformers.utils import cached_file

    return Path(cached_file(where.place, name, revision=where.revision))


def _snapshot(where: Source) -> Path:
    """The hub's files of this revision, fetched where they are not in the cache."""
    from huggingface_hub import snapshot_download

    patterns = ["*.safetensors", "*.safetensors.index.json", "*.json"]
    folder = Path(snapshot_download(where.place, revision=where.revision, allow_patterns=patterns))
    if not any(path.suffix == ".safetensors" for path in folder.iterdir()):
        folder = Path(snapshot_download(where.place, revision=where.revision, allow_patterns=["*.bin", "*.bin.index.json", "*.json"]))
    return folder


def _json_digest(values: dict[str, Any]) -> str:
    """Without what says where a file was read or which version wrote it."""
    kept = {key: value for key, value in values.items() if key not in ("transformers_version", "_name_or_path", "_commit_hash")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()
