"""A decision maker with one declared property: the endpoint that measures it finds it, and no other endpoint finds anything.

Twenty parents per domain; `-m slow` runs every effect over all panels of decision models. A latent answer depends on the parent alone, so
arms that differ in nothing declared are answered alike and their contrasts are exactly zero: false alarms are not a matter of luck.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from c2s.backends.simulated.effects import EFFECTS
from c2s.verification import verify

PANELS = (
    "main,turnover,robustness,repeats,union,support,factors,independence,gold-copy,workflows,copying,prefix,own-plan,readout,isomorphic,semantic,"
    "stopping,confidence,projection,lexical-audit"
)
Document = dict[str, Any]


def rows(document: Document, panel: str, section: str, **match: object) -> Iterator[dict[str, Any]]:
    for row in document["panels"][panel]["sections"][section]["rows"]:
        if all(row[key] == value for key, value in match.items()):
            yield row


def significant(panel: str, section: str, **match: object) -> Callable[[Document], bool]:
    return lambda d: any(row["p_holm"] < 0.05 for row in rows(d, panel, section, **match))


DETECTORS: dict[str, Callable[[Document], bool]] = {
    "copying: indexed - raw": significant("copying", "contrasts:copying", contrast="indexed_serial - raw_serial"),
    "copying: batch - independent": significant("copying", "contrasts:copying", contrast="raw_batch - raw_independent"),
    "copying: feedback": significant("copying", "contrasts:feedback"),
    "copying: indexed - padded": significant("copying", "contrasts:bytes"),
    "copying: wrong plan, indexed - raw": significant("copying", "contrasts:wrong plan"),
    "copying: wrong - correct": significant("copying", "contrasts:wrong - correct"),
    "copying: binding": significant("copying", "binding"),
    "copying: every wrong target kept": lambda d: all(
        row["raw"] == row["indexed"] == 1 and row["gold_em"] == 0 for row in rows(d, "copying", "wrong_targets", target="wrong")
    ),
    "workflows: wrong plans kept": lambda d: any(
        row["faithful_and_right"][1] > row["n"] / 4 for row in rows(d, "workflows", "workflows", workflow="SelfPlanSpell")
    ),
    "gold-copy: every target kept": lambda d: all(row["em"] == 1 for row in rows(d, "gold-copy", "accuracy", arm="gold_copy")),
    "gold-copy: what a prefix changes": lambda d: any(
        row["characters_interval"] is not None and row["characters_interval"][0] > 0 for row in rows(d, "gold-copy", "prefix_effects")
    ),
    "own-plan: indexing": significant("own-plan", "contrasts:indexing"),
    "own-plan: interaction": significant("own-plan", "interaction"),
    "prefix: draft": significant("prefix", "contrasts:draft"),
    "prefix: draft x readout": significant("prefix", "interaction"),
    "readout: evidence": lambda d: any(row.get("p_holm", 1) < 0.05 for row in rows(d, "readout", "by_evidence")),
    "readout: names": lambda d: any(
        abs(a["raw"] - b["raw"]) > 0.2
        for a, b in zip(rows(d, "readout", "by_name", names="opaque"), rows(d, "readout", "by_name", names="aligned"), strict=True)
    ),
    "readout: conflict": significant("readout", "conflict_loss"),
    "readout: identity": lambda d: any(row["denied"] < 0.5 for row in rows(d, "readout", "identity")),
    "stopping: premature END": lambda d: any(row["premature_end"] > 0.2 for row in rows(d, "stopping", "categories")),
    "stopping: no END": lambda d: any(row["exhausted"] > 0.2 for row in rows(d, "stopping", "content")),
    "union": significant("union", "contrasts:full/union"),
    "support: trie": significant("support", "contrasts:trie"),
    "support: filling": significant("support", "contrasts:filling"),
    "lexical-audit: recombinations": lambda d: any(
        row["recombinations"] > row["n"] / 5 for row in rows(d, "lexical-audit", "categories", arm="union_call")
    ),
    "factors: choices": significant("factors", "effects", factor="26 - 10 choices"),
    "factors: queries": significant("factors", "effects", factor="6 - 2 queries"),
    "factors: branch": significant("factors", "effects", factor="late - early"),
    "isomorphic: letters - digits": significant("isomorphic", "letters_minus_digits"),
    "robustness": lambda d: any(
        row["change_interval"] is not None and (row["change_interval"][0] > 0 or row["change_interval"][1] < 0)
        for row in rows(d, "robustness", "by_setting")
        if not row["setting"].startswith("repeat")
    ),
    "repeats: choices": lambda d: any(row["same_output"] < 1 for row in rows(d, "repeats", "choice_stability")),
    "confidence: calibration": lambda d: any(
        (row["ece_interval"] or [row["ece"] or 0])[0] > 0.15 for row in rows(d, "confidence", "calibration", score="product")
    ),
    "confidence: ranking": lambda d: any(
        (row["auroc_interval"] or [row["auroc"] or 0])[0] > 0.6 for row in rows(d, "confidence", "discrimination", score="product")
    ),
    "projection: unsupported": lambda d: any(row["unsupported"] > 0.5 for row in rows(d, "projection", "unsupported")),
    "independence: errors come together": lambda d: any(
        row["string_minus_reference"] > 0.15
        for row in d["panels"]["independence"]["sections"]["reference"]["rows"]
        if (row["domain"], row["condition"], row["population"], row["length"]) == ("math", "Independent", "all", "all")
    ),
    "turnover: replaced": lambda d: any(
        row["delta"] < -0.2 and row["gain_mass"] > row["loss_mass"] > 0.2 for row in rows(d, "turnover", "turnover", task="named fields")
    ),
}

FOUND_BY = {
    "none": (),
    "indexing": (
        "copying: indexed - raw", "copying: indexed - padded", "copying: wrong plan, indexed - raw", "own-plan: indexing",
        "readout: evidence",
    ),
    "longer": ("copying: indexed - raw", "copying: wrong plan, indexed - raw", "own-plan: indexing"),
    "indexed_feedback": (
        "copying: indexed - raw", "copying: indexed - padded", "copying: wrong plan, indexed - raw", "copying: feedback",
        "own-plan: indexing", "own-plan: interaction",
    ),
    "batch": ("copying: batch - independent",),
    "feedback": ("copying: feedback",),
    "opaque": ("copying: binding", "readout: names"),
    "conflict": ("readout: conflict",),
    "denial": ("readout: identity",),
    "pairs": ("union", "support: trie"),
    "roaming": ("union", "support: trie", "lexical-audit: recombinations"),
    "alone": ("support: trie", "support: filling"),
    "premature_end": ("stopping: premature END",),
    "endless": ("stopping: no END",),
    "copier": ("copying: every wrong target kept", "workflows: wrong plans kept", "gold-copy: every target kept"),
    "led": ("gold-copy: what a prefix changes", "prefix: draft x readout"),  # a draft with an error leads astray
    "solver": ("copying: wrong - correct",),
    "overconfident": ("confidence: calibration",),
    "informed": ("confidence: ranking",),
    "stray": ("projection: unsupported",),
    "draft": ("prefix: draft", "prefix: draft x readout"),
    "lost": ("lexical-audit: recombinations", "independence: errors come together"),
    "template": ("robustness",),
    "unstable": ("repeats: choices",),
    "letters": ("isomorphic: letters - digits",),
    "alphabet": ("factors: choices",),
    "depth": ("factors: queries",),
    "late": ("factors: branch",),
    "turnover": ("turnover: replaced",),
}  # fmt: skip


def found(document: Document) -> list[str]:
    return [name for name, finds in DETECTORS.items() if panel_of(name) in document["panels"] and finds(document)]


def panel_of(detector: str) -> str:
    return detector.partition(":")[0]


def run(c2s, folder: Path, effect: str, panels: str) -> Document:
    code, out, _ = c2s("run", "--panel", panels, "--model", f"sim:effect?name={effect}", "--limit", 20, "--out", folder / "run", "--json")
    assert code == 0
    return json.loads(out)


def test_without_an_effect_nothing_is_found(c2s, memory_path: Path):
    assert found(run(c2s, memory_path, "none", PANELS)) == []


@pytest.mark.parametrize("effect", [effect for effect in EFFECTS if effect != "none"])
def test_an_effect_is_found_by_its_own_endpoints(effect: str, c2s, memory_path: Path):
    """On the panels of its endpoints, all of whose other endpoints stay silent."""
    panels = dict.fromkeys([*map(panel_of, FOUND_BY[effect]), "prefix", "stopping", "semantic"])
    document = run(c2s, memory_path, effect, ",".join(panels))
    assert found(document) == [name for name in DETECTORS if name in FOUND_BY[effect]]


@pytest.mark.slow
@pytest.mark.parametrize("effect", EFFECTS)
def test_an_effect_is_found_by_its_own_endpoints_and_by_no_other(effect: str, c2s, memory_path: Path):
    assert found(run(c2s, memory_path, effect, PANELS)) == [name for name in DETECTORS if name in FOUND_BY[effect]]


def test_a_run_over_every_panel_verifies(c2s, memory_path: Path):
    code, _, _ = c2s("run", "--panel", "all", "--model", "sim:effect?name=copier", "--limit", 2, "--out", memory_path / "run", "--json")
    assert code == 0 and verify(memory_path / "run").differences == []


def test_every_effect_has_its_finders_and_every_detector_finds_something():
    assert set(FOUND_BY) == set(EFFECTS)
    assert {name for found in FOUND_BY.values() for name in found} == set(DETECTORS)


def test_independent_errors_agree_with_the_independence_reference(c2s, memory_path: Path):
    code, out, _ = c2s(
        "run", "--panel", "independence", "--domain", "math", "--model", "sim:positions?p=0.9&native=0.9", "--limit", 120,
        "--out", memory_path / "run", "--json",
    )  # fmt: skip
    document = json.loads(out)
    assert code == 0 and document["panel"] == "independence" and sorted(document["used"]) == ["gold-copy", "main"]
    for row in document["sections"]["reference"]["rows"]:
        if row["population"] == "all" and row["length"] == "all":
            low, high = row["string_minus_reference_interval"] or [row["string_minus_reference"]] * 2
            assert low <= 0 <= high
