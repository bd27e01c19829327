"""Full, union and trie supports crossed with filling, on the same items (appendix D.6, Figure 12, Table D16's outputs)."""

from __future__ import annotations

from c2s.controllers.whole_and_local import serial, whole
from c2s.panels.base import Endpoint, Panel
from c2s.panels.retention import retention
from c2s.sources.natural_items import MAIN_PARENTS

LOCAL = ("full", "union_call", "union_fill", "trie_call", "trie_fill", "full_fill")

SUPPORT = Panel(
    name="support",
    what="fresh Native and six controllers: full, union or trie support, singletons asked or supplied",
    arms=(
        whole(),
        serial("full"),
        serial("union_call", support="union"),
        serial("union_fill", support="union", fill="union"),
        serial("trie_call", support="trie"),
        serial("trie_fill", support="trie", fill="trie"),
        serial("full_fill", fill="union"),
    ),
    source=MAIN_PARENTS,
    pair=("native", "full"),
    endpoints=(
        *retention(in_json=("accuracy", "transitions")),
        Endpoint("c2s.reports.retained:retained", {"native": "native", "arms": LOCAL, "source": "Figure 12"}),
        Endpoint(
            "c2s.reports.contrasts:contrasts",
            {"family": "trie", "pairs": (("trie_call", "full"), ("trie_call", "union_call")), "source": "D.6, eight TrieCall contrasts"},
        ),
        Endpoint(
            "c2s.reports.contrasts:contrasts",
            {
                "family": "filling",
                "pairs": (("union_fill", "union_call"), ("trie_fill", "trie_call"), ("full_fill", "full")),
                "source": "D.6, twelve filling contrasts",
            },
        ),
        Endpoint("c2s.reports.contrasts:between_domains", {"arms": ("full", "union_call", "trie_call"), "source": "D.6"}),
        Endpoint("c2s.reports.choice.support:calls_and_membership", {"arms": LOCAL, "source": "D.6"}),
    ),
    draws=9_999,
    seed=20261010,
    requires=("singletons",),
    schedule="round:20261010",
)
