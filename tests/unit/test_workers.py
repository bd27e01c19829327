"""Workers: every result comes with the word that its worker is free, so that nothing waits for a word that came too late."""

from __future__ import annotations

import threading
import time

from c2s.backends.base import Call, Exchange
from c2s.records import Ask, Parent, Request, Slot
from c2s.runner.workers import Inline, Threads, workers


class Backend:
    max_batch = 4

    def __init__(self, number: int, fail_at: int | None = None) -> None:
        self.workers, self.fail_at = number, fail_at

    def call(self, batch):
        for n, call in enumerate(batch):
            if n == self.fail_at:
                raise RuntimeError("broken adapter")
            yield Exchange("ok", raw=call.body)


def call(n: int) -> Call:
    return Call(Slot("p", "q", "a", 0, n), Parent("q", "math", 1, {}), Ask(n, Request("", {})), str(n).encode())


def test_a_worker_is_free_as_soon_as_its_last_result_is_seen():
    """One worker, one request at a time, looked at only while one is under way: a late word would stop everything."""
    pool = Threads(Backend(1))
    for n in range(2000):
        assert pool.idle == 1, n
        pool.submit([(n, call(n))])
        assert pool.idle == 0
        found = []
        while not found:
            found = pool.results(1.0)
        assert found == [(n, Exchange("ok", raw=str(n).encode()))]
    pool.close()


def test_threads_end_when_the_pool_is_closed():
    before = threading.active_count()
    pool = Threads(Backend(8))
    pool.close()
    end = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_a_broken_adapter_is_an_error_for_what_it_left_open():
    for number in (0, 2):
        pool = workers(Backend(number, fail_at=1))
        assert isinstance(pool, Threads if number else Inline)
        pool.submit([(n, call(n)) for n in range(3)])
        found = []
        while len(found) < 3:
            found += pool.results(1.0)
        assert [exchange.verdict for _, exchange in found] == ["ok", "error", "error"] and pool.idle == max(1, number)
        assert "RuntimeError: broken adapter" in found[1][1].message
        pool.close()
