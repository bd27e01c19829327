"""CASES.md 11 to 19 and the part of 26 that belongs here: failures that peers had."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from support.tables import expand

from c2s import stats
from c2s.errors import InputError


def test_case_11_mcnemar_without_discordance_and_never_above_one():
    assert stats.mcnemar_exact(0, 0) == 1.0
    assert stats.mcnemar_exact(1, 0) == stats.mcnemar_exact(0, 1) == 1.0
    assert stats.mcnemar_exact(3, 3) == 1.0
    assert stats.mcnemar_exact(50, 0) == 1.7763568394002505e-15
    b, c = np.meshgrid(np.arange(60), np.arange(60))
    p = stats.mcnemar_exact(b, c)
    assert p.shape == (60, 60) and (p > 0).all() and (p <= 1).all() and (p == p.T).all()


def test_case_12_holm_is_monotone_keeps_names_and_the_planned_family():
    assert list(stats.holm({"x": 0.01, "y": 0.011}).values()) == [0.02, 0.02]
    assert list(stats.holm({"x": 0.011, "y": 0.01}).items()) == [("x", 0.02), ("y", 0.02)]
    assert list(stats.holm(dict.fromkeys("abc", 0.02)).values()) == [0.06, 0.06, 0.06]
    found = stats.holm({"ran": 0.004, "skipped": None, "also": 0.03})
    assert found.m == 3 and found.not_run == {"skipped"} and found["skipped"] == 1.0
    assert list(found) == ["ran", "skipped", "also"] and found["ran"] == 0.012 and found["also"] == 0.06
    assert found.raw["skipped"] is None
    planned = stats.holm({"ran": 0.004}, planned=["ran", "never", "neither"])
    assert planned.m == 3 and planned["ran"] == 0.012 and planned.not_run == {"never", "neither"}


@pytest.mark.parametrize("method", ["exact", "multinomial", "items"])
@pytest.mark.parametrize(("kept", "native"), [(0, 59), (0, 363), (384, 384)])
def test_case_13_boundary_cells_are_marked_and_carry_clopper_pearson(kept, native, method):
    a, b, _ = expand([(kept, native - kept, 0, 384 - native)])
    found = stats.bootstrap_scr(a, b, method=method, draws=2000)
    assert found.degenerate and found.low == found.high == found.estimate == kept / native
    assert found.standard_error == 0.0 and f"{kept}/{native}" in found.note
    assert found.clopper_pearson == stats.clopper_pearson(kept, native)
    assert found.clopper_pearson.low < found.clopper_pearson.high


def test_case_13_identical_and_empty_arms():
    same = stats.bootstrap_paired_difference([1, 0, 1, 1], [1, 0, 1, 1])
    assert same.degenerate and (same.low, same.high, same.estimate) == (0.0, 0.0, 0.0)
    scr = stats.bootstrap_scr([1, 0, 1], [1, 0, 1])
    assert scr.degenerate and scr.estimate == 1.0 and scr.clopper_pearson.low == stats.clopper_pearson(2, 2).low
    empty = stats.bootstrap_scr([], [])
    assert empty.estimate is None and empty.low is None and "no Native success" in empty.note
    assert stats.bootstrap_mean([]).note == "undefined (no items)"
    # A stratum that never varies beside one that does is no boundary.
    assert not stats.bootstrap_scr(*expand([(0, 5, 0, 0), (2, 3, 0, 0)])).degenerate
    # Strata that are each constant are one, although the pooled rate is 1/2.
    assert stats.bootstrap_mean([0, 0, 1, 1], [0, 0, 1, 1]).degenerate
    for method in ("exact", "multinomial", "items"):
        single = stats.bootstrap_scr([1] * 5, [1, 1, 0, 0, 0], list("abcde"), method=method, draws=500)
        assert single.degenerate and single.clopper_pearson == stats.clopper_pearson(2, 5) and "2/5" in single.note


@pytest.mark.parametrize("method", ["exact", "multinomial", "items"])
def test_case_14_one_native_success_among_five(method):
    native, serial = [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]
    found = stats.bootstrap_scr(native, serial, method=method, draws=20_000)
    assert found.undefined_share == pytest.approx(0.8**5, abs=0.02 if method != "exact" else 1e-12)
    assert (found.low, found.high) == (0.0, 0.0) and "undefined (no Native success)" in found.note
    if method != "exact":
        assert found.draws == 20_000 and found.undefined == int(found.undefined) > 0
    withheld = stats.bootstrap_scr(native, serial, method=method, draws=20_000, withhold_above=0.2)
    assert withheld.low is None and withheld.high is None and withheld.estimate == 0.0 and "withheld" in withheld.note
    assert withheld.undefined == found.undefined
    assert "NaN" not in json.dumps(withheld.as_dict()) + json.dumps(found.as_dict())


def test_case_15_the_standard_error_does_not_shrink_with_the_draws():
    values = np.r_[np.ones(60), np.zeros(40)]
    for draws in (1_000, 10_000):
        for method in ("multinomial", "items"):
            found = stats.bootstrap_mean(values, draws=draws, method=method, seed=3)
            assert found.standard_error == pytest.approx(0.049, abs=0.003)
            assert found.draws == draws
    assert stats.bootstrap_mean(values).standard_error == pytest.approx((0.6 * 0.4 / 100) ** 0.5, rel=1e-11)
    seen = []
    stats.bootstrap_mean(values, draws=1_001, method="items", progress=lambda done, planned: seen.append((done, planned)))
    assert seen[-1] == (1_001, 1_001)


def test_case_16_ties_do_not_depend_on_order():
    scores, outcomes = [0.9] * 4 + [0.5] * 2, [1, 1, 0, 0, 1, 0]

    def metrics(order):
        s, y = [scores[i] for i in order], [outcomes[i] for i in order]
        return (
            stats.auroc(s, y),
            stats.average_precision(s, y),
            stats.precision_at_coverage(s, y, 0.1),
            stats.precision_at_coverage(s, y, 0.75),
            stats.expected_calibration_error(s, y),
        )

    expected = metrics(range(6))
    assert expected[0] == 0.5 and expected[1] == pytest.approx(0.5) and expected[2] == 0.5
    assert {metrics(order) for order in itertools.permutations(range(6))} == {expected}
    drawn = [
        stats.bootstrap_scores([scores[i] for i in order], [outcomes[i] for i in order], draws=500, seed=1)["score"]["auroc"]
        for order in ((0, 1, 2, 3, 4, 5), (5, 3, 1, 0, 2, 4), (4, 5, 0, 1, 2, 3))
    ]
    assert drawn[0] == drawn[1] == drawn[2]


def test_case_17_one_class_is_undefined_with_a_reason_and_null():
    assert stats.auroc([0.1, 0.9], [1, 1]) is None and stats.average_precision([0.1, 0.9], [0, 0]) is None
    found = stats.bootstrap_scores([0.1, 0.9, 0.4], [1, 1, 1], draws=100)["score"]
    for metric in ("auroc", "ap"):
        interval = found[metric]
        assert interval.estimate is None and interval.low is None and interval.undefined == 100
        assert "one class only" in interval.note
        assert json.loads(json.dumps(interval.as_dict()))["estimate"] is None
    assert found["brier"].estimate == pytest.approx((0.81 + 0.01 + 0.36) / 3)
    rare = stats.bootstrap_scores([0.1, 0.9, 0.4, 0.3], [0, 1, 0, 0], draws=5000, seed=2)["score"]["auroc"]
    assert rare.estimate == 1.0 and rare.undefined / 5000 == pytest.approx(0.75**4, abs=0.03) and "one class only" in rare.note


def test_case_18_returned_choice_argmax_and_a_missing_probability():
    """The returned choice is the outcome; the argmax by displayed order stands beside it; NaN is an error."""
    tied = stats.compare_choices(["b", "a"], [[0.2, 0.8], [0.5, 0.5]], options=[["a", "b"], ["b", "a"]])
    assert tied.returned == ("b", "a") and tied.argmax == ("b", "b") and tied.tied == (False, True)
    assert tied.disagrees == (False, True) and tied.disagreements == 1
    off = stats.compare_choices(["c"], [[0.9, 0.1]], options=[["a", "b"]])
    assert off.argmax == ("a",) and off.disagrees == (True,)
    with pytest.raises(InputError, match=r"probabilities\[0\]\[1\] is nan"):
        stats.compare_choices(["a"], [[0.5, float("nan")]], options=[["a", "b"]])
    with pytest.raises(InputError, match=r"not finite"):
        stats.bootstrap_scores([0.5, float("nan")], [0, 1])
    with pytest.raises(InputError, match=r"not finite"):
        stats.auroc([0.5, float("nan")], [0, 1])


def test_case_19_pairs_are_joined_on_their_id():
    native = [("p1", 1), ("p2", 0), ("p3", 1), ("p4", 1)]
    serial = [("p3", 0), ("p5", 1), ("p1", 1), ("p2", 0)]
    joined = stats.join_on_id(native, serial)
    assert joined.ids == ("p1", "p2", "p3") and joined.left == (1, 0, 1) and joined.right == (1, 0, 0)
    assert joined.only_left == ("p4",) and joined.only_right == ("p5",) and joined.dropped == 2
    assert stats.joint_counts(joined.left, joined.right) == stats.JointCounts(1, 1, 0, 1)
    with pytest.raises(InputError, match="right: id 'p3' occurs more than once"):
        stats.join_on_id(native, [*serial, ("p3", 1)])
    assert stats.join_on_id({"p1": 1}, {"p1": 0}).ids == ("p1",)


WORK = {
    "items": "stats.bootstrap_mean(x, method='items', draws=10**8, progress=tell)",
    "cells": "stats.bootstrap_scr(a, b, method='multinomial', draws=4 * 10**8, progress=tell)",
    "scores": "stats.bootstrap_scores(x, a, draws=10**7, progress=tell)",
    "signs": "stats.sign_flip(x, draws=10**9, progress=tell)",
    "exact": "[stats.bootstrap_scr(big_a, big_b, method='exact') for _ in range(1000) if tell(0, 0) is None]",
}


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("kind", WORK)
def test_case_26_ctrl_c_stops_within_a_third_of_a_second(kind):
    """A subprocess is interrupted once its kernel runs; the time from the signal to the end of the call is printed by the subprocess."""
    code = textwrap.dedent(f"""
        import signal, sys, time
        import numpy as np
        from c2s import stats
        rng = np.random.default_rng(0)
        x, a, b = rng.random(5000), rng.random(5000) < 0.5, rng.random(5000) < 0.5
        big_a, big_b = rng.random(28_000) < 0.5, rng.random(28_000) < 0.5
        at = []
        signal.signal(signal.SIGINT, lambda *_: (at.append(time.perf_counter()), signal.default_int_handler(*_)))
        told = []
        def tell(done, planned):
            if not told:
                print("running", flush=True)
            told.append(done)
        try:
            {WORK[kind]}
            print("finished")
        except KeyboardInterrupt:
            print(time.perf_counter())
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "running\n"
        time.sleep(0.1)
        sent = time.perf_counter()  # CLOCK_MONOTONIC, shared by all processes of the machine
        child.send_signal(signal.SIGINT)
        stopped = child.stdout.readline().strip()
    assert stopped not in ("finished", "")
    assert float(stopped) - sent < 0.3
