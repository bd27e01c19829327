"""Symbolic, long and semantic sources: strata, geometry, encodings, frozen bytes, and the arms that ask about them."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest
from support.panels import play, truth

from c2s.banks import semantic, symbolic
from c2s.banks.datafile import load_data
from c2s.panels.registry import PANELS
from c2s.planning.plan import make_plan
from c2s.records import Parent
from c2s.settings import Settings

ISO, LONG, FACTS = (load_data(path).rows for path in (symbolic.ISOMORPHIC_FILE, symbolic.LONG_FILE, semantic.SEMANTIC_FILE))


def parents(name: str, **settings: object) -> list[Parent]:
    return [parent for _, parent in make_plan([PANELS[name]], Settings(**settings)).parents]


@pytest.mark.parametrize(("path", "make"), [*symbolic.FILES.items(), *semantic.FILES.items()], ids=lambda x: getattr(x, "name", ""))
def test_the_frozen_files_are_what_their_makers_make(path, make):
    assert path.read_bytes() == make()


def test_bases_are_stratified_by_length_repetition_and_profile():
    assert Counter((r["length"], r["repeated"], r["profile"]) for r in ISO) == {
        (n, r, p): 5 for n in range(3, 9) for r in (False, True) for p in ("early", "late")
    }
    assert all(
        (len(set(r["source"])) < r["length"]) == r["repeated"] and r["depth"] == (2 if r["profile"] == "early" else r["length"])
        for r in ISO
    )
    assert len({r["source"] for r in ISO}) == 120 and Counter(r["length"] for r in ISO if r["second"]) == {n: 2 for n in range(3, 9)}


def test_candidates_have_the_geometry_that_is_stated():
    assert list(symbolic.check_rows(ISO)) == [] and list(symbolic.check_rows(LONG)) == []
    damaged = [{**LONG[0], "candidates": {**LONG[0]["candidates"], "early": LONG[0]["candidates"]["late"]}}]
    assert len(list(symbolic.check_rows(damaged))) == 2


def test_encodings_are_bijections_with_matched_stored_and_displayed_order():
    for encoding in symbolic.ENCODINGS.values():
        assert len(set(encoding)) == 10
    base = next(p for p in parents("isomorphic") if p.payload["second"])
    outcomes, asked = play(base, PANELS["isomorphic"].arms, truth)
    assert len(outcomes) == 12 and all(o.correct for o in outcomes.values())
    shown = {(slot.arm, slot.step): list(ask.request.questions["answer"].options) for slot, ask in asked}
    for (arm, step), options in shown.items():
        if arm.endswith("_digits"):
            for encoding in ("letters", "second"):
                other = shown[arm.replace("digits", encoding), step]
                assert other == [symbolic.encoded(option, encoding) for option in options]
    plain = next(p for p in parents("isomorphic") if not p.payload["second"])
    assert len(PANELS["isomorphic"].slots(plain)) == 4 * (1 + plain.length)


def test_factors_make_1088_requests_and_share_native():
    """D.7: 32 sources x 2 presentations x (Native + 2 alphabets x (2 + 6) queries)."""
    found = Counter(slot.arm for p in parents("factors") for slot in PANELS["factors"].slots(p))
    assert sum(found.values()) == 1088
    assert found["native_early"] == found["native_late"] == 32
    assert found["early_26_6"] == found["late_10_6"] == 192 and found["early_10_2"] == 64


def test_factor_arms_ask_the_positions_and_symbols_that_they_name():
    source = parents("factors")[0]
    outcomes, asked = play(source, PANELS["factors"].arms, truth)
    assert all(o.correct and len(o.output) == 12 for o in outcomes.values() if o.arm)
    steps = {arm: [slot.step for slot, _ in asked if slot.arm == arm] for arm in outcomes}
    assert steps["early_10_2"] == [2, 3] and steps["late_26_2"] == [10, 11]
    assert steps["early_26_6"] == [1, 2, 3, 4, 8, 12] and steps["late_10_6"] == [1, 4, 8, 10, 11, 12]
    sizes = {(slot.arm, slot.step): len(ask.request.questions["answer"].options) for slot, ask in asked}
    assert {sizes["early_10_6", t] for t in (1, 2, 3)} == {10} and {sizes["early_26_6", t] for t in (1, 2, 3)} == {26}
    states = {(slot.arm, slot.step): orjson.loads(ask.request.state) for slot, ask in asked}
    assert states["late_10_2", 10]["current_prefix"] == source.target[:9]  # supplied from singleton unions, not from the gold
    assert outcomes["late_10_2"].detail["filled"] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 12]


def test_records_are_sixteen_per_pattern_and_say_what_is_so():
    assert Counter(r["pattern"] for r in FACTS) == {p: 16 for p in semantic.PATTERNS} and len(FACTS) == 128
    for row in FACTS:
        for field, bit in zip(row["fields"], row["pattern"], strict=True):
            assert (f" is {field}." in row["facts"]) == (bit == "1") and (f" is not {field}." in row["facts"]) == (bit == "0")
        assert row["facts"].startswith(f"The {row['thing']} is ") and row["facts"].count(" is ") == 3


def test_both_outputs_are_built_by_three_two_option_decisions():
    record = parents("semantic")[0]
    outcomes, asked = play(record, PANELS["semantic"].arms, truth)
    assert all(o.correct for o in outcomes.values()) and len(asked) == 2 * (1 + 3)
    local = [(slot, ask) for slot, ask in asked if slot.arm.startswith("serial")]
    assert {slot.arm: set(ask.request.questions["answer"].options) for slot, ask in local} == {
        "serial_named": {"true", "false"},
        "serial_binary": {"0", "1"},
    }
    named = [orjson.loads(ask.request.state)["current_prefix"] for slot, ask in local if slot.arm == "serial_named"]
    pieces = outcomes["serial_named"].output.split("; ")
    assert named == ["", f"{pieces[0]}; ", f"{pieces[0]}; {pieces[1]}; "]
    assert outcomes["native_named"].output == outcomes["serial_named"].output
    wrong, _ = play(
        record,
        PANELS["semantic"].arms,
        lambda slot, ask: (
            next(o for o in ask.request.questions["answer"].options if o != ask.truth["answer"]) if slot.step == 2 else dict(ask.truth)
        ),
    )
    assert wrong["serial_named"].first_wrong == 2 and wrong["serial_binary"].first_wrong == 2


def test_readout_has_144_records_in_132_clusters():
    found = parents("readout", domain="math") + parents("readout", domain="symbolic")
    assert Counter(p.domain for p in found) == {"math": 60, "symbolic": 12}
    assert sum(len(p.payload["records"]) for p in found) + 60 == 144
    pair = next(p for p in found if p.domain == "symbolic").payload["records"]
    assert pair[0]["position"] == pair[1]["position"] and pair[1]["target"] == symbolic.encoded(pair[0]["target"], "letters")
    assert pair[1]["other"] == symbolic.encoded(pair[0]["other"], "letters")


def test_a_limited_symbolic_run_is_a_balanced_prefix():
    whole, part = parents("isomorphic"), parents("isomorphic", limit=24)
    assert part == whole[:24] and len({p.payload["stratum_of_bootstrap"] for p in part}) == 24
    assert parents("isomorphic", domain="symbolic") == whole
