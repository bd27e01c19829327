"""The printed figures of Choice2Seq's Tables C1 to C5 that follow from one another or from counts.

Not recomputable: mean-turn and mean-field accuracies and their intervals (per-dialogue values are not printed), C5's retention (it
weighs dialogues; 423/429 is 98.6 and 98.5 is printed) and C2's intervals: the whole-dialogue ones are narrower than an unstratified
bootstrap of any counts with that difference (StartLux final: 12 of 96), so strata were used that are not printed.
"""

from __future__ import annotations

import numpy as np
import pytest

from c2s import stats

N = 96
C1 = {  # trajectory, mean turn, final, in percent
    ("jev", "history"): (27.1, 75.3, 53.1), ("jev", "oracle"): (33.3, 83.2, 68.8), ("jev", "rollout"): (33.3, 77.0, 61.5),
    ("startlux", "history"): (25.0, 69.7, 59.4), ("startlux", "oracle"): (30.2, 80.6, 71.9), ("startlux", "rollout"): (30.2, 71.9, 59.4),
    ("qwen", "history"): (30.2, 76.3, 58.3), ("qwen", "oracle"): (26.0, 80.0, 61.5), ("qwen", "rollout"): (26.0, 73.5, 53.1),
}  # fmt: skip
C3 = {  # failed, any recovery, final recovery
    ("jev", "history"): (70, 36, 25), ("jev", "oracle"): (64, 47, 34), ("jev", "rollout"): (64, 36, 27),
    ("startlux", "history"): (72, 47, 33), ("startlux", "oracle"): (67, 56, 40), ("startlux", "rollout"): (67, 38, 28),
    ("qwen", "history"): (67, 37, 27), ("qwen", "oracle"): (71, 47, 34), ("qwen", "rollout"): (71, 33, 26),
}  # fmt: skip
C2 = {("jev", "mean"): 6.2, ("jev", "final"): 7.3, ("startlux", "mean"): 8.7, ("startlux", "final"): 12.5, ("qwen", "mean"): 6.5, ("qwen", "final"): 8.3}
C4 = {  # final and trajectory: count of 96, printed percent and interval
    "jev joint": ((53, 55.2, 44.8, 64.6), (32, 33.3, 24.0, 42.7)),
    "jev independent": ((54, 56.2, 45.8, 65.6), (31, 32.3, 22.9, 41.7)),
    "jev serial": ((50, 52.1, 41.7, 62.5), (26, 27.1, 18.8, 36.5)),
    "qwen joint": ((55, 57.3, 46.9, 66.7), (27, 28.1, 19.8, 37.5)),
    "qwen independent": ((56, 58.3, 47.9, 67.7), (20, 20.8, 12.5, 29.2)),
    "qwen serial": ((57, 59.4, 49.0, 68.8), (23, 24.0, 15.6, 32.3)),
}
C5_VALID = (99.2, 99.4)


def percent(count: float) -> float:
    return 100 * count / N


@pytest.mark.parametrize("row", C1, ids=" ".join)
def test_trajectory_is_what_did_not_fail_and_final_adds_what_came_right_at_the_end(row):
    trajectory, _, final = C1[row]
    failed, recovered, at_end = C3[row]
    assert percent(N - failed) == pytest.approx(trajectory, abs=0.051) and percent(N - failed + at_end) == pytest.approx(final, abs=0.051)
    assert at_end <= recovered <= failed


@pytest.mark.parametrize("model", ["jev", "startlux", "qwen"])
def test_oracle_minus_rollout_is_the_difference_of_the_printed_accuracies(model):
    oracle, rollout = C1[model, "oracle"], C1[model, "rollout"]
    assert oracle[0] == rollout[0]  # trajectories alike, later states not
    assert oracle[1] - rollout[1] == pytest.approx(C2[model, "mean"], abs=0.101)
    gained = C3[model, "oracle"][2] - C3[model, "rollout"][2]  # equal trajectories: the final states differ by the recoveries
    assert percent(gained) == pytest.approx(C2[model, "final"], abs=0.051)


@pytest.mark.parametrize("arm", C4)
def test_an_unstratified_dialogue_bootstrap_gives_the_printed_intervals(arm):
    """Exact to the digit except two lower limits, where the printed 99,999 draws landed one dialogue away."""
    for count, printed, low, high in C4[arm]:
        found = stats.bootstrap_mean(np.arange(N) < count, method="exact")
        assert percent(count) == pytest.approx(printed, abs=0.051)
        off = [abs(100 * found.low - low), abs(100 * found.high - high)]
        allowed = 100 / N + 0.051 if (arm, count) in {("qwen independent", 20), ("qwen serial", 57)} else 0.051
        assert off[0] <= allowed and off[1] <= 0.051


def test_an_unstratified_bootstrap_cannot_give_the_printed_interval_of_a_difference():
    """StartLux's final state, 12 of 96: any discordance gives at least the width of 12 against 0, and the printed [7.3, 17.7] is narrower."""
    widths = []
    for lost in range(20):
        a = np.zeros(N, int)
        a[: 12 + lost], a[12 + lost : 12 + 2 * lost] = 1, -1
        found = stats.bootstrap_mean(a, method="exact")
        widths.append(found.high - found.low)
    assert min(widths) == widths[0] > 0.177 - 0.073


def test_validity_is_counted_by_response():
    """99.2 and 99.4 are shares of 1,716 responses, and of no number of turns among 576."""
    by_response = {round(100 * k / 1716, 1) for k in range(1717)}
    by_turn = {round(100 * k / 576, 1) for k in range(577)}
    assert set(C5_VALID) <= by_response and not set(C5_VALID) & by_turn
