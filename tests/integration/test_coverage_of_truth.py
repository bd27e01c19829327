"""Does the reported SCR interval cover the truth as often as it says?"""

from __future__ import annotations

import numpy as np

from c2s import stats

TABLES = 1000


def test_scr_interval_covers_the_truth_of_simulated_tables():
    """1,000 outcome tables as `sim:positions?p=0.9&native=0.9` makes them: 64 items per length 3..8, Native independent of Serial.

    SCR's truth is then the mean of p^L over the balanced lengths. 93-97 % is asked for; a correct 95 % interval falls
    outside that range in 0.3 % of the seeds.
    """
    rng = np.random.default_rng(20261005)
    lengths = np.repeat(np.arange(3, 9), 64)
    truth = np.mean(0.9 ** np.arange(3, 9))
    covered = 0
    for _ in range(TABLES):
        native = rng.random(lengths.size) < 0.9
        serial = rng.random(lengths.size) < 0.9**lengths
        interval = stats.bootstrap_scr(native, serial, lengths, method="exact")
        covered += interval.low <= truth <= interval.high
    assert 930 <= covered <= 970
