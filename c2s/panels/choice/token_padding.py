"""A length control in the model's own tokens: padding that renders to as many as the indexed request (D.9, Table D9).

The padding depends on the tokenizer, so it is computed when the plan is made and frozen with the items, together with the tokenizer's
identity. Which prefix an arm has built is known in the run alone: there, every padded request is counted beside the indexed one with the
same prefix, and the outcome keeps both counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from c2s.controllers.copying import copy, copy_request
from c2s.controllers.program import Context
from c2s.errors import UsageError
from c2s.panels.base import Endpoint, Panel
from c2s.records import Parent, Request
from c2s.settings import Inputs, Settings
from c2s.sources.base import Source
from c2s.sources.natural_items import NaturalParents

Lengths = Callable[[Request], int]
PATTERNS = (".", ". ", ";", ".,", "-", ".-", " .;", "*", "* ", "~")
"""Punctuation without answer symbols or numbers; the first that reaches the length is taken."""
LONGEST = 4096


COPY_PARENTS = NaturalParents(pairs=8)


class PaddedParents(Source):
    """Items whose targets are copied, each with its padding by position."""

    def parents(self, settings: Settings, inputs: Inputs) -> list[Parent]:
        """Raises UsageError where the model's tokenizer is not at hand."""
        lengths = inputs.rendered_tokens
        if lengths is None:
            raise UsageError("the token-padding panel needs a model whose tokenizer is at hand")
        parents = COPY_PARENTS.parents(settings, inputs)
        return [replace(p, payload={**p.payload, "padding": list(paddings(p, Context(settings), lengths))}) for p in parents]

    def outline(self, settings: Settings) -> list[Parent]:
        return COPY_PARENTS.outline(settings)

    def check(self, frozen: Sequence[Parent], settings: Settings) -> list[str]:
        """The items are the bank's; the padding is punctuation, one for each position. Its lengths stand in every outcome."""
        bare = [replace(p, payload={k: v for k, v in p.payload.items() if k != "padding"}) for p in frozen]
        legal = set("".join(PATTERNS))
        wrong = [
            f"{p.id}: the padding is not punctuation for every position"
            for p in frozen
            if len(padding := p.item.get("padding", ())) != p.length or not all(set(text) <= legal for text in padding)
        ]
        return COPY_PARENTS.check(bare, settings) + wrong


def paddings(parent: Parent, ctx: Context, lengths: Lengths) -> Iterator[str]:
    """One padding for each position, computed after the gold prefix. Raises UsageError where no punctuation gives the length."""
    guess = (PATTERNS[0], 1)
    for t in range(1, parent.length + 1):
        prefix = parent.target[: t - 1]
        want = lengths(copy_request(parent, ctx, t, parent.target, "indexed", prefix))
        chosen = _search(guess, want, partial(_padded_tokens, parent, ctx, lengths, t, prefix))
        if chosen is None:
            raise UsageError(
                f"token-padding: no punctuation makes the padded request of {parent.id} as long as the indexed one ({want} tokens)"
            )
        guess = chosen
        yield _repeated(*chosen)


def _padded_tokens(parent: Parent, ctx: Context, lengths: Lengths, t: int, prefix: str, padding: str) -> int:
    """Rendered tokens of one position's request with this padding."""
    padded = replace(parent, payload={**parent.payload, "padding": [padding] * parent.length})
    return lengths(copy_request(padded, ctx, t, parent.target, "matched", prefix))


def _repeated(pattern: str, size: int) -> str:
    return (pattern * (size // len(pattern) + 1))[:size]


def _search(guess: tuple[str, int], want: int, tokens: Callable[[str], int]) -> tuple[str, int] | None:
    """(pattern, characters) whose padding gives `want` tokens: the last answer first, then each pattern by bisection, since a longer
    run of one pattern is rarely fewer tokens, and the sizes around."""
    if tokens(_repeated(*guess)) == want:
        return guess
    for pattern in PATTERNS:
        low, high = 1, 2
        while high < LONGEST and tokens(_repeated(pattern, high)) < want:
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if tokens(_repeated(pattern, middle)) < want else (low, middle)
        for size in sorted(range(max(1, low - 6), low + 7), key=lambda n: abs(n - low)):
            if tokens(_repeated(pattern, size)) == want:
                return pattern, size
    return None


TOKEN_PADDING = Panel(
    name="token-padding",
    what="raw, indexed and token-padded copying of the same targets; every padded request renders to the indexed one's tokens",
    arms=(copy("raw", "raw", "serial"), copy("indexed", "indexed", "serial"), copy("padded", "matched", "serial")),
    source=PaddedParents(),
    endpoints=(
        Endpoint("c2s.reports.choice.token_padding:fidelity"),
        Endpoint(
            "c2s.reports.contrasts:contrasts",
            {"family": "tokens", "pairs": (("indexed", "padded"),), "source": "Table D9, two tests", "measure": "fidelity"},
        ),
        Endpoint("c2s.reports.choice.token_padding:matched"),
    ),
    requires=("tokenizer",),
    seed=20261008,
)
