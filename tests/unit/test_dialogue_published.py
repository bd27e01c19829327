"""What Choice2Seq's Tables C2 and C5 print that follows from no counts; what does follow is in `c2s reproduce published`."""

from __future__ import annotations

import numpy as np

from c2s import stats

N = 96


def test_an_unstratified_bootstrap_cannot_give_the_printed_interval_of_a_difference():
    """StartLux's final state, 12 of 96: any discordance gives at least the width of 12 against 0; the printed [7.3, 17.7] is narrower."""
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
    assert {99.2, 99.4} <= by_response and not {99.2, 99.4} & by_turn
