"""Sparrow's own tokens, sooner: its tokenizer looks at every character in Python, which is most of what a request costs.

Exact for text of Latin-1 characters, where normalising works character by character; any other text is left to the package's tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

LATIN = [chr(code) for code in range(256)]


def encoder(tokenizer: Any, plain: Callable[[str], str], punctuation: Callable[[str], bool]) -> Callable[[str, int], list[int]]:
    """What replaces `tokenizer.encode`; `plain` normalises a text and `punctuation` tells a character, as the package does."""
    table = str.maketrans({c: plain(c) for c in LATIN})
    marks = re.escape("".join(c for c in LATIN if punctuation(c)))
    words = re.compile(rf"[{marks}]|[^\s{marks}]+").findall
    own, pieces = tokenizer.encode, tokenizer._word

    def encode(text: str, max_len: int = 512) -> list[int]:
        if not text.isascii():
            try:
                text.encode("latin-1")
            except UnicodeEncodeError:
                return list(own(text, max_len))
        ids: list[int] = []
        for word in words(text.translate(table)):
            ids += pieces(word)
            if len(ids) >= max_len:
                break
        return ids[:max_len]

    return encode
