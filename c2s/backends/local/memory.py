"""The memory that a model takes, by its configuration alone; the memory that is free; and an allocator that keeps what it has."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

from c2s.errors import UsageError

BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "nf4": 0.6}
"""Per parameter; NF4 with its scales and the parts that stay in float16 (ours)."""

HEADROOM = 1.05
"""Room for activations and the cache of a small batch; the engine makes larger batches fit what is left."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Names of `mallopt` in malloc.h."""


def weight_bytes(config: Any, dtype: str) -> int:
    """Bytes of the weights in this precision, tied ones once: the model is built on the meta device, where nothing is allocated."""
    import torch
    import transformers

    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    return int(sum(p.numel() for p in model.parameters()) * BYTES[dtype])


def free_bytes(device: str) -> int:
    """What is free on a device; `auto` counts every GPU."""
    import torch

    if device == "cpu":
        return _free_host()
    if device == "auto":
        return sum(torch.cuda.mem_get_info(n)[0] for n in range(torch.cuda.device_count()))
    return int(torch.cuda.mem_get_info(device)[0])


def refuse_if_too_large(config: Any, name: str, *, dtype: str, device: str, quantised: bool) -> None:
    """Raises UsageError where the weights do not fit. A quantised file is unpacked to float32 on its way in."""
    need = weight_bytes(config, dtype) * HEADROOM
    if quantised and device == "cpu":
        need += weight_bytes(config, "float32")
    free = free_bytes(device)
    if need > free:
        where = {"cpu": "this machine", "auto": "all GPUs together"}.get(device, device)
        other = "dtype=bfloat16, " if dtype == "float32" else ""
        raise UsageError(
            f"{name} takes {need / 1e9:.3g} GB in {dtype} and {where} has {free / 1e9:.3g} GB free; "
            f"use {other}another device or a smaller model"
        )


def keep_freed_memory() -> None:
    """Let this process keep what tensors free for the next ones, where the C library is glibc.

    By itself it hands blocks of many megabytes back to the system and asks for them again, and mapping fresh zeroed pages took a tenth
    of the time of a forward pass. Blocks over 32 MiB, glibc's own limit, are still handed back.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, 32 << 20)
        mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def _free_host() -> int:
    """Memory that can be had without swapping, no more than the control group allows."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines()) if Path("/proc/meminfo").exists() else {}
    free = int(fields["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in fields else 1 << 62
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = (group / "memory.max").read_text().strip(), int((group / "memory.current").read_text())
        cached = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return free if limit == "max" else min(free, int(limit) - used + int(cached.get("inactive_file", 0)))
    except (OSError, ValueError):
        return free
