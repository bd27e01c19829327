"""What a forward pass of a causal language model need not compute, because nothing uses it."""

from __future__ import annotations

from typing import Any

import torch

EXACT = (torch.float32, torch.float64)


class LastOnly:
    """Computes what only the next token needs at the chosen positions alone: the output layer, so that [batch, length, vocabulary]
    never exists, and the last block's feed-forward part, after which no token is seen by another."""

    def __init__(self, model: Any) -> None:
        self._at: torch.Tensor | None = None
        self._shape, self._calls = torch.Size(), 0
        head = model.get_output_embeddings()
        self._chosen_by_head = head is not None
        if head is not None:
            head.register_forward_pre_hook(self._choose)
        self.narrow = self._try_narrow(model)

    def run(self, model: Any, at: torch.Tensor, **named: Any) -> torch.Tensor:
        """Logits [batch, chosen positions, vocabulary]."""
        self._at, self._calls = at, 0
        try:
            logits = model(**named, use_cache=False, return_dict=True).logits
        finally:
            self._at = None
        return logits if self._chosen_by_head else logits[:, at.to(logits.device)]

    def _choose(self, module: Any, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...] | None:
        if self._at is None:
            return None
        self._shape = args[0].shape
        return (args[0][:, self._at.to(args[0].device)], *args[1:])

    def _spread(self, module: Any, args: tuple[torch.Tensor, ...], output: torch.Tensor) -> torch.Tensor | None:
        """Zero at every other position: what follows works on each token alone."""
        if self._at is None:
            return None
        self._calls += 1
        whole = output.new_zeros((*self._shape[:-1], output.shape[-1]))
        whole[:, self._at.to(output.device)] = output
        return whole

    def _try_narrow(self, model: Any) -> bool:
        """Whether the last block's feed-forward part can be skipped for positions that are not read, which a short sequence shows."""
        blocks = max((m for m in model.modules() if isinstance(m, torch.nn.ModuleList)), key=len, default=None)
        part = getattr(blocks[-1], "mlp", None) if blocks is not None and len(blocks) else None
        if part is None:
            return False
        ids = torch.arange(3, 11, device=model.get_input_embeddings().weight.device)[None] % model.config.get_text_config().vocab_size
        at = torch.tensor([4, 7])
        with torch.inference_mode():
            whole = self.run(model, at, input_ids=ids)
            hooks = [part.register_forward_pre_hook(self._choose), part.register_forward_hook(self._spread)]
            try:
                same = apart(self.run(model, at, input_ids=ids), whole) < (1e-4 if whole.dtype in EXACT else 0.02) and self._calls == 1
            except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
                same = False
        if not same:
            for hook in hooks:
                hook.remove()
        return same


def apart(some: torch.Tensor, expected: torch.Tensor) -> float:
    """The size of the difference of two tables of logits, as a share of the spread of those expected."""
    expected = expected.float()
    return float((some.float() - expected).norm() / (expected - expected.mean(-1, keepdim=True)).norm())
