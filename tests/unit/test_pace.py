"""Rates, back-off and pauses, on a clock of the test's own."""

from __future__ import annotations

import pytest

from c2s.runner.pace import Limits, Pace


def starts(pace: Pace, seconds: float, *, step: float = 0.001, tokens: int = 100) -> list[float]:
    """When requests leave if there is always one waiting and each is answered at once."""
    found, now = [], 0.0
    while now < seconds:
        while pace.due() <= now and pace.room(0):
            pace.started(now, tokens)
            found.append(now)
        now += step
    return found


def most_in_a_window(times: list[float], window: float) -> int:
    return max(sum(1 for t in times if start <= t < start + window) for start in times)


@pytest.mark.parametrize("rate", [2.0, 5.0, 20.0, 300.0])
def test_no_second_holds_more_starts_than_the_rate_allows(rate):
    times = starts(Pace(Limits(workers=4, starts_per_second=rate)), 3.0)
    assert most_in_a_window(times, 1.0) <= rate * 1.01 + 1
    assert len(times) >= rate * 3 * 0.95


def test_a_late_start_is_not_made_up_for():
    pace = Pace(Limits(workers=4, starts_per_second=10))
    pace.started(0.0, 1)
    pace.started(5.0, 1)  # five seconds of nothing
    assert pace.due() == pytest.approx(5.09, abs=0.011)


def test_tokens_are_paced_too():
    times = starts(Pace(Limits(workers=4, tokens_per_second=1000)), 2.0, tokens=250)
    assert 7 <= len(times) <= 9


def test_busy_halves_at_most_once_a_second_and_grows_back():
    pace = Pace(Limits(workers=16))
    for _ in range(10):
        pace.busy(10.0, 0.0)
    assert pace.room(0) == 8
    pace.busy(11.5, 0.0)
    assert pace.room(0) == 4 and pace.room(3) == 1 and pace.room(9) == 0
    for _ in range(200):
        pace.answered()
    assert pace.room(0) == 16


def test_never_sooner_than_asked_and_the_longest_wait_holds():
    pace = Pace(Limits(workers=4))
    pace.busy(100.0, 90.0)
    pace.busy(100.5, 3.0)
    assert pace.due() == 190.0
    pace.busy(101.0, 0.0)
    assert pace.due() == 190.0


def test_without_a_word_from_the_server_waits_grow_and_are_bounded():
    pace, now, waits = Pace(Limits(workers=4), seed=1), 0.0, []
    for _ in range(12):
        waits.append(pace.busy(now, None))
        now += 100
    assert 0.25 <= waits[0] <= 0.5 and 15 <= waits[-1] <= 30 and waits[5] > waits[1]


def test_an_absent_server_is_tried_by_one_request_at_growing_intervals_and_given_up():
    pace, now = Pace(Limits(workers=8, unreachable=600), seed=1), 0.0
    pace.answered()
    for _ in range(8):
        pace.unreachable(now)  # all that were under way fail together: one miss
    assert pace.room(0) == 1 and 0 < pace.due() <= 0.25
    tries = 0
    while pace.given_up(now) is None:
        now = pace.due()
        assert pace.unreachable(now) > 0
        tries += 1
        assert tries < 100
    assert 600 <= now < 700 and tries < 30
    pace.answered()
    assert pace.room(0) == 8 and pace.given_up(now) is None


def test_a_server_that_never_answered_is_given_up_soon():
    pace = Pace(Limits(workers=8, first_contact=15))
    pace.unreachable(0.0)
    assert pace.given_up(14.0) is None and pace.given_up(16.0) == 16.0
