"""The golden requests of the decision panels as docs/protocol.md prints them.

`PYTHONPATH=tests python tests/support/golden.py` writes the section anew; the diff is then read and committed on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from support.panels import SETTINGS, play, truth

from c2s.dialects.systemone import SystemOne
from c2s.panels.registry import PANELS
from c2s.panels.workflows import plans
from c2s.records import Outcome, Parent

PROTOCOL = Path(__file__).parents[2] / "docs/protocol.md"
BEGIN, END = "<!-- golden requests of the decision panels -->\n", "<!-- end of golden requests -->\n"
MODEL = "jev-1.13.0"

SHOWN = {
    "main": ("native", "candidates_only", "independent", "serial"),
    "gold-copy": ("gold_copy", "teacher_forced"),
    "workflows": ("self_plan_spell",),
    "robustness": ("native_v2", "serial_v3"),
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
    settings = {**SETTINGS, "domain": "math" if "math" in panel.domains else None}
    parent = next(p for p in panel.parents(settings) if p.length == 3 or "math" not in panel.domains)
    if panel.prepare is not None:
        native = Outcome("native", output=parent.target, correct=True)
        added = plans([parent], {"main": {parent.id: [native]}}, settings)
        parent = Parent(parent.id, parent.domain, parent.length, {**parent.payload, **added[parent.id]}, parent.pair)
    return parent


def golden() -> Iterator[tuple[str, str]]:
    """(panel and arm, the bytes of its second request, or of its only one)."""
    for name, arms in SHOWN.items():
        parent = parent_of(name)
        _, asked = play(parent, PANELS[name].arms, truth)
        for arm in arms:
            asks = [ask for slot, ask in asked if slot.arm == arm and slot.replicate == 0]
            ask = asks[1] if len(asks) > 1 and arm != "identity" else asks[0]
            yield f"`{name}`, `{arm}`, step {ask.step}", SystemOne().encode(ask, MODEL).decode()


def section() -> str:
    parts = [f"{title}:\n\n    {body}\n" for title, body in golden()]
    return BEGIN + "\n" + "\n".join(parts) + "\n" + END


if __name__ == "__main__":  # run from the repository root with PYTHONPATH=tests
    text = PROTOCOL.read_text()
    start, stop = text.index(BEGIN), text.index(END) + len(END)
    PROTOCOL.write_text(text[:start] + section() + text[stop:])
