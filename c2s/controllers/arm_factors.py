"""What an arm varies, as typed facts: the vocabulary of `Arm.factors`.

An arm's name is only a label in ledgers and reports. Everything that code has to know about an arm stands in its factors.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from c2s.presentation.encode import PRESENTATIONS
from c2s.presentation.names import NAMINGS

Factor = str | int
Factors = Mapping[str, Factor]

FACTORS: Mapping[str, tuple[Factor, ...]] = MappingProxyType(
    {
        # How the answer is asked for.
        "interface": (
            "native", "candidates_only", "independent", "serial", "teacher_forced", "serial_with_end", "whole_generate", "prefix_continue",
            "gold_copy", "self_plan_spell", "copy", "draft", "readout", "identity", "rendering",
            "joint", "history_recompute", "rollout", "oracle", "verdict",
        ),
        # The wording of the instruction: "run" is the template of the run's settings; T0 to T2 are the wordings of matched generation.
        "template": ("run", "v1", "v2", "v3", "T0", "T1", "T2"),
        # Which keyed displayed order of the options; 0 is the reference.
        "order": (0, 1, 2),
        # Which characters Serial offers, and by which support positions with one possible character are supplied without a request.
        "support": ("full", "union", "trie"),
        "fill": ("none", "union", "trie"),
        # Offered symbols and queried positions of the long symbolic items.
        "choices": (10, 26),
        "queries": (2, 6),
        # What is shown of a supplied string, how its positions are asked, where the string comes from, what its options are called.
        "evidence": ("raw", "indexed", "padded", "matched", "direct"),
        "controller": ("independent", "serial", "batch", "one_position"),
        "supplied": ("gold", "wrong", "own"),
        "names": ("literal", *NAMINGS),
        # One position of a supplied string, written as its choice code or as the character.
        "output": ("code", "character"),
        # The draft that an item shows, and what is asked beside it.
        "draft": ("correct", "error"),
        "readout": ("whole", "local"),
        # One of the several forms in which a symbolic or semantic parent is presented, and what that form is.
        "variant": (
            "copy_digits", "reverse_digits", "copy_letters", "reverse_letters", "copy_second", "reverse_second",
            "named", "binary", "early", "late",
        ),
        "operation": ("copy", "reverse"),
        "encoding": ("digits", "letters", "second"),
        # The texts and displayed order of a dialogue.
        "version": ("original", "paraphrase", "permuted"),
        # The judge study: the grading rule, the member order of the request's bytes, and what the candidate says.
        "contract": ("FINAL3", "FINAL4", "RUBRIC"),
        "presentation": PRESENTATIONS,
        "condition": (
            "random", "random_colon", "bare_correct", "bare_wrong", "wrong_final", "valid_revision",
            "no_answer_fixture", "unresolved_fixture", "blank", "colon", "actual", "correct_answer", "bare_x", "bare_y",
        ),
        # The value that the trusted reference holds in a reference switch, and the earlier value of a formatting probe.
        "world": ("x", "y"),
        "earlier": ("match", "other", "none"),
    }
)  # fmt: skip
"""Factor -> the values that it takes in the panels of this package. Panels of other packages may bring factors of their own."""


def has_factors(factors: Factors, wanted: Factors) -> bool:
    """Whether `factors` has every value in `wanted`."""
    return all(factors.get(name) == value for name, value in wanted.items())
