"""The golden requests of the decision panels, and of those of models that write text, as docs/protocol.md prints them.

`PYTHONPATH=tests python tests/support/golden.py` writes the section anew; the diff is then read and committed on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from support.panels import SETTINGS, play, truth

from c2s.controllers.program import ParentProgram
from c2s.dialects import dialect
from c2s.dialects.systemone import SystemOne
from c2s.panels.choice.workflows import plans
from c2s.panels.registry import PANELS
from c2s.records import Answer, Ask, Choice, Outcome, Parent, Request
from c2s.settings import Inputs

PROTOCOL = Path(__file__).parents[2] / "docs/protocol.md"
BEGIN, END = "<!-- golden requests of the decision panels -->\n", "<!-- end of golden requests -->\n"
WRITERS_BEGIN, WRITERS_END = "<!-- golden requests of models that write -->\n", "<!-- end of golden requests of models that write -->\n"
MODEL = "jev-1.13.0"

SHOWN = {
    "main": ("native", "candidates_only", "independent", "serial"),
    "gold-copy": ("gold_copy", "teacher_forced"),
    "workflows": ("self_plan_spell",),
    "robustness": ("native_v2", "independent_v2", "serial_v3"),
    "support": ("union_call", "union_fill", "trie_call", "trie_fill", "full_fill"),
    "copying": (
        "raw_independent", "raw_serial", "raw_batch", "indexed_serial", "padded_serial", "wrong_indexed", "opaque_raw",
    ),
    "prefix": ("whole_error", "local_error"),
    "readout": ("raw_opaque", "indexed_remapped", "direct_aligned", "raw_conflicting", "identity"),
    "stopping": ("serial_with_end",),
    "isomorphic": ("native_reverse_letters", "serial_reverse_letters"),
    "factors": ("native_early", "early_10_2", "late_26_6"),
    "semantic": ("native_named", "serial_named", "serial_binary"),
}  # fmt: skip
"""Panel -> the arms that are printed; arms left out send the same requests as one that is shown."""


def parent_of(name: str) -> Parent:
    """The first arithmetic item of length 3 in the plan's order, or the panel's first own source."""
    panel = PANELS[name]
    settings = replace(SETTINGS, domain="math" if "math" in panel.domains else None)
    parent = next(
        p for p in panel.source.parents(settings, Inputs(rendered_tokens=by_bytes)) if p.length == 3 or "math" not in panel.domains
    )
    if panel.prepare is not None:
        native = Outcome("native", output=parent.target, correct=True)
        added = plans([parent], {"main": {parent.id: [native]}}, settings)
        parent = Parent(parent.id, parent.domain, parent.length, {**parent.payload, **added[parent.id]}, parent.pair)
    return parent


def by_bytes(request: Request) -> int:
    """A length for token padding without a tokenizer: the bytes of the request."""
    return len(dialect("chat-direct").encode(Ask(1, request), "MODEL"))


def golden() -> Iterator[tuple[str, str]]:
    """(panel and arm, the bytes of its second request, or of its only one)."""
    for name, arms in SHOWN.items():
        parent = parent_of(name)
        _, asked = play(parent, PANELS[name].arms, truth)
        for arm in arms:
            asks = [ask for slot, ask in asked if slot.arm == arm and slot.instance == 0]
            ask = asks[1] if len(asks) > 1 and arm != "identity" else asks[0]
            yield f"`{name}`, `{arm}`, step {ask.step}", SystemOne().encode(ask, MODEL).decode()


WRITERS = {
    "main": (
        ("native", "chat-direct:nothink"),
        ("serial", "chat-direct:nothink"),
        ("native", "chat-code-readout"),
        ("serial", "chat-code-readout"),
    ),
    "support": (("trie_call", "chat-direct"),),
    "factors": (("early_10_2", "chat-direct"),),
    "copying": (("raw_batch", "chat-direct"), ("opaque_raw", "chat-direct")),
    "readout": (("indexed_remapped", "chat-code-readout"),),
    "templates": (("serial_v2", "chat-direct"),),
    "whole-answer": (("whole_generate", "chat-code-readout"),),
    "continuous": (("whole_generate", "chat-direct"), ("position", "chat-code-readout"), ("prefix_continue", "chat-direct")),
    "generation": (("raw_code", "chat-direct"), ("direct_character", "chat-direct")),
    "grid": (("indexed_code_T1_O0", "chat-direct"), ("indexed_character_T2_O1", "chat-direct:nothink")),
    "token-padding": (("padded", "chat-direct"),),
}
"""Panel -> arms with the dialect of the model."""


def written() -> Iterator[tuple[str, str]]:
    """The same for models that write text; the arms of a demanded contract send it whatever the model's own."""
    for name, shown in WRITERS.items():
        parent = parent_of(name)
        for arm, wire in shown:
            program = ParentProgram(name, PANELS[name].arms, parent, SETTINGS)
            asks = [(slot, ask) for slot, ask in program.start() if slot.arm == arm]
            slot, ask = asks[0]
            right = Answer({q: Choice(value, True, text=value) for q, value in ask.truth.items()})
            ask = next(
                (later for other, later in program.receive(slot, right) if other.arm == arm), ask
            )  # the second step, where there is one
            yield f"`{name}`, `{arm}`, step {ask.step}, {wire}", dialect(wire).encode(ask, "MODEL").decode()


def section(found: Iterable[tuple[str, str]], begin: str, end: str) -> str:
    parts = [f"{title}:\n\n    {body}\n" for title, body in found]
    return begin + "\n" + "\n".join(parts) + "\n" + end


def sections() -> list[tuple[str, str, str]]:
    """(begin, end, the whole section) of each."""
    return [(b, e, section(found(), b, e)) for found, b, e in ((golden, BEGIN, END), (written, WRITERS_BEGIN, WRITERS_END))]


if __name__ == "__main__":  # run from the repository root with PYTHONPATH=tests
    text = PROTOCOL.read_text()
    for begin, end, whole in sections():
        start, stop = text.index(begin), text.index(end) + len(end)
        text = text[:start] + whole + text[stop:]
    PROTOCOL.write_text(text)
