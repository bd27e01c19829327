"""Token ids of choice codes at the true prompt boundary (Choice2Seq, A.7).

They come from tokenising prompt + code and removing the common prefix, and must be single and distinct for that prompt. A
tokenizer cuts a text at its added tokens and treats the pieces apart, so what follows the last added token decides: one result
serves every prompt that ends alike, once its own ids have been seen to end in that token and that piece.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from c2s.backends.local.prompts import Prompt, Renderer


class Merged(Exception):
    """A code is no token of its own after this prompt; the message says which and how."""


class Boundary:
    """The place where the answer begins, for one tokenizer."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        added = {token.content: number for number, token in renderer.tokenizer.added_tokens_decoder.items() if token.content}
        self._added = added
        self._cut = re.compile("|".join(map(re.escape, sorted(added, key=len, reverse=True))) or r"(?!)")
        self._known: dict[tuple[str, ...], tuple[list[int], tuple[int, ...]]] = {}

    def ids(self, prompt: Prompt, codes: Sequence[str]) -> tuple[int, ...]:
        """One id per code. Raises Merged."""
        matches = list(self._cut.finditer(prompt.text))
        if not matches:
            return self._measured(prompt, codes)
        tail = (matches[-1].group(), prompt.text[matches[-1].end() :])
        key = (*tail, *codes)
        if key not in self._known:
            (after,) = self._renderer.ids(["".join(tail)])
            self._known[key] = after, self._measured(prompt, codes)
        after, found = self._known[key]
        if list(prompt.ids[-len(after) :]) != after or after[0] != self._added[tail[0]]:
            return self._measured(prompt, codes)
        return found

    def _measured(self, prompt: Prompt, codes: Sequence[str]) -> tuple[int, ...]:
        found: dict[int, str] = {}
        before = list(prompt.ids)
        for code, ids in zip(codes, self._renderer.ids([prompt.text + code for code in codes]), strict=True):
            shared = next((n for n, (a, b) in enumerate(zip(before, ids, strict=False)) if a != b), min(len(before), len(ids)))
            if shared < len(before):
                raise Merged(f"code {code!r} merges with the end of the prompt")
            if len(ids) != shared + 1:
                raise Merged(f"code {code!r} is {len(ids) - shared} tokens after the prompt, not one")
            if (other := found.setdefault(ids[shared], code)) != code:
                raise Merged(f"codes {other!r} and {code!r} are the same token after the prompt")
        return tuple(found)
